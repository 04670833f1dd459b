package contracttest

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/toolcontract/toolcontract/envelope"
)

// output hands answers in behind the boundary, in the handler's place, and asks that only what the output schema admits
// comes out, byte for byte, and that of the rest nothing does.
func (r *runner) output(cat *catalogue) {
	for _, p := range cat.tools {
		g, err := newGenerator("output", p.Name, p.Output, p.manifest.OutputLimits)
		if err != nil {
			r.fault(err)
			continue
		}
		g.lean = true
		cases, err := g.run()
		r.fault(err)
		out := &outputs{in: &inputs{r: r, cat: cat, tool: p}, judge: g.judge}
		out.arguments, err = r.o.arguments(p)
		r.fault(err)
		r.leaf(join("output", p.Name, "own"), out.own)
		for _, c := range cases {
			r.leaf(c.Name, func(tb testing.TB) *Failure {
				tb.Helper()
				return out.run(tb, c)
			})
		}
		out.errors()
		out.historic()
		out.in.drop()
	}
}

// arguments is a document that the tool accepts.
func (o *options) arguments(p published) ([]byte, error) {
	if list := o.examples[p.Name]; len(list) > 0 {
		return bytes.Clone(list[0]), nil
	}
	g, err := o.generator(p)
	if err != nil {
		return nil, err
	}
	v, err := g.builder(smallest).build(g.c.whole())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return v.bytes(), nil
}

type outputs struct {
	in        *inputs
	judge     *judge
	arguments []byte
}

// answered makes the handler's place answer, and returns what came out.
func (o *outputs) answered(tb testing.TB, inner envelope.Result) seen {
	tb.Helper()
	l, err := o.in.borrow()
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.in.r.o.perCase)
	defer cancel()
	l.f.Probe.respond(&inner)
	defer l.f.Probe.respond(nil)
	return l.call(ctx, o.in.tool.Name, o.arguments)
}

func (o *outputs) run(tb testing.TB, c Case) *Failure {
	tb.Helper()
	s := o.answered(tb, envelope.Result{OK: true, Data: jsontext.Value(c.Raw)})
	if c.Valid {
		return o.passed(c, s)
	}
	return o.withheld(c, s)
}

func (o *outputs) passed(c Case, s seen) *Failure {
	switch {
	case !s.result.OK || s.result.Error != nil:
		return c.failure(s, "the answer as the handler gave it", s.gotten())
	case !bytes.Equal(s.result.Data, c.Raw):
		f := c.failure(s, "the answer as the handler gave it, byte for byte", "another document")
		f.Answer = "data " + shown(s.result.Data)
		return f
	}
	return nil
}

func (o *outputs) withheld(c Case, s seen) *Failure {
	const want = "OUTPUT_INVALID, no data; nothing of the answer anywhere"
	e := s.result.Error
	leaks := s.leaks(c.Canary, nil)
	switch {
	case s.result.OK || e == nil:
		return c.failure(s, want, "the answer passed")
	case len(leaks) > 0:
		f := c.failure(s, want, s.gotten()+", and a value of the answer")
		f.Leaks = leaks
		return f
	case e.Code != envelope.OutputInvalid:
		return c.failure(s, want, s.gotten())
	case len(s.result.Data) > 0:
		return c.failure(s, want, "data beside the error")
	case o.in.tool.isCommit() && e.Effect != envelope.EffectDone:
		return c.failure(s, want+"; effect done", "effect "+string(e.Effect))
	case !plain(e):
		return c.failure(s, want+"; "+declaredMessage(e), s.gotten()+"; "+messageOf(e))
	}
	return nil
}

// own asks that what the tool itself answers is what it publishes.
func (o *outputs) own(tb testing.TB) *Failure {
	tb.Helper()
	l, err := o.in.r.live(tb, o.in.cat)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), o.in.r.o.perCase)
	defer cancel()
	s := l.call(ctx, o.in.tool.Name, o.arguments)
	c := Case{Keyword: "output", Raw: o.arguments}
	r := s.result
	switch {
	case r.RequestID == "":
		return c.failure(s, "a request id", "none")
	case r.Tool != o.in.tool.Name:
		return c.failure(s, "an answer in the name of "+o.in.tool.Name, "in the name of "+shown([]byte(r.Tool)))
	case r.OK == (r.Error != nil), r.OK == (len(r.Data) == 0):
		return c.failure(s, "data or an error", "both, or neither")
	case r.OK && !o.judge.verdict(r.Data).valid():
		return c.failure(s, "an answer that the published output schema admits", "one that it refuses: "+o.judge.verdict(r.Data).keywords())
	case r.Error != nil && (r.Error.Code == envelope.OutputInvalid || r.Error.Code == envelope.Internal):
		f := c.failure(s, "an answer that the published output schema admits", s.gotten())
		f.Hint = "the handler answers what its own schema refuses, or failed: its quarantined cause says where"
		return f
	}
	return nil
}

// errors hands in errors that no handler may answer with.
func (o *outputs) errors() {
	secret := canaryText(20, 71)
	for _, t := range []struct {
		name  string
		inner envelope.Result
		codes []envelope.Code
	}{
		{"undeclared-code", envelope.Result{Error: &envelope.Error{Code: "ZQ_UNDECLARED", Message: secret}}, []envelope.Code{envelope.Internal}},
		{"error-beside-data", envelope.Result{OK: true, Data: jsontext.Value(`"` + secret + `"`), Error: envelope.New(envelope.NotFound)}, []envelope.Code{envelope.OutputInvalid, envelope.Internal}},
		{"neither", envelope.Result{}, []envelope.Code{envelope.OutputInvalid, envelope.Internal}},
		{"no-document", envelope.Result{OK: true}, []envelope.Code{envelope.OutputInvalid, envelope.Internal}},
		{"null", envelope.Result{OK: true, Data: jsontext.Value("null")}, []envelope.Code{envelope.OutputInvalid}},
		{"not-json", envelope.Result{OK: true, Data: jsontext.Value("<html>" + secret)}, []envelope.Code{envelope.OutputInvalid}},
		{"wrapped-secret", envelope.Result{Error: envelope.New(envelope.NotFound).WithCause(errors.New(secret))}, []envelope.Code{envelope.NotFound}},
	} {
		o.in.r.leaf(join("output", o.in.tool.Name, "errors", t.name), func(tb testing.TB) *Failure {
			tb.Helper()
			s := o.answered(tb, t.inner)
			c := Case{Keyword: "errors", Canary: []string{secret}}
			return refusedWith(c, s, t.codes...)
		})
	}
}

// refusedWith asks for one of the codes, no data, and no trace of the canaries.
func refusedWith(c Case, s seen, codes ...envelope.Code) *Failure {
	want := codeList(codes)
	e := s.result.Error
	if s.result.OK || e == nil || len(s.result.Data) > 0 {
		return c.failure(s, want, s.gotten())
	}
	for _, code := range codes {
		if e.Code != code {
			continue
		}
		if leaks := s.leaks(c.Canary, nil); len(leaks) > 0 {
			f := c.failure(s, want+", nothing echoed", s.gotten())
			f.Leaks = leaks
			return f
		}
		return nil
	}
	return c.failure(s, want, s.gotten())
}

func codeList(codes []envelope.Code) string {
	list := make([]string, len(codes))
	for i, c := range codes {
		list[i] = string(c)
	}
	return strings.Join(list, " or ")
}

// historic hands in recorded answers.
func (o *outputs) historic() {
	for _, u := range o.in.r.o.upstreams {
		if u.wire != o.in.tool.Name {
			continue
		}
		files, err := fs.Glob(u.fsys, u.glob)
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("contracttest: Upstreams(%q): no file matches %q", u.wire, u.glob)
		}
		o.in.r.fault(err)
		for i, file := range files {
			o.in.r.leaf(join("output", u.wire, "upstreams", nameOf(file, i)), func(tb testing.TB) *Failure {
				tb.Helper()
				doc, err := fs.ReadFile(u.fsys, file)
				if err != nil {
					tb.Fatal(err)
				}
				s := o.answered(tb, envelope.Result{OK: true, Data: doc})
				c := Case{Keyword: "upstreams", Raw: doc}
				if strings.Contains(path.Base(file), ".bad") {
					return refusedWith(c, s, envelope.OutputInvalid)
				}
				return o.passed(c, s)
			})
		}
	}
}

// nameOf makes a case's name of a file's.
func nameOf(file string, i int) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(path.Base(file), path.Ext(file)))
	if name == "" {
		return strconv.Itoa(i)
	}
	return name
}
