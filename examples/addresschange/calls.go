package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/toolcontract/toolcontract/envelope"
)

// recorded holds calls as models really sent them, one JSON object a line; source is the public report of each.
//
//go:embed testdata/calls.jsonl
var recorded []byte

// recording is one line of a file of calls. Verdict, Code and Field say what the boundary must answer; a line without a
// verdict is run and not judged.
type recording struct {
	Case    string `json:"case,omitzero"`
	Source  string `json:"source,omitzero"`
	Tool    string `json:"tool"`
	Bytes   []byte `json:"arguments_b64,omitzero"` // the exact bytes
	Preview string `json:"arguments_preview,omitzero"`
	Verdict string `json:"verdict,omitzero"`
	Code    string `json:"code,omitzero"`
	Field   string `json:"field,omitzero"`
	Why     string `json:"why,omitzero"`

	Arguments jsontext.Value `json:"arguments,omitzero"` // instead of Bytes: a JSON value, as it stands in the line
}

func readCalls(r io.Reader) ([]recording, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var calls []recording
	var faults []error
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var c recording
		if err := json.Unmarshal(line, &c, json.RejectUnknownMembers(true)); err != nil {
			faults = append(faults, fmt.Errorf("line %d: %w", i+1, err))
			continue
		}
		if c.Arguments != nil {
			c.Bytes = c.Arguments
		}
		calls = append(calls, c)
	}
	return calls, errors.Join(faults...)
}

// answer is what the boundary said to a call.
type answer struct {
	verdict string // accept, refuse, or fault: something here is broken
	code    envelope.Code
	field   string
	ran     bool // a handler
}

// boundary are the codes of calls that the contract refuses.
func boundary(c envelope.Code) bool {
	switch c {
	case envelope.MalformedJSON, envelope.DuplicateMember, envelope.TrailingData, envelope.PayloadTooLarge, envelope.TooDeep,
		envelope.UnknownField, envelope.InvalidArgument, envelope.UnknownTool, envelope.UnsupportedVersion, envelope.NotPermitted:
		return true
	}
	return false
}

// domain are the codes with which the tools themselves answer a call that was accepted.
func domain(c envelope.Code) bool {
	switch c {
	case envelope.NotFound, envelope.PreconditionFailed, addressUnchanged:
		return true
	}
	return false
}

func (h *host) ask(ctx context.Context, c recording) answer {
	before := h.entered.count()
	r := h.run.Call(ctx, envelope.Call{Tool: c.Tool, Arguments: c.Bytes})
	a := answer{verdict: "accept", ran: h.entered.count() > before}
	if r.OK {
		return a
	}
	a.code, a.field = r.Error.Code, r.Error.Field
	switch {
	case boundary(a.code):
		a.verdict = "refuse"
	case !domain(a.code):
		a.verdict = "fault"
	}
	return a
}

// agrees reports whether the answer is the one that was expected: verdict, code and field, and no handler for a
// refused call.
func (c recording) agrees(a answer) bool {
	switch {
	case a.verdict == "fault", a.verdict == "refuse" && a.ran:
		return false
	case c.Verdict == "":
		return true
	case a.verdict == "accept":
		return c.Verdict == "accept"
	}
	return c.Verdict == a.verdict && c.Code == string(a.code) && c.Field == a.field
}

// runCalls asks every call of the file and shows the answers. It reports whether all were as expected.
func runCalls(ctx context.Context, w io.Writer, file io.Reader) (_ bool, err error) {
	calls, err := readCalls(file)
	if err != nil {
		return false, err
	}
	h, err := newHost(ctx, len(calls)+1)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()

	t := table{columns: []column{{"", 0}, {"tool", 26}, {"arguments as sent", 52}, {"verdict", 0}, {"code", 0}, {"field", 24}, {"handler", 0}}}
	var s score
	for i, c := range calls {
		a := h.ask(ctx, c)
		t.add(s.count(i+1, c, a), orNothing(oneLine([]byte(c.Tool))), orNothing(oneLine(c.Bytes)),
			a.verdict, a.shownCode(), a.field, a.shownHandler())
	}
	t.write(w, "")
	return s.write(w), nil
}

func orNothing(text string) string {
	if text == "" {
		return "(nothing)"
	}
	return text
}

// shownCode puts a tool's own answer into parentheses.
func (a answer) shownCode() string {
	if a.verdict == "accept" && a.code != "" {
		return "(" + string(a.code) + ")"
	}
	return string(a.code)
}

func (a answer) shownHandler() string {
	if a.ran {
		return "ran"
	}
	return "–"
}

// score adds up the answers of a file.
type score struct {
	calls, judged, accepted, acceptedRan, refused, refusedRan int
	wrong                                                     []string
}

// count notes one answer and returns the row's mark.
func (s *score) count(number int, c recording, a answer) string {
	s.calls++
	if c.Verdict != "" {
		s.judged++
	}
	switch a.verdict {
	case "accept":
		s.accepted++
		if a.ran {
			s.acceptedRan++
		}
	case "refuse":
		s.refused++
		if a.ran {
			s.refusedRan++
		}
	}
	if !c.agrees(a) {
		name := c.Case
		if name == "" {
			name = "call " + strconv.Itoa(number)
		}
		s.wrong = append(s.wrong, fmt.Sprintf("%s: expected %s %s at %q, was %s %s at %q, handler %s",
			oneLine([]byte(name)), c.Verdict, c.Code, c.Field, a.verdict, a.code, a.field, a.shownHandler()))
		return fmt.Sprintf("✗ %3d", number)
	}
	return fmt.Sprintf("✓ %3d", number)
}

func (s *score) write(w io.Writer) bool {
	fmt.Fprintf(w, "\n%d calls: %d accepted, of which %d reached a handler; %d refused, of which %d reached a handler.\n",
		s.calls, s.accepted, s.acceptedRan, s.refused, s.refusedRan)
	fmt.Fprintln(w, "A code in parentheses is the tool's own answer to a call that was accepted.")
	if len(s.wrong) == 0 {
		fmt.Fprintf(w, "All %d expected verdicts agree in verdict, code and field.\n", s.judged)
		return true
	}
	fmt.Fprintf(w, "%d differ:\n", len(s.wrong))
	for _, line := range s.wrong {
		fmt.Fprintln(w, "  "+line)
	}
	return false
}
