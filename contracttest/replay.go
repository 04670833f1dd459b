package contracttest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// recorded is one call as it was seen, one JSON object a line; [Replay] says what its members mean.
type recorded struct {
	Case         string         `json:"case"`
	Tool         string         `json:"tool"`
	ArgumentsB64 *string        `json:"arguments_b64"`
	Arguments    jsontext.Value `json:"arguments"`
	Verdict      string         `json:"verdict"`
	Code         envelope.Code  `json:"code"`
	Field        string         `json:"field"`
	Answer       jsontext.Value `json:"answer"`
	Data         jsontext.Value `json:"data"`
	Note         string         `json:"note"`
	Why          string         `json:"why"`
	Source       string         `json:"source"`
	Preview      string         `json:"arguments_preview"`

	traced bool // from a saved trace
	whole  bool // the line says that the file is one
}

// Replay sends recorded calls, the lines of the files that match, and compares how they are answered. A line is a JSON
// object of these members and no others:
//
//   - case: a name, for the test's; tool: the wire name as it was called.
//   - arguments: the document itself; or arguments_b64: its exact bytes in base64, for what is no JSON. One of the two.
//   - verdict: accept, when the boundary let the call in, whatever the handler then said; refuse, when it did not.
//   - code, field: of a refusal, the code (needed) and the place that were answered. None beside accept, but of a trace,
//     where they are what the handler said.
//   - answer: what the handler answered, of an accepted call. It takes the handler's place: one that runs all the same is a
//     failure, and so is an answer which the tool's output schema refuses by now.
//   - data: of an accepted call, the data that must come out.
//   - note, why, source, arguments_preview: for people.
//
// A file without a line, a line of another form, and no file at all are errors that name the file and the line. The calls
// of a trace that package trace saved are such lines, with more members; its other lines are passed over. A trace has all
// its lines, or is an error.
func Replay(t *testing.T, fresh New, fsys fs.FS, glob string, opts ...Option) {
	t.Helper()
	play(t, fresh, opts, replay(fsys, glob))
}

// CheckReplay is [Replay] without a test.
func CheckReplay(fresh New, fsys fs.FS, glob string, opts ...Option) *Report {
	r := &runner{fresh: fresh, o: collect(opts), report: &Report{}}
	r.run([]suite{replay(fsys, glob)})
	return r.report
}

func replay(fsys fs.FS, glob string) suite {
	return func(r *runner, cat *catalogue) {
		files, err := fs.Glob(fsys, glob)
		if err == nil && len(files) == 0 {
			err = fmt.Errorf("contracttest: Replay: no file matches %q", glob)
		}
		r.fault(err)
		seenNames := map[string]int{}
		for _, file := range files {
			calls, err := readRecorded(fsys, file)
			r.fault(err)
			for i, c := range calls {
				name := join("replay", nameOf(file, 0), nameOf(c.Case+".x", i))
				if seenNames[name]++; seenNames[name] > 1 {
					name += fmt.Sprintf("-%d", seenNames[name])
				}
				r.with(name, cat.names(), c.play)
			}
		}
	}
}

func readRecorded(fsys fs.FS, file string) (calls []recorded, err error) {
	doc, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(bytes.NewReader(doc))
	lines.Buffer(nil, 1<<24)
	whole := false
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		c, is, err := readLine(lines.Bytes())
		whole = whole || c.whole
		if err != nil {
			return nil, fmt.Errorf("contracttest: Replay: %s:%d is no recorded call: %w", file, n, err)
		}
		if !is {
			continue
		}
		calls = append(calls, c)
	}
	if whole {
		if _, err := trace.Load(bytes.NewReader(doc)); err != nil {
			return nil, fmt.Errorf("contracttest: Replay: %s: %w", file, err)
		}
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("contracttest: Replay: %s holds no call", file)
	}
	return calls, lines.Err()
}

// readLine reads one line; false: a line of a trace that is no call.
func readLine(line []byte) (c recorded, is bool, err error) {
	var step struct {
		Step    string `json:"step"`
		LeftOut bool   `json:"left_out"`
	}
	if err := json.Unmarshal(line, &step); err != nil {
		return c, false, errors.New("no JSON object")
	}
	if step.LeftOut || step.Step != "" && step.Step != "call" {
		c.whole = step.Step == "trace" || step.Step == "end"
		return c, false, nil
	}
	c.traced = step.Step != ""
	if err := json.Unmarshal(line, &c, json.RejectUnknownMembers(!c.traced)); err != nil {
		return c, false, errors.New("a member of another type, or one that is not known")
	}
	return c, true, c.fault()
}

// fault says what is wrong with the record itself.
func (c recorded) fault() error {
	switch {
	case c.Tool == "" && c.Case == "":
		return errors.New("neither a case nor a tool")
	case c.Verdict != "accept" && c.Verdict != "refuse":
		return errors.New("the verdict is accept or refuse")
	case c.ArgumentsB64 == nil && c.Arguments == nil:
		return errors.New("no arguments")
	case c.ArgumentsB64 != nil && c.Arguments != nil:
		return errors.New("arguments beside arguments_b64: which was sent?")
	case c.Verdict == "refuse" && c.Code == "":
		return errors.New("a refusal without its code")
	case c.Verdict == "refuse" && (c.Answer != nil || c.Data != nil):
		return errors.New("an answer or data beside a refusal")
	case c.Verdict == "accept" && !c.traced && (c.Code != "" || c.Field != ""):
		return errors.New("a code or a field beside accept")
	}
	return nil
}

func (c recorded) play(ctx context.Context, l *live) *Failure {
	raw := []byte(c.Arguments)
	if c.ArgumentsB64 != nil {
		var err error
		if raw, err = base64.StdEncoding.DecodeString(*c.ArgumentsB64); err != nil {
			return &Failure{Keyword: "replay", Want: "arguments in base64", Got: "other text"}
		}
	}
	if c.Answer != nil {
		l.f.Probe.respond(&envelope.Result{OK: true, Data: c.Answer})
		defer l.f.Probe.respond(nil)
	}
	s := l.call(ctx, c.Tool, raw)
	if e := s.result.Error; e != nil && c.traced { // a trace keeps declared places alone
		if schemas, ok := l.f.Catalog.Schemas(c.Tool); ok {
			s.result.Error = e.At(schemas.Input.Declared(e.Field))
		}
	}
	return c.compare(raw, s)
}

func (c recorded) compare(raw []byte, s seen) *Failure {
	as := Case{Keyword: "replay", Raw: raw, Want: Refusal{Code: c.Code, Field: c.Field}}
	e := s.result.Error
	switch {
	case c.Answer != nil && len(s.entries) > 0:
		return as.failure(s, "the recorded answer, nothing live called", s.gotten())
	case c.Verdict == "refuse" && (e == nil || e.Code != c.Code || e.Field != c.Field):
		return as.failure(s, as.Want.String(), s.gotten())
	case c.Verdict == "refuse" && len(s.entries) > 0:
		return as.failure(s, as.Want.String()+", the handler not called", s.gotten())
	case c.Verdict == "accept" && e != nil && trace.Boundary(e.Code):
		return as.failure(s, "accepted by the boundary", s.gotten())
	case c.Answer != nil && !s.result.OK:
		f := as.failure(s, "the recorded answer, admitted by the tool's output schema", s.gotten())
		f.Hint = "the output schema refuses what the handler once answered: widen it, or record the call anew"
		return f
	case c.Verdict == "accept" && e == nil && !s.result.OK:
		return as.failure(s, "data or an error", s.gotten())
	case c.Data != nil && !sameDocument(c.Data, s.result.Data):
		return as.failure(s, "the recorded data", s.gotten())
	}
	return nil
}

func sameDocument(a, b []byte) bool {
	x, errX := parseValue(a)
	y, errY := parseValue(b)
	return errors.Join(errX, errY) == nil && sameValue(x, y)
}
