package approvaltest

import (
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// Rules returns the names of all rules.
func Rules() []string {
	all := rules()
	out := make([]string, len(all))
	for i, r := range all {
		out[i] = r.name
	}
	return out
}

// Broken runs every rule on a store of its own, all with a clock and reopened, and returns what each found wrong.
func Broken(t *testing.T, newStore func(now func() time.Time) (open func() approval.Store)) map[string][]string {
	t.Helper()
	a := abilities{
		clock:   func(_ *testing.T, now func() time.Time) approval.Store { return newStore(now)() },
		lasting: func(*testing.T) func() approval.Store { return newStore(time.Now) },
	}
	out := map[string][]string{}
	for _, r := range rules() {
		p, missing := a.probe(t, r.needs, func(*testing.T) approval.Store { return newStore(time.Now)() })
		if missing != "" {
			t.Fatal(missing)
		}
		if r.check(p); len(p.faults) > 0 {
			out[r.name] = p.faults
		}
	}
	return out
}
