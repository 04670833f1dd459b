package contracttest

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
)

// live is a fixture with a run under way.
type live struct {
	f       *Fixture
	session Session
}

// seen is what one call left behind.
type seen struct {
	result  envelope.Result
	entries []Entry
	sinks   map[string][]byte
	effects int // of the provider, while the call lasted
}

func (l *live) drain() map[string][]byte {
	out := map[string][]byte{}
	for name, s := range l.f.Sinks {
		out[name] = s.Drain()
	}
	return out
}

// call sends one document and gathers what came of it.
func (l *live) call(ctx context.Context, wire string, raw []byte) seen {
	l.drain()
	l.f.Probe.Entries()
	before := l.f.Upstream.all()
	r := l.session.Call(ctx, envelope.Call{ID: "contracttest-1", Tool: wire, Arguments: bytes.Clone(raw)})
	return seen{r, l.f.Probe.Entries(), l.drain(), l.f.Upstream.all() - before}
}

// changed is the failure of a call that had an effect and may have none.
func (s seen) changed(n int, c Case) *Failure {
	f := c.failure(s, "no effect in the provider: only a commit has one", fmt.Sprintf("%s, with %d effects", s.gotten(), n))
	f.Hint = "a read, a preview, Current, Status and a refused call change nothing"
	return f
}

// leaks searches for values: in the answer's error and its causes, and in every sink. names may stand in the answer.
func (s seen) leaks(canaries, names []string) (found []string) {
	look := func(where string, text []byte, c redact.Canary) {
		if traces := c.Search(text); len(traces) > 0 {
			found = append(found, where+": "+traces[0].String())
		}
	}
	answer := s.answerText()
	for _, value := range canaries {
		c, err := redact.NewCanary(value)
		if err != nil {
			continue
		}
		if len(c.Search(answer)) > 0 {
			s.placed(look, c)
		}
		for _, name := range slices.Sorted(maps.Keys(s.sinks)) {
			look(name, s.sinks[name], c)
		}
	}
	for _, value := range names {
		c, err := redact.NewCanary(value)
		if err != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(s.sinks)) {
			look(name, s.sinks[name], c)
		}
	}
	return found
}

// answerText is everything that a refusal says, in each way of printing it: the whole result, not its error alone.
func (s seen) answerText() []byte {
	var b bytes.Buffer
	if s.result.Error == nil {
		return nil
	}
	if doc, err := json.Marshal(s.result); err == nil {
		b.Write(doc)
	}
	fmt.Fprintf(&b, "\n%s\n%s\n%s", s.result.RequestID, s.result.Tool, strings.Join(s.result.Untrusted, "\n"))
	if doc, err := json.Marshal(s.result.Error); err == nil {
		b.Write(doc)
	}
	for err := error(s.result.Error); err != nil; err = errors.Unwrap(err) {
		fmt.Fprintf(&b, "\n%v\n%+v\n%#v", err, err, err)
	}
	return b.Bytes()
}

// placed looks where in a refusal a value stands: in what the model reads, or only in what prints the error in full.
func (s seen) placed(look func(where string, text []byte, c redact.Canary), c redact.Canary) {
	read := false
	members := func(of string, doc []byte, err error) {
		v, parsed := parseValue(doc)
		if err != nil || parsed != nil {
			return
		}
		for i, name := range v.names {
			if text := v.elems[i].bytes(); name != "error" && len(c.Search(text)) > 0 {
				look("the answer, in "+of+name, text, c)
				read = true
			}
		}
	}
	doc, err := json.Marshal(s.result.Error)
	members("error.", doc, err)
	doc, err = json.Marshal(s.result)
	members("", doc, err)
	if read {
		return
	}
	deep := 0
	for err := error(s.result.Error); err != nil; err = errors.Unwrap(err) {
		for _, verb := range []string{"%v", "%+v", "%#v"} {
			if text := fmt.Appendf(nil, verb, err); len(c.Search(text)) > 0 {
				look(fmt.Sprintf("the error's Unwrap chain (%s of %T, %d deep), not in what the model reads", verb, err, deep), text, c)
				return
			}
		}
		deep++
	}
	look("the answer", s.answerText(), c)
}

// answer is what the model gets, or its beginning.
func (s seen) answer() string {
	if !s.result.OK && s.result.Error == nil && len(s.result.Data) == 0 {
		return ""
	}
	doc, err := json.Marshal(s.result)
	if err != nil {
		return ""
	}
	return shownTo(doc, 400)
}

// received is what the handlers got, or its beginning.
func (s seen) received() (out []string) {
	const most = 3
	for i, e := range s.entries {
		if i == most {
			return append(out, fmt.Sprintf("… %d more", len(s.entries)-most))
		}
		doc, err := json.Marshal(e.In)
		if err != nil {
			doc = fmt.Appendf(nil, "a %T", e.In)
		}
		out = append(out, e.Tool+": "+shown(doc))
	}
	return out
}

// gotten says how a call was answered.
func (s seen) gotten() string {
	r := s.result
	switch {
	case r.OK && r.Error == nil:
		return "accepted"
	case r.Error == nil:
		return "neither data nor an error"
	}
	return Refusal{r.Error.Code, r.Error.Field, r.Error.Rule}.String()
}

// sameAsSent reports whether what a handler got is what was sent, as the standard library reads it into the handler's type.
func sameAsSent(in any, raw []byte) bool {
	if in == nil {
		return false
	}
	if v, ok := in.(jsontext.Value); ok {
		a, err := redact.Canonical(v)
		b, err2 := redact.Canonical(jsontext.Value(raw))
		return err == nil && err2 == nil && bytes.Equal(a, b)
	}
	fresh := reflect.New(reflect.TypeOf(in))
	if err := json.Unmarshal(raw, fresh.Interface(), json.RejectUnknownMembers(true)); err != nil {
		return false
	}
	return reflect.DeepEqual(in, fresh.Elem().Interface())
}

// plain reports whether a refusal's message is the declared one: words that were composed can hold a value.
func plain(e *envelope.Error) bool {
	d, ok := envelope.Declared(e.Code)
	return !ok || e.Message == d.Message
}

func declaredMessage(e *envelope.Error) string {
	d, _ := envelope.Declared(e.Code)
	return "message " + strconv.Quote(d.Message)
}

func messageOf(e *envelope.Error) string { return "message " + strconv.Quote(e.Message) }

func join(parts ...string) string { return strings.Join(parts, "/") }
