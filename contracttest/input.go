package contracttest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// input runs the cases of every tool's input.
func (r *runner) input(cat *catalogue) {
	r.controls(cat)
	for _, p := range cat.tools {
		cases, rows, err := r.o.cases(p)
		r.report.Keywords = append(r.report.Keywords, rows...)
		r.fault(err)
		in := &inputs{r: r, cat: cat, tool: p}
		for _, c := range cases {
			r.leaf(c.Name, func(tb testing.TB) *Failure {
				tb.Helper()
				return in.run(tb, c)
			})
		}
		in.close()
	}
}

// inputs runs the cases of one tool. Refused cases share a fixture as long as they leave no trace; each accepted one has
// its own.
type inputs struct {
	r       *runner
	cat     *catalogue
	tool    published
	shared  *live
	owner   *bench
	valid   int // accepted cases; of them:
	reached int // those that reached a handler
	answers int // those that were answered with data
	broken  int // those on which the handler failed
}

func (in *inputs) close() {
	in.drop()
	if in.valid == 0 || in.indirect() || in.r.report.Executed < in.r.planned {
		return
	}
	switch {
	case in.reached > 0 && in.answers == 0 && in.broken == 0:
		in.r.leaf(join("input", in.tool.Name, "answered"), func(testing.TB) *Failure {
			return &Failure{
				Want: "a valid case that the handler answers with data", Got: fmt.Sprintf("all %d ended in a refusal", in.valid),
				Hint: "give Examples that the handler answers: whether it works was never seen",
			}
		})
	case in.reached == 0:
		in.r.leaf(join("input", in.tool.Name, "reached"), func(testing.TB) *Failure {
			return &Failure{Want: "a valid case that reaches the handler", Got: fmt.Sprintf("all %d were turned away", in.valid), Hint: "give Examples that Check admits"}
		})
	}
}

// indirect reports whether a tool takes ids alone, of things that are not there: a right id is then not found.
func (in *inputs) indirect() bool { return in.tool.isCommit() || in.tool.builtIn() }

func (in *inputs) drop() {
	if in.owner != nil {
		in.owner.done()
	}
	in.shared, in.owner = nil, nil
}

func (r *runner) live(tb testing.TB, cat *catalogue) (*live, error) {
	tb.Helper()
	f, err := r.fixture(tb)
	if err != nil {
		return nil, err
	}
	names := cat.names()
	s, err := f.start(f.Authority(""), "run-1", names...)
	if err != nil {
		return nil, err
	}
	return &live{f, s}, nil
}

// borrow returns the shared fixture, made outside any one case.
func (in *inputs) borrow() (*live, error) {
	if in.shared != nil {
		return in.shared, nil
	}
	in.owner = newBench(in.tool.Name)
	made := make(chan error, 1)
	go func() {
		err := errors.New("contracttest: New gave up")
		defer func() { made <- err }()
		in.shared, err = in.r.live(in.owner, in.cat)
	}()
	if err := <-made; err != nil {
		in.shared = nil
		return nil, errors.Join(append([]error{err}, texts(in.owner.failed)...)...)
	}
	return in.shared, nil
}

func texts(list []string) (errs []error) {
	for _, s := range list {
		errs = append(errs, errors.New(s))
	}
	return errs
}

func (in *inputs) run(tb testing.TB, c Case) *Failure {
	tb.Helper()
	want, expected := in.r.o.expected(c)
	switch {
	case c.Valid:
		return in.fresh(tb, c, want, expected)
	case expected:
		c.Want, c.also = want, nil
	}
	l, err := in.borrow()
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), in.r.o.perCase)
	defer cancel()
	s := l.call(ctx, c.Tool, c.Raw)
	in.count(s)
	f := in.refused(c, s)
	if f != nil || len(s.entries) > 0 {
		in.drop() // what it left behind must not be blamed on another
	}
	return f
}

func (in *inputs) fresh(tb testing.TB, c Case, want Refusal, expected bool) *Failure {
	tb.Helper()
	l, err := in.r.live(tb, in.cat)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), in.r.o.perCase)
	defer cancel()
	s := l.call(ctx, c.Tool, c.Raw)
	in.count(s)
	in.valid++
	if s.result.OK {
		in.answers++
	}
	if e := s.result.Error; expected && e != nil && e.Code == want.Code && e.Field == want.Field {
		in.r.o.met(c)
		return in.checked(c, s)
	}
	return in.accepted(c, s)
}

func (in *inputs) count(s seen) {
	in.r.report.HandlerCalls += len(s.entries)
	if s.result.OK {
		in.r.report.Accepted++
	} else {
		in.r.report.Refused++
	}
}

// expected is what an Expect says of a case.
func (o *options) expected(c Case) (Refusal, bool) {
	for _, e := range o.expects {
		if c.Valid != trace.Boundary(e.want.Code) && matchName(e.pattern, c.Name) {
			e.matched++
			return e.want, true
		}
	}
	return Refusal{}, false
}

// met notes that a case was answered as an Expect says.
func (o *options) met(c Case) {
	for _, e := range o.expects {
		if c.Valid != trace.Boundary(e.want.Code) && matchName(e.pattern, c.Name) {
			e.met++
			return
		}
	}
}

func (c Case) failure(s seen, want, got string) *Failure {
	op := c.Name[lastSlash(c.Name)+1:]
	return &Failure{
		Operator: op, Keyword: c.Keyword, Declared: c.declared, Field: c.Want.Field, Want: want, Got: got, Answer: s.answer(),
		HandlerCalls: len(s.entries), Received: s.received(), Sent: shown(c.Raw),
	}
}

func lastSlash(s string) int {
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == '/' {
			return i
		}
	}
	return -1
}

// refused: the code, the place, the rule; no handler ran; nothing holds the value.
func (in *inputs) refused(c Case, s seen) *Failure {
	text := c.Want.String() + "; the handler not called; nothing echoed"
	e := s.result.Error
	leaks := s.leaks(c.Canary, c.names)
	switch {
	case s.effects > 0:
		return s.changed(s.effects, c)
	case s.result.OK || e == nil:
		return c.failure(s, text, s.gotten())
	case len(leaks) > 0: // before the message: what it holds matters more than that it is another
		f := c.failure(s, text, s.gotten()+", and a value of the call")
		f.Leaks = leaks
		return f
	case !c.refusedBy(e):
		return c.failure(s, text, s.gotten())
	case len(s.entries) > 0:
		return c.failure(s, text, s.gotten()+", after the handler was entered")
	case len(s.result.Data) > 0:
		return c.failure(s, text, "data beside the error")
	case e.Retryable:
		return c.failure(s, text+"; retryable false", s.gotten()+", retryable true")
	case !plain(e):
		return c.failure(s, text+"; "+declaredMessage(e), s.gotten()+"; "+messageOf(e))
	}
	return nil
}

// accepted: the handler ran, once, with the value that was sent.
func (in *inputs) accepted(c Case, s seen) *Failure {
	const text = "accepted; the handler called once with what was sent; nothing in a sink"
	e := s.result.Error
	if s.effects > 0 {
		return s.changed(s.effects, c)
	}
	if in.indirect() {
		if e == nil || e.Code != envelope.NotFound || len(s.entries) > 0 {
			return c.failure(s, "NOT_FOUND: a well-formed id of nothing", s.gotten())
		}
		in.reached++
		return nil
	}
	if len(s.entries) == 0 {
		f := c.failure(s, text, s.gotten())
		f.Hint = "the schema admits the document: if a Check refuses it, give Examples or Expect"
		return f
	}
	in.reached++
	if most := in.entrances(); len(s.entries) > most {
		return c.failure(s, text, fmt.Sprintf("%d entrances where %d are declared", len(s.entries), most))
	}
	for _, entry := range s.entries {
		if entry.Tool != c.Tool {
			return c.failure(s, text, "the handler of "+entry.Tool+" was entered")
		}
		if !sameAsSent(entry.In, c.Raw) {
			return c.failure(s, text, "the handler got another value than was sent")
		}
	}
	if e != nil && trace.Boundary(e.Code) {
		return c.failure(s, text, s.gotten()+", after the handler was entered")
	}
	if f := in.broke(c, s); f != nil {
		return f
	}
	if s.result.Replayed {
		return c.failure(s, "an answer of its own", "one marked as the stored outcome of another call")
	}
	if leaks := s.leaks(c.Canary, nil); len(leaks) > 0 {
		f := c.failure(s, text, s.gotten())
		f.Leaks = leaks
		return f
	}
	return nil
}

// broke: what the schema admits may be refused by the tool, in its own words; it may not break the handler.
func (in *inputs) broke(c Case, s seen) *Failure {
	e := s.result.Error
	if e == nil || e.Code != envelope.Internal && e.Code != envelope.OutputInvalid && e.Code != envelope.DeadlineExceeded {
		return nil
	}
	in.broken++
	f := c.failure(s, "data, or a refusal that the tool declares: the schema admits the document", string(e.Code)+", after the handler was entered")
	f.Hint = "the handler failed, or answered what its output schema refuses; what it cannot serve it refuses by a declared code, or NOT_FOUND"
	return f
}

// entrances is how often one call may enter the tool's handler: a preview twice, a read as often as it declares.
func (in *inputs) entrances() int {
	switch m := in.tool.manifest; {
	case in.tool.isPreview():
		return 2
	case m.Retry != nil:
		return m.Retry.Attempts
	}
	return 1
}

// checked: a Check refused, as an Expect says.
func (in *inputs) checked(c Case, s seen) *Failure {
	if leaks := s.leaks(c.Canary, c.names); len(leaks) > 0 {
		f := c.failure(s, "refused as Expect says, nothing echoed", s.gotten())
		f.Leaks = leaks
		return f
	}
	return nil
}

// controls plants a text in each sink, which must be found: otherwise nothing that is not found there means anything.
func (r *runner) controls(cat *catalogue) {
	r.leaf("input/controls", func(tb testing.TB) *Failure {
		tb.Helper()
		l, err := r.live(tb, cat)
		if err != nil {
			tb.Fatal(err)
		}
		const planted = "Zq7-control-kX9-planted"
		if len(l.f.Sinks) == 0 {
			return &Failure{
				Want: "sinks to be searched", Got: "none: nothing that must not be written would be found",
				Hint: "leave Fixture.Sinks nil for those of the Probe, or Skip the case with the reason",
			}
		}
		for name, s := range l.f.Sinks {
			if s.Drain == nil || s.Plant == nil {
				return &Failure{Want: "a sink that can be drained and planted", Got: "none in " + name}
			}
			s.Drain()
			s.Plant(planted)
			if (seen{sinks: map[string][]byte{name: s.Drain()}}).leaks([]string{planted}, nil) == nil {
				return &Failure{Want: "the planted text in " + name, Got: "nothing", Hint: "the sink does not see what the boundary writes"}
			}
		}
		return nil
	})
}
