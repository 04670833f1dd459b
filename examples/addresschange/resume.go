package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
)

// goOn plays one change in a directory that outlives the program, from wherever an earlier start of it was killed. It
// reports whether ledger and service agree on what became of it.
func goOn(ctx context.Context, dir string, w io.Writer) (_ bool, err error) {
	h, err := keptHost(ctx, dir, 10_000)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	t := &teller{ctx: ctx, w: w, h: h}
	id, err := t.remembered(dir)
	if err != nil {
		return false, err
	}
	p := proposal{ProposalID: id}
	if t.stored(p).State == approval.Pending {
		t.decide(p, true, "")
	}
	t.settle(p)
	return t.wrong == 0, nil
}

// remembered returns the proposal that an earlier start made, or makes one. The agent remembers it in a file.
func (t *teller) remembered(dir string) (string, error) {
	file := filepath.Join(dir, "proposal")
	id, err := os.ReadFile(file) //nolint:gosec // in the directory that the user named
	if err == nil {
		t.say("An earlier start made the proposal %s.", id)
		return string(id), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	p := t.propose("cus_9Qm4", "addr_2")
	if err := os.WriteFile(file+".new", []byte(p.ProposalID), 0o600); err != nil {
		return "", err
	}
	return p.ProposalID, os.Rename(file+".new", file)
}

// settleTime is how long a change may take to settle: an earlier start's claim has to end first.
const settleTime = 5 * time.Second

// settle commits until the ledger knows what became of the change. An operation that a killed process left open is asked
// for at the service, by its key. The service promises nothing about a key that it does not know: such an operation stays
// unknown, and waits for a person.
func (t *teller) settle(p proposal) {
	over := time.NewTimer(settleTime)
	defer over.Stop()
	for {
		r := t.commit(p)
		switch {
		case r.OK:
			t.expect(t.changes() == 1, "the service made the change once, however often this program was killed")
			return
		case r.Error.Code == envelope.OutcomeUnknown, r.Error.Code == envelope.InProgress:
		default:
			t.expect(false, "%s", r.Error.Code)
			return
		}
		wait := time.NewTimer(max(r.Error.RetryAfter, 200*time.Millisecond))
		select {
		case <-t.ctx.Done():
			t.expect(false, "stopped: %v", context.Cause(t.ctx))
			return
		case <-over.C:
			wait.Stop()
			unknown := r.Error.Code == envelope.OutcomeUnknown && t.changes() == 0
			t.expect(unknown, "the outcome is unknown, in the operator's queue: it was claimed, and the service does not know it")
			return
		case <-wait.C:
		}
	}
}
