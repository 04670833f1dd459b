package contracttest

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// Seed adds the cases of one tool to a fuzz test's corpus, those that are not long.
func Seed(f *testing.F, c *tool.Catalog, wireName string) {
	f.Helper()
	cases, err := Cases(c, wireName)
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range cases {
		if len(c.Raw) <= longSeed {
			f.Add(c.Raw)
		}
	}
}

const longSeed = 2048

// Fuzz sends what the fuzzer makes to one tool, seeded with its cases, and holds the answer to the independent judge: what
// the judge refuses reaches no handler, what it admits is not refused for its form, and nothing of what was sent is
// echoed. Where the schema admits a document that a Go type cannot hold, the refusal with the rule "type" is right.
func Fuzz(f *testing.F, fresh New, wireName string) {
	f.Helper()
	r := &runner{fresh: fresh, o: collect(nil), report: &Report{}}
	cat, err := r.catalogue()
	if err != nil {
		f.Fatal(err)
	}
	p, err := cat.tool(wireName)
	if err != nil {
		f.Fatal(err)
	}
	j, err := newJudge(p.Input, p.manifest.InputLimits)
	if err != nil {
		f.Fatal(err)
	}
	Seed(f, cat.c, wireName)
	f.Fuzz(func(t *testing.T, raw []byte) {
		l, err := r.live(t, cat)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), defaultPerCase)
		defer cancel()
		if err := weigh(p, j, raw, l.call(ctx, wireName, bytes.Clone(raw))); err != nil {
			t.Error(err)
		}
	})
}

// weigh holds one answer to the judge's verdict.
func weigh(p published, j *judge, raw []byte, s seen) error {
	v := j.verdict(raw)
	e := s.result.Error
	switch {
	case !v.valid() && len(s.entries) > 0:
		return errors.New("a handler ran on what the judge refuses: " + string(v.code) + " " + v.keywords())
	case !v.valid() && s.result.OK:
		return errors.New("accepted, where the judge says " + string(v.code) + " " + v.keywords())
	case v.valid() && e != nil && e.Rule != "type" && e.Rule != "format" && len(s.entries) == 0 && trace.Boundary(e.Code):
		return errors.New("refused with " + s.gotten() + " what the judge admits")
	case len(s.entries) > 0 && !p.builtIn() && !p.isCommit() && !sameAsSent(s.entries[0].In, raw):
		return errors.New("the handler got another value than was sent")
	}
	return nil
}
