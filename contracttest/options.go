package contracttest

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// Option changes what a suite runs, or how it judges. An Option that touches nothing is an error of the run.
type Option interface{ apply(*options) }

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

type options struct {
	skips     []*skip
	expects   []*expectation
	witnesses map[string]witness
	examples  map[string][]jsontext.Value
	upstreams []upstreamFiles
	maxCases  int
	perCase   time.Duration
	only      []string
	errs      []error
}

type skip struct {
	pattern, reason string
	matched         int
}

type expectation struct {
	pattern string
	want    Refusal
	matched int
	met     int // cases that were answered so
}

type upstreamFiles struct {
	wire, glob string
	fsys       fs.FS
}

// The budget where none is given.
const (
	defaultCases   = 20_000
	defaultPerCase = 30 * time.Second
)

func collect(opts []Option) *options {
	o := &options{witnesses: map[string]witness{}, examples: map[string][]jsontext.Value{}, maxCases: defaultCases, perCase: defaultPerCase}
	for i, opt := range opts {
		if f, ok := opt.(optionFunc); opt == nil || ok && f == nil {
			o.errs = append(o.errs, fmt.Errorf("contracttest: option %d is nil", i))
			continue
		}
		opt.apply(o)
	}
	return o
}

// strangers are the options that speak of tools which are not there: they would have no effect.
func (o *options) strangers(cat *catalogue) (errs []error) {
	check := func(option, wire string) {
		if _, err := cat.tool(wire); err != nil {
			errs = append(errs, fmt.Errorf("contracttest: %s has no effect: %q is not served by the catalogue", option, wire))
		}
	}
	for _, wire := range slices.Sorted(maps.Keys(o.examples)) {
		check("Examples", wire)
	}
	for _, place := range slices.Sorted(maps.Keys(o.witnesses)) {
		wire, _, _ := strings.Cut(place, "/")
		check("Witness", wire)
	}
	for _, u := range o.upstreams {
		check("Upstreams", u.wire)
	}
	return errs
}

// Skip says that the cases matching the pattern are known to fail, and why. They run all the same: one that passes is a
// failure of the skip. A pattern that matches nothing, and an empty reason, are errors.
//
// A pattern is a case's name, element by element as in [path.Match]; ** stands for any number of elements.
func Skip(pattern, reason string) Option {
	return optionFunc(func(o *options) {
		if strings.TrimSpace(reason) == "" {
			o.errs = append(o.errs, fmt.Errorf("contracttest: Skip(%q): a skip needs a reason", pattern))
		}
		o.checkPattern("Skip", pattern)
		o.skips = append(o.skips, &skip{pattern: pattern, reason: reason})
	})
}

// Expect says how the cases matching the pattern are answered, in the place of what the schema alone makes of them. With a
// code of the handler's, what the schema admits may be refused so, by a Check; what it refuses is not touched. With a code
// of the boundary, what the schema refuses must be refused so. A pattern that matches nothing is an error, and so is one
// whose cases are never answered so.
func Expect(pattern string, r Refusal) Option {
	return optionFunc(func(o *options) {
		o.checkPattern("Expect", pattern)
		o.expects = append(o.expects, &expectation{pattern: pattern, want: r})
	})
}

func (o *options) checkPattern(what, pattern string) {
	for elem := range strings.SplitSeq(pattern, "/") {
		if _, err := path.Match(elem, "x"); err != nil {
			o.errs = append(o.errs, fmt.Errorf("contracttest: %s(%q): %w", what, pattern, err))
		}
	}
}

// Witness gives texts for one place of one tool, "preview_refund_v2/destination.iban" ("lines[].sku" inside arrays), where
// the generator cannot make them: a pattern beyond it, or texts that a Check admits.
func Witness(place string, valid, invalid []string) Option {
	return optionFunc(func(o *options) {
		if len(valid) == 0 {
			o.errs = append(o.errs, fmt.Errorf("contracttest: Witness(%q): needs a valid text", place))
		}
		o.witnesses[place] = witness{valid, invalid}
	})
}

// Examples gives documents that the tool accepts. Cases are then made from them, as far as they reach, and the suites of
// writes begin with the first.
func Examples(wireName string, valid ...jsontext.Value) Option {
	return optionFunc(func(o *options) {
		if len(valid) == 0 {
			o.errs = append(o.errs, errors.New("contracttest: Examples: needs a document"))
		}
		o.examples[wireName] = append(o.examples[wireName], valid...)
	})
}

// Upstreams gives historic answers of the tool, files that match the glob: the Output suite asks that each is still
// admitted by the tool's output schema, or, where its name contains ".bad", still refused.
func Upstreams(wireName string, fsys fs.FS, glob string) Option {
	return optionFunc(func(o *options) { o.upstreams = append(o.upstreams, upstreamFiles{wireName, glob, fsys}) })
}

// Budget bounds the cases of one tool and the time of each. What exceeds it is an error, never a silent cut. Zero leaves
// the default, 20 000 cases and 30 seconds.
func Budget(maxCases int, perCase time.Duration) Option {
	return optionFunc(func(o *options) {
		if maxCases > 0 {
			o.maxCases = maxCases
		}
		if perCase > 0 {
			o.perCase = perCase
		}
	})
}

// Only runs the named suites: input, output, dispatch, approvals, executor. It is for [Check]; under go test say -run.
func Only(suites ...string) Option {
	return optionFunc(func(o *options) {
		for _, s := range suites {
			if !slices.Contains([]string{"input", "output", "dispatch", "approvals", "executor"}, s) {
				o.errs = append(o.errs, fmt.Errorf("contracttest: Only(%q): there is no such suite", s))
			}
		}
		o.only = append(o.only, suites...)
	})
}

// matchName matches a case's name against a pattern.
func matchName(pattern, name string) bool {
	return matchElems(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

func matchElems(pattern, name []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for i := range len(name) + 1 {
				if matchElems(pattern[1:], name[i:]) {
					return true
				}
			}
			return false
		}
		if len(name) == 0 {
			return false
		}
		if ok, err := path.Match(pattern[0], name[0]); err != nil || !ok {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return len(name) == 0
}
