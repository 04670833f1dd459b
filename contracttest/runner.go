package contracttest

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/tool/trace"
)

// runner runs cases as subtests, or without a test for a Report.
type runner struct {
	fresh   New
	o       *options
	t       *testing.T // nil under Check
	report  *Report
	planned int
}

// fault notes what is wrong with the suite's own means; it is no case's failure.
func (r *runner) fault(err error) {
	if err == nil {
		return
	}
	r.report.faults = append(r.report.faults, err)
	if r.t != nil {
		r.t.Helper()
		r.t.Error(err)
	}
}

// leaf runs one case.
func (r *runner) leaf(name string, run func(tb testing.TB) *Failure) {
	r.planned++
	if r.t != nil {
		r.t.Run(name, func(t *testing.T) {
			if f := r.judged(t, name, run); f != nil {
				f.Test = r.t.Name()
				t.Error(f.String())
			}
		})
		return
	}
	b := newBench(name)
	ended := make(chan *Failure, 1)
	go func() {
		f := &Failure{Case: name, Got: "New, or the case, gave up"}
		defer func() { ended <- f }()
		f = r.judged(b, name, run)
	}()
	f := <-ended
	b.done()
	if len(b.failed) > 0 && (f == nil || f.Got == "New, or the case, gave up") {
		f = &Failure{Case: name, Got: strings.Join(b.failed, "; ")}
		r.report.Failures = append(r.report.Failures, *f)
	}
}

// judged runs a case, contains its panic, and weighs what was said about it.
func (r *runner) judged(tb testing.TB, name string, run func(tb testing.TB) *Failure) *Failure {
	tb.Helper()
	r.report.Executed++
	begin := time.Now() //nolint:forbidigo // the budget is of real time
	f := contained(tb, name, run)
	if took := time.Since(begin); f == nil && took > r.o.perCase { //nolint:forbidigo // see above
		f = &Failure{Want: "an answer within " + r.o.perCase.String(), Got: "one after " + took.String()}
	}
	skipped := false
	for _, s := range r.o.skips {
		if matchName(s.pattern, name) {
			s.matched++
			skipped = true
		}
	}
	switch {
	case skipped && f == nil:
		f = &Failure{Want: "a failure, as Skip says", Got: "the case now passes", Hint: "take the Skip away"}
	case skipped:
		return nil
	case f == nil:
		return nil
	}
	f.Case = name
	r.report.Failures = append(r.report.Failures, *f)
	return f
}

func contained(tb testing.TB, name string, run func(tb testing.TB) *Failure) (f *Failure) {
	tb.Helper()
	defer func() {
		if v := recover(); v != nil {
			f = &Failure{Case: name, Want: "an answer", Got: fmt.Sprintf("a panic with a %T", v), Hint: firstFrames(debug.Stack())}
		}
	}()
	return run(tb)
}

// firstFrames is the beginning of a stack, for a screen.
func firstFrames(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	return strings.Join(lines[:min(len(lines), 14)], "\n            ")
}

// fixture makes a fresh one and completes it.
func (r *runner) fixture(tb testing.TB) (*Fixture, error) {
	tb.Helper()
	f := r.fresh(tb)
	return f, f.complete()
}

// close looks whether everything that was asked for was met. Under a partial -run nothing can be said of what did not run.
func (r *runner) close() {
	for _, s := range r.o.skips {
		r.report.Skips = append(r.report.Skips, SkipRow{s.pattern, s.reason, s.matched})
	}
	if r.report.Executed < r.planned {
		if r.t != nil {
			r.t.Logf("contracttest: %d of %d cases ran: coverage, skips and expectations are not judged", r.report.Executed, r.planned)
		}
		return
	}
	for _, s := range r.o.skips {
		if s.matched == 0 {
			r.fault(fmt.Errorf("contracttest: Skip(%q) matches no case", s.pattern))
		}
	}
	for _, e := range r.o.expects {
		if e.matched == 0 {
			r.fault(fmt.Errorf("contracttest: Expect(%q) matches no case", e.pattern))
		} else if e.met == 0 && !trace.Boundary(e.want.Code) {
			r.fault(fmt.Errorf("contracttest: Expect(%q) has no effect: none of the %d cases is answered %s", e.pattern, e.matched, e.want))
		}
	}
	if r.planned == 0 {
		r.fault(errors.New("contracttest: no case was executed"))
	}
}
