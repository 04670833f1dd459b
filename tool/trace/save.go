package trace

import (
	"bytes"
	"cmp"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Why a trace is not saved.
var (
	// ErrCanary: what would be saved holds a registered canary, or a piece of one.
	ErrCanary = errors.New("trace: a canary is still inside")
	// ErrStandIn: no stand-in for a hidden value passes the schema of the place where it stands.
	ErrStandIn = errors.New("trace: nothing can stand for a hidden value")
)

// Save writes the run so far, redacted, one JSON object a line, the last of which says how many there are. Nothing is written
// where it fails: with [ErrStandIn], which names the tool and the place, or [ErrCanary], which names the line and the form in
// which the canary was found; neither holds a value.
func (r *Recorder) Save(w io.Writer, run string) error {
	out, err := r.saved(run)
	if err != nil {
		return err
	}
	for n, line := range bytes.Split(out, []byte("\n")) {
		for _, c := range r.cfg.Canaries {
			if found := c.Search(line); len(found) > 0 {
				return fmt.Errorf("%w: line %d: %s", ErrCanary, n+1, found[0])
			}
		}
	}
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("trace: save: %w", err)
	}
	return nil
}

func (r *Recorder) saved(run string) ([]byte, error) {
	r.mu.Lock()
	rec := r.runs[run]
	if rec == nil {
		r.mu.Unlock()
		return nil, errRun
	}
	s := saving{
		catalog: rec.catalog, standIns: standIns{key: r.cfg.Key, tries: map[string]int{}, public: map[string]bool{}}, own: map[*taken]bool{},
		notes: r.cfg.Notes, faults: map[*taken]string{}, left: map[*taken][]string{}, numbers: map[string]bool{},
	}
	top := rec.head
	s.steps = rec.kept()
	r.mu.Unlock()
	s.people(&top)
	steps, err := s.redacted()
	if err != nil {
		return nil, err
	}
	top.Principal = s.person(top.Principal)
	var out bytes.Buffer
	for _, line := range append(append([]any{top}, steps...), end{stepEnd, len(steps)}) {
		text, err := json.Marshal(line, json.Deterministic(true), jsontext.EscapeForHTML(false))
		if err != nil {
			return nil, fmt.Errorf("trace: save: %w", err)
		}
		out.Write(append(text, '\n'))
	}
	return out.Bytes(), nil
}

// kept are copies of the steps that came to something. Work has its number, and counts what was over before it was; what it
// asked later still was over when it was, as far as a replay goes.
func (rec *recording) kept() (out []*taken) {
	works := 0
	for _, t := range rec.steps {
		if (t.Step == stepCall || t.Step == stepWork) && !t.done || t.idle() {
			continue
		}
		own := *t
		own.Upstream = slices.Clone(t.Upstream)
		if t.Step == stepWork {
			works++
			own.Case = "work-" + strconv.Itoa(works)
		}
		out = append(out, &own)
	}
	for n, t := range out {
		if t.last != nil {
			t.Until = upTo(out, t.last) - n
		}
		for i := range t.Upstream {
			if e := &t.Upstream[i]; e.since != nil {
				e.After = upTo(out, e.since) - n
				if t.Step == stepWork {
					e.After = min(e.After, t.Until)
				}
			}
		}
	}
	return out
}

// upTo is where the last of the steps stands that was noted no later than t.
func upTo(steps []*taken, t *taken) int {
	n, _ := slices.BinarySearchFunc(steps, t.n+1, func(s *taken, n int) int { return cmp.Compare(s.n, n) })
	return n - 1
}
