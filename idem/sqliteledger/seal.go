package sqliteledger

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// sealVersion is part of what a sealed column is bound to: a form that changes gets another.
const sealVersion = "1"

func aad(k idem.Key, column string) []byte {
	return redact.AAD("toolcontract/idem", k.Tenant, k.Operation, column, sealVersion)
}

// seal seals what is not nil.
func (l *Ledger) seal(ctx context.Context, k idem.Key, column string, plain []byte) ([]byte, error) {
	if plain == nil {
		return nil, nil
	}
	b, err := l.sealer.Seal(ctx, aad(k, column), plain)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", column, err)
	}
	return b, nil
}

func (l *Ledger) open(ctx context.Context, k idem.Key, column string, sealed []byte) ([]byte, error) {
	if sealed == nil {
		return nil, nil
	}
	b, err := l.sealer.Open(ctx, aad(k, column), sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", column, err)
	}
	return b, nil
}

// sealFailure seals a failure's wire form.
func (l *Ledger) sealFailure(ctx context.Context, k idem.Key, column string, f *envelope.Error) ([]byte, error) {
	if f == nil {
		return nil, nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", column, err)
	}
	return l.seal(ctx, k, column, b)
}

func (l *Ledger) openFailure(ctx context.Context, k idem.Key, column string, sealed []byte) (*envelope.Error, error) {
	b, err := l.open(ctx, k, column, sealed)
	if b == nil || err != nil {
		return nil, err
	}
	f := new(envelope.Error)
	if err := json.Unmarshal(b, f); err != nil {
		return nil, errors.New("open " + column + ": not a failure")
	}
	return f, nil
}

// word is an operator's resolution but for result and failure, which stand in columns of their own.
type word struct {
	State    idem.State `json:"state"`
	By       string     `json:"by"`
	Reason   string     `json:"reason"`
	Evidence string     `json:"evidence"`
}

func (l *Ledger) sealWord(ctx context.Context, k idem.Key, r idem.Resolution) ([]byte, error) {
	b, err := json.Marshal(word{r.State, r.By, r.Reason, r.Evidence})
	if err != nil {
		return nil, fmt.Errorf("seal word: %w", err)
	}
	return l.seal(ctx, k, "word", b)
}

// sealOutcome seals the two columns of an outcome; prefix says of which row.
func (l *Ledger) sealOutcome(ctx context.Context, k idem.Key, prefix string, o idem.Outcome) (s sealed, err error) {
	if s.result, err = l.seal(ctx, k, prefix+"result", o.Result); err != nil {
		return s, err
	}
	s.failure, err = l.sealFailure(ctx, k, prefix+"failure", o.Failure)
	return s, err
}

// unseal opens all that the row holds.
func (l *Ledger) unseal(ctx context.Context, r *row) (err error) {
	k := r.Command.Key
	if r.Command.Body, err = l.open(ctx, k, "body", r.sealed.body); err != nil {
		return err
	}
	if r.Result, err = l.open(ctx, k, "result", r.sealed.result); err != nil {
		return err
	}
	if r.sealed.failure != nil {
		if r.Failure, err = l.openFailure(ctx, k, "failure", r.sealed.failure); err != nil {
			return err
		}
	}
	b, err := l.open(ctx, k, "word", r.sealed.word)
	if b == nil || err != nil {
		return err
	}
	var w word
	if err := json.Unmarshal(b, &w); err != nil {
		return errors.New("open word: not a resolution")
	}
	r.Resolution = &idem.Resolution{State: w.State, Result: r.Result, Failure: r.Failure, By: w.By, Reason: w.Reason, Evidence: w.Evidence}
	return nil
}
