package benchmarks

import (
	"slices"
	"time"
)

// Ratio is how much more one subject costs than another, on the same document, measured side by side.
type Ratio struct {
	Value float64       // of A and B
	A, B  time.Duration // of processor time for one run of each, in the quiet rounds
}

// Measure runs a and b in turns, in rounds of a few milliseconds, for about the given time, and compares the first
// quintile of each side's rounds in processor time, the garbage collector's share included: whatever else the machine
// does falls on some rounds of both, and those are left out.
func Measure(a, b func() error, budget time.Duration) (Ratio, error) {
	na, err := repeats(a)
	if err != nil {
		return Ratio{}, err
	}
	nb, err := repeats(b)
	if err != nil {
		return Ratio{}, err
	}
	var as, bs []time.Duration
	for start := time.Now(); time.Since(start) < budget || len(as) < 5; {
		ta, err := batch(a, na)
		if err != nil {
			return Ratio{}, err
		}
		tb, err := batch(b, nb)
		if err != nil {
			return Ratio{}, err
		}
		as, bs = append(as, ta), append(bs, tb)
	}
	r := Ratio{A: quiet(as), B: quiet(bs)}
	r.Value = float64(r.A) / float64(r.B)
	return r, nil
}

func quiet(rounds []time.Duration) time.Duration {
	slices.Sort(rounds)
	return rounds[len(rounds)/5]
}

// round is how long one side of a round takes, unless one run takes longer.
const round = 2 * time.Millisecond

func repeats(f func() error) (int, error) {
	if _, err := batch(f, 3); err != nil { // warm up
		return 0, err
	}
	for n := 1; ; n *= 2 {
		t, err := batch(f, n)
		if err != nil || t*time.Duration(n) > round/2 {
			return n, err
		}
	}
}

// batch returns the processor time of one run out of n.
func batch(f func() error, n int) (time.Duration, error) {
	start := processorTime()
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return (processorTime() - start) / time.Duration(n), nil
}
