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

// recorded is one call as it was seen, one JSON object a line. Arguments are the exact bytes in base64, or the document
// itself. Verdict is accept or refuse; of a refusal Code and Field are compared. Answer, where it is given, stands in for
// the handler, which then must not run: nothing live is called. Data, where it is given, is what must come out.
type recorded struct {
	Step         string         `json:"step"` // of a saved trace: call, or what is no call
	LeftOut      bool           `json:"left_out"`
	Case         string         `json:"case"`
	Tool         string         `json:"tool"`
	ArgumentsB64 *string        `json:"arguments_b64"`
	Arguments    jsontext.Value `json:"arguments"`
	Verdict      string         `json:"verdict"`
	Code         envelope.Code  `json:"code"`
	Field        string         `json:"field"`
	Answer       jsontext.Value `json:"answer"`
	Data         jsontext.Value `json:"data"`
}

// Replay sends recorded calls, the lines of the files that match, and compares how they are answered: a line is a JSON
// object with case, tool, arguments or arguments_b64, verdict (accept, refuse), and of a refusal code and field. With an
// answer in the record the handler's place is taken by it, and a handler that runs all the same is a failure. A file
// without a line, a line of another form, and no file at all are errors. The calls of a trace that package trace saved are
// such lines; its other lines are passed over.
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
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var c recorded
		if json.Unmarshal(lines.Bytes(), &c) == nil && (c.LeftOut || c.Step != "" && c.Step != "call") {
			continue
		}
		c = recorded{}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil || c.Tool == "" && c.Case == "" || c.Verdict != "accept" && c.Verdict != "refuse" || c.ArgumentsB64 == nil && c.Arguments == nil {
			return nil, fmt.Errorf("contracttest: Replay: %s:%d is no recorded call", file, n)
		}
		calls = append(calls, c)
	}
	if len(calls) == 0 {
		return nil, fmt.Errorf("contracttest: Replay: %s holds no call", file)
	}
	return calls, lines.Err()
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
	if e := s.result.Error; e != nil && c.Step != "" { // a trace keeps declared places alone
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
