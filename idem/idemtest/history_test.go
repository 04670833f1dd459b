package idemtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/idemtest"
)

func TestMemoryHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		idemtest.Histories(t, memory(), idemtest.Load{Seed: seed})
	}
}

// The same workload catches ledgers with the faults that such ledgers have in practice.
func TestHistoriesCatch(t *testing.T) {
	t.Parallel()
	all := flaws()
	for name, f := range map[string]flaw{
		"no hash check": all["admit/conflict"],
		"no fence":      all["lease/fenced"],
		"reset of an expired lease": post("reap", func(st *step) { // a queue's habit: what was not finished is given out again
			st.e.State, st.e.Doubtful, st.slot.Open, st.e.Command.Seq = idem.Pending, false, "", st.slot.Seq
		}),
		"consume without guard": all["claim/barrier"],
		"acknowledging by name": post("Finish", func(st *step) { // the outbox row goes, whoever finished
			st.e.DueAt = st.now.Add(far)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				err := idemtest.CheckHistory(t.Context(), newSketch(f), idemtest.Load{Seed: seed})
				var b *idemtest.Broken
				if err != nil {
					require.ErrorAs(t, err, &b)
					return
				}
			}
			t.Fatal("20 histories did not show it")
		})
	}
}
