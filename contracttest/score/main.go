// Command score scores the suites of contracttest themselves: a suite that passes on a broken adapter is worse than none.
//
//	go run ./contracttest/score
//
// K1: broken adapters, each killed by a case that names its fault; void unless the reference passes everything.
// K2: realistic schemas with one keyword dropped, shifted or widened; K3: good adapters without a false alarm, and three
// hopeless ones that fail. Then the speed. It exits with 1 where one falls short.
package main

import (
	"fmt"
	"os"
	"slices"
)

func main() {
	if !score(os.Args[1:]) {
		os.Exit(1)
	}
}

// part is one figure.
type part struct {
	name string
	run  func(verbose bool) (line string, details []string, met bool)
}

// score prints a line for each figure with its goal, and reports whether all are met. Arguments name figures (k1, k2, k3,
// speed), all of them without; -v says more.
func score(args []string) bool {
	good, verbose := true, slices.Contains(args, "-v")
	names := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-v" })
	for _, p := range []part{{"k1", k1}, {"k2", k2}, {"k3", k3}, {"speed", speed}} {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		line, details, met := p.run(verbose)
		mark := "met  "
		if !met {
			mark, good = "SHORT", false
		}
		_, _ = fmt.Fprintln(os.Stdout, mark, line)
		for _, d := range details {
			_, _ = fmt.Fprintln(os.Stdout, "      ", d)
		}
	}
	return good
}
