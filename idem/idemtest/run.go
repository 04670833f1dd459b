package idemtest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/idem"
)

// Subject is one fresh, empty ledger and what can be done with it. Fields other than Ledger may be nil: an ability that
// the subject does not have.
type Subject struct {
	Ledger idem.Ledger
	// Advance moves the ledger's clock forward, for all handles. The clock may also run by itself: cases use hours.
	Advance func(d time.Duration)
	// Peer opens another handle on the same data, as another process would.
	Peer func() (idem.Ledger, error)
	// Spoil alters what is sealed of an operation, where it is stored, so that nothing of it opens any more.
	Spoil func(k idem.Key) error
	// Reopen closes all handles as a stopped process would, and opens the data again.
	Reopen func() (idem.Ledger, error)
}

// Broken says that a subject broke a rule.
//
//nolint:errname // it reads as what it is: errors.As(err, &broken)
type Broken struct {
	Rule, Explanation string
	Detail            error
}

func (b *Broken) Error() string { return fmt.Sprintf("%s: %s: %v", b.Rule, b.Explanation, b.Detail) }

// Unwrap returns the detail.
func (b *Broken) Unwrap() error { return b.Detail }

// Run checks every rule in a subtest of its name, each with a subject of its own, in parallel.
func Run(t *testing.T, fresh func(t *testing.T) Subject) {
	t.Helper()
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s := fresh(t)
			if lacks := r.lacks(s); lacks != "" {
				t.Skipf("the subject declares no %s; not judged: %s", lacks, r.explanation)
			}
			if b := r.judge(t.Context(), s); b != nil {
				t.Errorf("%s\n%v", r.explanation, b.Detail)
			}
		})
	}
}

// Check is Run without a test: it returns what broke, one [Broken] a rule, joined; nil when nothing did. Rules that the
// subject lacks an ability for are passed over.
func Check(ctx context.Context, fresh func() (Subject, error)) error {
	var errs []error
	for _, r := range rules() {
		s, err := fresh()
		if err != nil {
			return fmt.Errorf("idemtest: fresh subject: %w", err)
		}
		if r.lacks(s) != "" {
			continue
		}
		if b := r.judge(ctx, s); b != nil {
			errs = append(errs, b)
		}
	}
	return errors.Join(errs...)
}

type need int

const (
	nothing need = 0
	clock   need = 1 << iota
	peer
	reopen
	spoil
)

type rule struct {
	name, explanation string
	needs             need
	play              func(p *play)
}

func (r rule) lacks(s Subject) string {
	switch {
	case r.needs&clock != 0 && s.Advance == nil:
		return "clock that can be moved (Advance)"
	case r.needs&peer != 0 && s.Peer == nil:
		return "second handle (Peer)"
	case r.needs&spoil != 0 && s.Spoil == nil:
		return "way to alter what is sealed (Spoil)"
	case r.needs&reopen != 0 && s.Reopen == nil:
		return "way to be opened again (Reopen)"
	}
	return ""
}

func (r rule) judge(ctx context.Context, s Subject) *Broken {
	p := &play{ctx: ctx, s: s, l: s.Ledger}
	r.play(p)
	if p.err == nil {
		return nil
	}
	return &Broken{r.name, r.explanation, p.err}
}

func rules() []rule {
	var all []rule
	for _, group := range [][]rule{
		admission(), forgotten(), claims(), leases(), finishes(), proofs(), resources(), runnings(), openClaims(), resends(),
		closings(), outbox(), fairness(), lists(), operators(), retention(), restores(), sealings(), borders(), handles(),
	} {
		all = append(all, group...)
	}
	return all
}

// Rules returns the names of all rules, in the order of the contract.
func Rules() []string {
	all := rules()
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = r.name
	}
	return names
}
