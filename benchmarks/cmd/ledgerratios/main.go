// Command ledgerratios measures what the durable ledgers cost beside their bare statements, prints a line a figure and
// exits with status 1 when one falls short:
//
//	GOTOOLCHAIN=auto go run ./cmd/ledgerratios
//
// It needs PostgreSQL on 127.0.0.1:5432 with a database test (or TOOLCONTRACT_POSTGRES), pgbench, and about ten minutes:
// five of them a snapshot is held. Everything is done in a schema and a directory of its own, which are removed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"
)

type settings struct {
	round    time.Duration // one side of a pair
	pairs    int
	clients  int
	finished int           // rows in the large ledger
	snapshot time.Duration // how long one is held
	plans    bool
}

func main() {
	var s settings
	flag.DurationVar(&s.round, "round", 5*time.Second, "one side of a pair")
	flag.IntVar(&s.pairs, "pairs", 5, "interleaved pairs a figure; the median counts")
	flag.IntVar(&s.clients, "clients", 16, "connections at once")
	flag.IntVar(&s.finished, "finished", 1_000_000, "finished operations in the large ledger")
	flag.DurationVar(&s.snapshot, "snapshot", 5*time.Minute, "how long a snapshot is held under load")
	flag.BoolVar(&s.plans, "plans", false, "print the plan of each statement in the large ledger, instead of figures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	short, err := measure(ctx, s)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "ledgerratios:", err)
		os.Exit(2)
	case short:
		os.Exit(1)
	}
}

// figure is a ratio with its goal; a goal of zero is none.
type figure struct {
	name  string
	ratio float64
	goal  float64
	most  bool   // the ratio is at most the goal; otherwise at least
	note  string // the two sides, for those who wonder
}

func (f figure) short() bool {
	return f.goal > 0 && (f.most && f.ratio > f.goal || !f.most && f.ratio < f.goal)
}

func (f figure) String() string {
	verdict, sign := "ok", ">="
	if f.most {
		sign = "<="
	}
	goal := fmt.Sprintf("%s %.2f", sign, f.goal)
	switch {
	case f.goal == 0:
		verdict, goal = "-", "no goal"
	case f.short():
		verdict = "short"
	}
	return fmt.Sprintf("%-74s %6.2f   %-8s %-6s %s", f.name, f.ratio, goal, verdict, f.note)
}

func measure(ctx context.Context, s settings) (short bool, err error) {
	report := func(f figure) {
		fmt.Println(f)
		short = short || f.short()
	}
	if s.plans {
		return false, plans(ctx, s)
	}
	err = errors.Join(sqliteFigures(ctx, s, report), postgresFigures(ctx, s, report))
	return short, err
}

// side does one side of a pair for about the given time and returns how many a second were done.
type side func(ctx context.Context, d time.Duration) (float64, error)

// ratio measures two sides in turns, each first as often as the other, and takes the median of the pairs.
func (s settings) ratio(ctx context.Context, a, b side) (median, perA, perB float64, err error) {
	for _, warm := range []side{a, b} {
		if _, err := warm(ctx, time.Second); err != nil {
			return 0, 0, 0, err
		}
	}
	var ratios, as, bs []float64
	for i := range s.pairs {
		order := []side{a, b}
		if i%2 == 1 {
			order = []side{b, a}
		}
		var got [2]float64
		for j, do := range order {
			if got[j], err = do(ctx, s.round); err != nil {
				return 0, 0, 0, err
			}
		}
		if i%2 == 1 {
			got[0], got[1] = got[1], got[0]
		}
		ratios, as, bs = append(ratios, got[0]/got[1]), append(as, got[0]), append(bs, got[1])
	}
	return middle(ratios), middle(as), middle(bs), nil
}

func middle(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// pair reports the ratio of two rates.
func (s settings) pair(ctx context.Context, report func(figure), name string, goal float64, a, b side) error {
	r, perA, perB, err := s.ratio(ctx, a, b)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	report(figure{name: name, ratio: r, goal: goal, note: fmt.Sprintf("%.0f/s beside %.0f/s", perA, perB)})
	return nil
}
