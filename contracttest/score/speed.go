package main

import (
	"bytes"
	"fmt"
	"runtime"
	"time"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/tool"
)

// The goals of speed.
const (
	perSecond = 5000
	wholeRun  = 20 * time.Second
	rounds    = 12 // the best counts: others work on the same machine
)

func since(begin time.Time) time.Duration {
	return time.Since(begin)
}

// speed makes and judges the cases of a nested union, runs the whole of a typical catalogue, and compares bytes.
func speed(bool) (line string, details []string, met bool) {
	shop := samples.NewShop()
	union, err := tool.NewCatalog(shop.Refund())
	if err != nil {
		return err.Error(), nil, false
	}
	typical, err := shop.Typical()
	if err != nil {
		return err.Error(), nil, false
	}
	rate := 0.0
	for range rounds {
		begin := time.Now()
		cases, err := contracttest.Cases(union, "preview_refund_v1")
		if err != nil {
			return err.Error(), nil, false
		}
		rate = max(rate, float64(len(cases))/since(begin).Seconds())
	}
	begin := time.Now()
	report := contracttest.Check(contracttest.Make(func() (*contracttest.Fixture, error) { return shop.Fixture(typical) }))
	took := since(begin)
	stable := sameBytes(union)
	line = fmt.Sprintf("speed: %.0f cases a second made and judged for a nested union (goal: %d); a whole run for ten tools, %d cases, in %.1f s (goal: 20 s); the same bytes each time: %t",
		rate, perSecond, report.Executed, took.Seconds(), stable)
	if err := report.Err(); err != nil {
		details = firstLines(err.Error())
	}
	return line, details, rate >= perSecond && took < wholeRun && stable && len(details) == 0
}

// sameBytes makes the cases twice, on one processor and on all.
func sameBytes(c *tool.Catalog) bool {
	all, err := contracttest.Cases(c, "preview_refund_v1")
	if err != nil {
		return false
	}
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	one, err := contracttest.Cases(c, "preview_refund_v1")
	if err != nil || len(all) != len(one) {
		return false
	}
	for i := range all {
		if all[i].Name != one[i].Name || !bytes.Equal(all[i].Raw, one[i].Raw) {
			return false
		}
	}
	return true
}
