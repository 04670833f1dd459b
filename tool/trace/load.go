package trace

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Trace is a saved run. Immutable; make it with [Load].
type Trace struct {
	head  head
	steps []step
}

// ErrTrace says that a file is no trace, or one of another format.
var ErrTrace = errors.New("trace: not a trace of this format")

const maxLine = 16 << 20

// Load reads what [Recorder.Save] wrote, all of it: a file that was cut off, at the end of a line too, is none. The error wraps
// [ErrTrace] and names the line.
func Load(r io.Reader) (*Trace, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	t := &Trace{}
	var last end
	for n := 1; lines.Scan(); n++ {
		if n == 1 {
			err := json.Unmarshal(lines.Bytes(), &t.head, json.RejectUnknownMembers(true))
			if err != nil || t.head.Step != stepTrace || t.head.Format != format || t.head.Run == "" {
				return nil, fmt.Errorf("%w: line 1", ErrTrace)
			}
			continue
		}
		if last.Step != "" { // nothing is behind the end
			return nil, fmt.Errorf("%w: line %d", ErrTrace, n)
		}
		if json.Unmarshal(lines.Bytes(), &last, json.RejectUnknownMembers(true)) == nil && last.Step == stepEnd {
			continue
		}
		last = end{}
		var s step
		if err := json.Unmarshal(lines.Bytes(), &s, json.RejectUnknownMembers(true)); err != nil || !s.known() {
			return nil, fmt.Errorf("%w: line %d", ErrTrace, n)
		}
		t.steps = append(t.steps, s)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("trace: load: %w", err)
	}
	if t.head.Step == "" {
		return nil, fmt.Errorf("%w: no line", ErrTrace)
	}
	if last.Step == "" || last.Steps != len(t.steps) {
		return nil, fmt.Errorf("%w: it does not have all its lines", ErrTrace)
	}
	for n, s := range t.steps {
		if s.Until >= len(t.steps)-n || slices.ContainsFunc(s.Upstream, func(e exchange) bool { return e.After < 0 || e.After >= len(t.steps)-n }) {
			return nil, fmt.Errorf("%w: line %d", ErrTrace, n+2)
		}
	}
	return t, nil
}

func (s step) known() bool {
	switch s.Step {
	case stepCall:
		_, err := s.raw()
		return err == nil && (s.Verdict == accepted || s.Verdict == refused)
	case stepDecision, stepWithdraw:
		return s.Proposal != "" && s.By != nil
	case stepWork:
		return s.Operation != "" && s.Found != "" && s.State != "" && s.Until >= 0 && !slices.ContainsFunc(s.Upstream, func(e exchange) bool {
			return e.After < 0 || e.After > s.Until
		})
	case stepResolve:
		return s.Operation != "" && s.State != "" && s.By != nil
	case stepOutcome:
		return s.Operation != "" && s.State != ""
	case stepCancel, stepNote:
		return true
	}
	return false
}

// raw returns a call's arguments.
func (s step) raw() ([]byte, error) {
	if s.ArgumentsB64 == nil {
		return s.Arguments, nil
	}
	return base64.StdEncoding.DecodeString(*s.ArgumentsB64)
}

func base64Of(doc []byte) string { return base64.StdEncoding.EncodeToString(doc) }

// Run returns the recorded run's id.
func (t *Trace) Run() string { return t.head.Run }

// Catalogue returns the digest of the manifest of what could be called.
func (t *Trace) Catalogue() string { return t.head.Catalogue }

// Calls returns how many calls were recorded.
func (t *Trace) Calls() (n int) {
	for _, s := range t.steps {
		if s.Step == stepCall {
			n++
		}
	}
	return n
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
