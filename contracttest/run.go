package contracttest

import (
	"errors"
	"slices"
	"testing"
)

// suite runs the cases of one kind.
type suite func(r *runner, cat *catalogue)

// Run checks a boundary in subtests of t: the suites Input, Output, Dispatch, Approvals and Executor. A case is run alone
// by the line that its failure shows; under a partial -run coverage is not judged.
func Run(t *testing.T, fresh New, opts ...Option) {
	t.Helper()
	play(t, fresh, opts, all()...)
}

// Input checks what goes in: each case of [Cases] for each tool.
func Input(t *testing.T, fresh New, opts ...Option) {
	t.Helper()
	play(t, fresh, opts, (*runner).input)
}

// Output checks what comes out: answers made from each tool's output schema, handed in where the handler stands.
func Output(t *testing.T, fresh New, opts ...Option) {
	t.Helper()
	play(t, fresh, opts, (*runner).output)
}

// Dispatch checks who may call what, under which name.
func Dispatch(t *testing.T, fresh New, opts ...Option) {
	t.Helper()
	play(t, fresh, opts, (*runner).dispatch)
}

// Approvals checks that what runs was approved: that, by them, now.
func Approvals(t *testing.T, fresh New, opts ...Option) {
	t.Helper()
	play(t, fresh, opts, (*runner).approvals)
}

// Executor checks that a write happens once, or not at all, and that what is said of it is true.
func Executor(t *testing.T, fresh New, opts ...Option) {
	t.Helper()
	play(t, fresh, opts, (*runner).executor)
}

// Check is [Run] without a test: what the suites came to. It is how the suites themselves are scored.
func Check(fresh New, opts ...Option) *Report {
	r := &runner{fresh: fresh, o: collect(opts), report: &Report{}}
	r.run(all())
	return r.report
}

func all() []suite {
	return []suite{
		named("input", (*runner).input), named("output", (*runner).output), named("dispatch", (*runner).dispatch),
		named("approvals", (*runner).approvals), named("executor", (*runner).executor),
	}
}

// named leaves a suite out where Only does not name it.
func named(name string, s suite) suite {
	return func(r *runner, cat *catalogue) {
		if len(r.o.only) == 0 || slices.Contains(r.o.only, name) {
			s(r, cat)
		}
	}
}

func play(t *testing.T, fresh New, opts []Option, suites ...suite) {
	t.Helper()
	r := &runner{fresh: fresh, o: collect(opts), t: t, report: &Report{}}
	r.run(suites)
}

func (r *runner) run(suites []suite) {
	if r.t != nil {
		r.t.Helper()
	}
	if r.fresh == nil {
		r.fault(errors.New("contracttest: New is nil"))
		return
	}
	if len(r.o.errs) > 0 {
		r.fault(errors.Join(r.o.errs...))
		return
	}
	cat, err := r.catalogue()
	if err != nil {
		r.fault(err)
		return
	}
	if errs := r.o.strangers(cat); len(errs) > 0 {
		r.fault(errors.Join(errs...))
	}
	for _, s := range suites {
		s(r, cat)
	}
	r.close()
}

// catalogue looks at the catalogue of one fixture.
func (r *runner) catalogue() (*catalogue, error) {
	b := newBench("catalogue")
	var f *Fixture
	made := make(chan error, 1)
	go func() {
		err := errors.New("contracttest: New gave up")
		defer func() { made <- err }()
		f, err = r.fixture(b)
	}()
	err := <-made
	defer b.done()
	if err != nil {
		return nil, errors.Join(append([]error{err}, texts(b.failed)...)...)
	}
	return readCatalogue(f.Catalog)
}
