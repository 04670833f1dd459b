package stored

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strconv"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// Vault seals the parts of rows and opens them. Each is bound to its tenant, operation and column.
type Vault struct{ Sealer redact.Sealer }

// sealVersion is part of what a sealed part is bound to: a form that changes gets another.
const sealVersion = "1"

func aad(k idem.Key, column string) []byte {
	return redact.AAD("toolcontract/idem", k.Tenant, k.Operation, column, sealVersion)
}

func (v Vault) seal(ctx context.Context, k idem.Key, column string, plain []byte) ([]byte, error) {
	if plain == nil {
		return nil, nil
	}
	b, err := v.Sealer.Seal(ctx, aad(k, column), plain)
	if err != nil {
		return nil, fmt.Errorf("seal %s: %w", column, err)
	}
	return b, nil
}

func (v Vault) open(ctx context.Context, k idem.Key, column string, sealed []byte) ([]byte, error) {
	if sealed == nil {
		return nil, nil
	}
	b, err := v.Sealer.Open(ctx, aad(k, column), sealed)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", column, err)
	}
	return b, nil
}

// SealBody seals a command's body.
func (v Vault) SealBody(ctx context.Context, k idem.Key, body []byte) ([]byte, error) {
	return v.seal(ctx, k, "body", body)
}

// OpenBody opens a command's body; where it does not open it is idem.ErrSealed.
func (v Vault) OpenBody(ctx context.Context, k idem.Key, sealed []byte) ([]byte, error) {
	b, err := v.open(ctx, k, "body", sealed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", idem.ErrSealed, err)
	}
	return b, nil
}

// SealOutcome seals what an operation ends with.
func (v Vault) SealOutcome(ctx context.Context, k idem.Key, o idem.Outcome) (Sealed, error) {
	return v.sealOutcome(ctx, k, "", o)
}

// SealLate seals what an evidence holds.
func (v Vault) SealLate(ctx context.Context, k idem.Key, e idem.Evidence) (Sealed, error) {
	return v.sealOutcome(ctx, k, place(e), e.Outcome)
}

// place is the column that an evidence's parts are bound to.
func place(e idem.Evidence) string {
	return "evidence/" + strconv.FormatInt(e.Generation, 10) + "/" + string(e.Outcome.State) + "/"
}

func (v Vault) sealOutcome(ctx context.Context, k idem.Key, prefix string, o idem.Outcome) (s Sealed, err error) {
	if s.Result, err = v.seal(ctx, k, prefix+"result", o.Result); err != nil || o.Failure == nil {
		return s, err
	}
	b, err := json.Marshal(o.Failure)
	if err != nil {
		return s, fmt.Errorf("seal %sfailure: %w", prefix, err)
	}
	s.Failure, err = v.seal(ctx, k, prefix+"failure", b)
	return s, err
}

// word is an operator's resolution but for result and failure, which are the row's.
type word struct {
	State    idem.State `json:"state"`
	By       string     `json:"by"`
	Reason   string     `json:"reason"`
	Evidence string     `json:"evidence"`
}

// SealResolution seals an operator's word and what the operation ends with.
func (v Vault) SealResolution(ctx context.Context, k idem.Key, r idem.Resolution) (Sealed, error) {
	s, err := v.SealOutcome(ctx, k, idem.Outcome{State: r.State, Result: r.Result, Failure: r.Failure})
	if err != nil {
		return s, err
	}
	b, err := json.Marshal(word{r.State, r.By, r.Reason, r.Evidence})
	if err != nil {
		return s, fmt.Errorf("seal word: %w", err)
	}
	s.Word, err = v.seal(ctx, k, "word", b)
	return s, err
}

// Record opens all of a view, outside of any transaction. Beside an idem.ErrSealed it is there without what did not open.
func (v Vault) Record(ctx context.Context, w View) (idem.Record, error) {
	rec := v.Show(ctx, w)
	return rec, rec.Sealed
}

// Show is Record for those who look: what did not open is named in the record.
func (v Vault) Show(ctx context.Context, w View) idem.Record {
	o := opening{v: v, ctx: ctx, k: w.Command.Key}
	o.row(w.Row)
	evidence := make([]idem.Evidence, len(w.Kept))
	for i, e := range w.Kept {
		e.Outcome.Result = o.bytes(place(e.Evidence)+"result", e.Sealed.Result)
		e.Outcome.Failure = o.failure(place(e.Evidence)+"failure", e.Sealed.Failure)
		evidence[i] = e.Evidence
	}
	rec := w.Record(w.Now, w.Attempts, evidence)
	if err := errors.Join(o.errs...); err != nil {
		rec.Sealed = fmt.Errorf("%w: %w", idem.ErrSealed, err)
	}
	return rec
}

// opening opens one row's parts and remembers which did not.
type opening struct {
	v    Vault
	ctx  context.Context //nolint:containedctx // lives as long as one call
	k    idem.Key
	errs []error
}

func (o *opening) bytes(column string, sealed []byte) []byte {
	b, err := o.v.open(o.ctx, o.k, column, sealed)
	if err != nil {
		o.errs = append(o.errs, err)
		return nil
	}
	return b
}

func (o *opening) failure(column string, sealed []byte) *envelope.Error {
	b := o.bytes(column, sealed)
	if b == nil {
		return nil
	}
	f := new(envelope.Error)
	if json.Unmarshal(b, f) == nil {
		return f
	}
	o.errs = append(o.errs, errors.New("open "+column+": not a failure"))
	return nil
}

func (o *opening) row(r *Row) {
	r.Command.Body = o.bytes("body", r.Sealed.Body)
	r.Result = o.bytes("result", r.Sealed.Result)
	if r.Sealed.Failure != nil {
		r.Failure = o.failure("failure", r.Sealed.Failure)
	}
	b := o.bytes("word", r.Sealed.Word)
	if b == nil {
		return
	}
	var w word
	if json.Unmarshal(b, &w) != nil {
		o.errs = append(o.errs, errors.New("open word: not a resolution"))
		return
	}
	r.Resolution = &idem.Resolution{State: w.State, Result: r.Result, Failure: r.Failure, By: w.By, Reason: w.Reason, Evidence: w.Evidence}
}
