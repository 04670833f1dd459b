package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/contracttest"
)

// k1 counts the broken adapters that are killed, each by a case that names its fault.
func k1(verbose bool) (line string, details []string, met bool) {
	ref, err := broken{}.make()
	if err != nil {
		return "K1 void: " + err.Error(), nil, false
	}
	if err := contracttest.Check(ref).Err(); err != nil {
		return "K1 void: the reference fails", firstLines(err.Error()), false
	}
	list := slices.Concat(brokenInput(), brokenHandlers(), brokenRefusals(), brokenFrames(), brokenEvidence(), brokenOutput(), brokenDispatch(), brokenApprovals(), brokenExecutor())
	killed := 0
	for _, b := range list {
		by, why := b.killer()
		switch {
		case why != "":
			details = append(details, b.name+": "+why)
		default:
			killed++
			if verbose {
				details = append(details, b.name+": killed by "+by)
			}
		}
	}
	pins, n, pinDetails := brokenPins()
	replays, r, replayDetails := brokenReplays()
	details = append(details, append(pinDetails, replayDetails...)...)
	killed, total := killed+pins+replays, len(list)+n+r
	return fmt.Sprintf("K1 broken adapters killed by a case that names the fault: %d of %d (goal: all)", killed, total), details, killed == total
}

// killer returns the first case that fails and names the fault, or why there is none.
func (b broken) killer() (by, why string) {
	fresh, err := b.make()
	if err != nil {
		return "", err.Error()
	}
	report := contracttest.Check(fresh, contracttest.Only(b.suite))
	for _, f := range report.Failures {
		if named(b.by, f.Case) {
			return f.Case, ""
		}
	}
	if len(report.Failures) > 0 {
		return "", "killed, but by " + report.Failures[0].Case + ", which does not name it"
	}
	return "", fmt.Sprintf("survives %d cases", report.Executed)
}

// named matches a case against a pattern, as contracttest's options do.
func named(pattern, name string) bool {
	p, n := strings.Split(pattern, "/"), strings.Split(name, "/")
	return elems(p, n)
}

func elems(p, n []string) bool {
	if len(p) == 0 {
		return len(n) == 0
	}
	if p[0] == "**" {
		for i := range len(n) + 1 {
			if elems(p[1:], n[i:]) {
				return true
			}
		}
		return false
	}
	if len(n) == 0 {
		return false
	}
	ok, err := path.Match(p[0], n[0])
	return err == nil && ok && elems(p[1:], n[1:])
}

func firstLines(text string) []string {
	lines := strings.Split(text, "\n")
	return lines[:min(len(lines), 24)]
}
