// Command ratios measures what the library promises about its speed, as ratios of things measured side by side in this
// process, and says for each whether the goal is met. It exits with status 1 when one falls short.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/toolcontract/toolcontract/benchmarks"
)

func main() {
	long := flag.Bool("long", false, "measure each figure for longer, and print the table that compares with other libraries")
	flag.Parse()
	each := 2 * time.Second
	if *long {
		each = 10 * time.Second
	}
	short, err := figures(each)
	if err == nil && *long {
		err = table(each / 4)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if short {
		os.Exit(1)
	}
}

type figure struct {
	name string
	a, b func() error
	goal float64
	most bool // the ratio is at most the goal; otherwise at least
}

func figures(each time.Duration) (short bool, err error) {
	list, stop, err := collect()
	if err != nil {
		return false, err
	}
	defer stop()
	for _, f := range list {
		r, err := benchmarks.Measure(f.a, f.b, each)
		if err != nil {
			return short, fmt.Errorf("%s: %w", f.name, err)
		}
		verdict, sign := "ok", "at most"
		if !f.most {
			sign = "at least"
		}
		if f.most && r.Value > f.goal || !f.most && r.Value < f.goal {
			verdict, short = "short", true
		}
		fmt.Printf("%-62s %7.3f   %s %5.2f   %s\n", f.name, r.Value, sign, f.goal, verdict)
	}
	return short, nil
}

func collect() (list []figure, stop func(), err error) {
	call, stopFew, err := benchmarks.Call(10)
	if err != nil {
		return nil, nil, err
	}
	many, stopMany, err := benchmarks.Call(10_000)
	if err != nil {
		return nil, nil, err
	}
	check, errCheck := benchmarks.Check()
	sdk, errSDK := benchmarks.SDK()
	if err := errors.Join(errCheck, errSDK); err != nil {
		return nil, nil, err
	}
	of := func(s benchmarks.Subject, doc []byte) func() error { return func() error { return s.Run(doc) } }
	sizes := benchmarks.Sizes()
	for i, goal := range []float64{1.4, 1.15, 1.1} {
		doc := sizes[i].Document()
		list = append(list, figure{"guarded read ÷ encoding/json, " + sizes[i].Name, of(call, doc), of(benchmarks.Floor(), doc), goal, true})
	}
	for i, goal := range []float64{11, 13, 16} {
		doc := sizes[i].Document()
		list = append(list, figure{"MCP go-sdk, typed tool ÷ guarded read, " + sizes[i].Name, of(sdk, doc), of(call, doc), goal, false})
	}
	for _, size := range sizes {
		doc := size.Document()
		list = append(list, figure{"check ÷ decoding, members in order, " + size.Name, of(check, doc), of(benchmarks.Decode(), doc), 0.15, true})
	}
	for _, size := range sizes {
		doc := size.Shuffled()
		list = append(list, figure{"check ÷ decoding, any order and script, " + size.Name, of(check, doc), of(benchmarks.Decode(), doc), 0.25, true})
	}
	doc := sizes[0].Document()
	list = append(list, figure{"dispatch among 10 000 tools ÷ among 10", of(many, doc), of(call, doc), 1.05, true})
	return list, func() { stopFew(); stopMany() }, nil
}

// table prints every subject against the floor, for README.md.
func table(each time.Duration) error {
	call, stop, err := benchmarks.Call(10)
	if err != nil {
		return err
	}
	defer stop()
	subjects := []benchmarks.Subject{call}
	for _, make := range []func() (benchmarks.Subject, error){
		benchmarks.Codec, benchmarks.Kaptinlin, benchmarks.Santhosh, benchmarks.Google, benchmarks.SDK, benchmarks.MCPGo,
	} {
		s, err := make()
		if err != nil {
			return err
		}
		subjects = append(subjects, s)
	}
	fmt.Printf("\n| ÷ encoding/json, decode + encode |")
	for _, size := range benchmarks.Sizes() {
		fmt.Printf(" %s |", size.Name)
	}
	fmt.Printf("\n|---|---|---|---|\n")
	for _, s := range subjects {
		fmt.Printf("| %s |", s.Name)
		for _, size := range benchmarks.Sizes() {
			doc := size.Document()
			floor := benchmarks.Floor()
			r, err := benchmarks.Measure(func() error { return s.Run(doc) }, func() error { return floor.Run(doc) }, each)
			if err != nil {
				return err
			}
			fmt.Printf(" %.2f |", r.Value)
		}
		fmt.Println()
	}
	return nil
}
