package trace

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
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

// kept are copies of the steps that came to something. Work has its number, and counts what was over before it was.
func (rec *recording) kept() (out []*taken) {
	at := map[*taken]int{}
	works := 0
	for _, t := range rec.steps {
		if (t.Step == stepCall || t.Step == stepWork) && !t.done {
			continue
		}
		at[t] = len(out)
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
			t.Until = at[t.last] - n
		}
		for i := range t.Upstream {
			if e := &t.Upstream[i]; e.since != nil {
				e.After = at[e.since] - n
			}
		}
	}
	return out
}

// saving redacts the steps of a run.
type saving struct {
	catalog  *tool.Catalog
	steps    []*taken
	standIns standIns
	own      map[*taken]bool // a value hidden elsewhere is left alone in these where their schema does not hide it
	notes    func(string) string
	faults   map[*taken]string   // where no stand-in stood, in the last pass
	fault    string              // the same, within the document that is being redacted
	left     map[*taken][]string // whose arguments were left out in the last pass: the places where no stand-in stood
	numbers  map[string]bool     // that are hidden
	subjects hider               // the people and services of the run
	inside   bool                // subjects are looked for within texts too, and short ones
}

// people learns who takes part: a subject is personal, whatever the schemas say.
func (s *saving) people(top *head) {
	all := []string{top.Principal.Subject}
	for _, t := range s.steps {
		if t.By != nil {
			all = append(all, t.By.Subject)
		}
	}
	all = slices.DeleteFunc(all, func(subject string) bool { return subject == "" })
	slices.Sort(all)
	all = slices.Compact(all)
	for _, subject := range all {
		s.standIns.hide(subject)
	}
	s.standIns.distinct(all)
	s.subjects = hider{needles: needles(all), of: s.standIns.of}
}

// person is a principal with a stand-in for the subject.
func (s *saving) person(p approval.Principal) approval.Principal {
	if p.Subject != "" {
		p.Subject = s.standIns.subjects[p.Subject]
	}
	return p
}

// place names a declared place of a document.
func place(document, path string) string {
	if path == "" || path[0] == '[' {
		return document + path
	}
	return envelope.Member(document, path)
}

// redacted finds stand-ins with which every step passes its schemas, and as many arguments as can be keep their verdict.
func (s *saving) redacted() ([]any, error) {
	for _, t := range s.steps {
		s.collect(t)
	}
	out, err := s.settled(s.otherwise)
	if err != nil {
		return nil, err
	}
	for _, t := range s.steps {
		if s.left[t] != nil {
			out = s.keeping(t, out)
		}
	}
	s.redactNotes(out)
	return out, nil
}

// settled changes how values are replaced until every step passes.
func (s *saving) settled(otherwise func(*taken) bool) ([]any, error) {
	for range 2 * ways * (len(s.steps) + 1) {
		out, bad := s.pass()
		if len(bad) == 0 {
			return out, nil
		}
		moved := false
		for _, t := range bad {
			moved = otherwise(t) || moved
		}
		if !moved {
			return nil, fmt.Errorf("%w: in %s of %s: %s", ErrStandIn, bad[0].Case, bad[0].Tool, s.faults[bad[0]])
		}
	}
	return nil, ErrStandIn
}

// keeping finds other stand-ins for what stands in arguments that were left out. It returns the steps as they were where
// that costs another step its own.
func (s *saving) keeping(t *taken, out []any) []any {
	was, left := maps.Clone(s.standIns.tries), len(s.left)
	for s.otherArguments(t) {
		if now, err := s.settled(s.otherWay); err == nil && len(s.left) < left {
			return now
		}
		if s.left[t] == nil {
			break
		}
	}
	s.standIns.tries = was
	_, _ = s.pass() // as it was
	return out
}

// pass redacts every step once and returns those whose documents are no longer of their schemas.
func (s *saving) pass() (out []any, bad []*taken) {
	s.standIns.begin()
	clear(s.left)
	for _, t := range s.steps {
		redacted, ok := s.step(t)
		if !ok {
			bad = append(bad, t)
		}
		out = append(out, redacted)
	}
	return out, bad
}

// collect learns the hidden values of a step.
func (s *saving) collect(t *taken) {
	learn := func(doc []byte, p places) {
		_, _ = rewrite(doc, p, func(l leaf) jsontext.Value { // what is no JSON holds nothing that is declared
			switch {
			case !l.hidden:
			case l.value.Kind() == '"':
				s.standIns.hide(text(l.value))
			case l.value.Kind() == '0':
				s.numbers[string(l.value)] = true
			}
			return l.value
		})
	}
	if schemas, ok := s.catalog.Schemas(t.Tool); ok && (t.Step == stepCall || t.Step == stepResolve) {
		learn(t.raw, placesOf(schemas.Input))
		learn(t.Answer, placesOf(schemas.Output))
		s.standIns.public[string(schemas.Input.JSON())], s.standIns.public[string(schemas.Output.JSON())] = true, true
	}
	for _, e := range t.Upstream {
		learn(e.Asked, listed(e.AskedHidden))
		learn(e.Answer, listed(e.AnswerHidden))
		if e.Failure != nil {
			s.standIns.hide(e.Failure.Receipt)
		}
	}
	s.standIns.hide(t.Reason)
	s.standIns.hide(t.Evidence)
}

// otherwise changes how a step's values are replaced, in the end to leaving alone what its own schemas do not hide; false
// where every way was tried.
func (s *saving) otherwise(t *taken) bool {
	moved := s.otherWay(t)
	if !moved && !s.own[t] {
		s.own[t], moved = true, true
		for value := range s.standIns.tries {
			s.standIns.tries[value] = wholeText
		}
	}
	return moved
}

// otherWay changes how a step's values are replaced; false where every way was tried.
func (s *saving) otherWay(t *taken) bool {
	moved := false
	next := func(doc []byte, p places) {
		_, _ = rewrite(doc, p, func(l leaf) jsontext.Value {
			if l.value.Kind() == '"' && (l.hidden || !s.own[t] && s.standIns.elsewhere(text(l.value))) {
				moved = s.standIns.next(text(l.value)) || moved
			}
			return l.value
		})
	}
	if schemas, ok := s.catalog.Schemas(t.Tool); ok {
		next(t.raw, placesOf(schemas.Input))
		next(t.Answer, placesOf(schemas.Output))
	}
	for _, e := range t.Upstream {
		next(e.Answer, listed(e.AnswerHidden))
	}
	return moved
}

// otherArguments changes how the values are replaced that cost a step its arguments; false where every way was tried.
func (s *saving) otherArguments(t *taken) (moved bool) {
	schemas, ok := s.catalog.Schemas(t.Tool)
	if !ok {
		return false
	}
	_, _ = rewrite(t.raw, placesOf(schemas.Input), func(l leaf) jsontext.Value { // what is no JSON has no places
		if l.value.Kind() == '"' && !l.name && slices.Contains(s.left[t], l.path) && s.elsewhere(text(l.value)) {
			moved = s.standIns.next(text(l.value)) || moved
		}
		return l.value
	})
	return moved
}

// document replaces what is hidden; with own, only where the document's own schema hides it. It returns the places where
// stand-ins stand; one that conceals nothing is an error.
func (s *saving) document(doc []byte, p places, own bool, way int) (out []byte, at []string, err error) {
	concealed := true
	hide := func(path string) {
		if !slices.Contains(at, path) {
			at = append(at, path)
		}
	}
	out, err = rewrite(doc, p, func(l leaf) jsontext.Value {
		kind := l.value.Kind()
		if !l.hidden && (kind != '"' || own || !s.elsewhere(text(l.value))) {
			if kind != '"' || own || !s.inside {
				return l.value
			}
			rest := s.subjects.in(text(l.value), false)
			if rest == text(l.value) {
				return l.value
			}
			hide(l.path)
			return quoted(rest)
		}
		hide(l.path)
		standIn, conceals := s.standIn(l.value, way)
		if !conceals && concealed {
			concealed, s.fault = false, l.path
		}
		return standIn
	})
	if p == nil {
		at = everything()
	}
	if err == nil && !concealed {
		err = ErrStandIn
	}
	return out, at, err
}

// elsewhere reports whether a value is hidden somewhere, and is replaced where its place does not hide it.
func (s *saving) elsewhere(value string) bool {
	_, subject := s.standIns.subjects[value]
	return s.standIns.elsewhere(value) || s.inside && subject
}

// standIn stands for a hidden scalar; false where it gives the value away.
func (s *saving) standIn(v jsontext.Value, way int) (standIn jsontext.Value, conceals bool) {
	switch v.Kind() {
	case 't', 'f':
		return jsontext.Value(`false`), true // whatever it was
	case '0':
		standIn = jsontext.Value(s.standIns.number(string(v), way))
		return standIn, string(standIn) != string(v)
	}
	value := text(v)
	s.standIns.hide(value)
	of := s.standIns.of(value)
	return quoted(of), s.standIns.conceals(value, of)
}

func (s *saving) step(t *taken) (step, bool) {
	out := t.step
	ok := true
	switch t.Step {
	case stepCall:
		ok = s.call(t, &out)
	case stepWork:
		ok = s.upstream(t, &out)
	case stepResolve:
		if schemas, known := s.catalog.Schemas(t.Tool); known {
			ok = s.answer(t, &out, schemas)
		}
		out.Evidence = s.standIns.of(t.Evidence)
	}
	if t.By != nil {
		by := s.person(*t.By)
		out.By = &by
	}
	if t.Reason != "" {
		out.Reason = s.standIns.of(t.Reason)
	}
	return out, ok
}

func (s *saving) call(t *taken, out *step) bool {
	schemas, known := s.catalog.Schemas(t.Tool)
	if !known { // the name is the sender's
		out.Tool, out.Arguments = s.standIns.of(t.Tool), jsontext.Value(`{}`)
		return true
	}
	s.arguments(t, out, schemas)
	ok := s.answer(t, out, schemas)
	return s.upstream(t, out) && ok
}

func (s *saving) answer(t *taken, out *step, schemas tool.Schemas) (ok bool) {
	if t.Answer == nil {
		return true
	}
	out.Answer, out.Hidden, ok = s.fitting(t, t.Answer, placesOf(schemas.Output), func(doc []byte) bool {
		e, broken := errors.AsType[*envelope.Error](schemas.Output.Check(doc, schemas.OutputLimits))
		if broken {
			s.fault = schemas.Output.Declared(e.Field)
		}
		return !broken
	})
	if !ok {
		s.faults[t] = place("output", s.fault)
	}
	return ok
}

// upstream redacts a step's exchanges.
func (s *saving) upstream(t *taken, out *step) bool {
	ok := true
	out.Upstream = nil
	for _, e := range t.Upstream {
		redacted, fits := s.exchange(t, e)
		out.Upstream, ok = append(out.Upstream, redacted), ok && fits
	}
	return ok
}

// fitting returns the redacted document, where stand-ins stand in it, and whether it passes.
func (s *saving) fitting(t *taken, doc []byte, p places, passes func([]byte) bool) (out []byte, at []string, ok bool) {
	for _, s.inside = range []bool{true, false} {
		for way := range 3 { // of replacing numbers
			s.fault = ""
			var err error
			if out, at, err = s.document(doc, p, s.own[t], way); err != nil {
				return nil, nil, false
			}
			if passes == nil || passes(out) {
				return out, at, true
			}
		}
	}
	return out, at, false
}

func (s *saving) exchange(t *taken, e exchange) (exchange, bool) {
	ok := true
	if e.Asked != nil {
		e.Asked, e.AskedHidden, ok = s.fitting(t, e.Asked, listed(e.AskedHidden), nil)
	}
	if !ok {
		s.faults[t] = place(e.Operation, s.fault)
	}
	if e.Answer != nil {
		var fits bool
		e.Answer, e.AnswerHidden, fits = s.fitting(t, e.Answer, listed(e.AnswerHidden), e.fits)
		if ok = ok && fits; !fits {
			s.faults[t] = place(e.Operation, s.fault)
		}
	}
	if e.Failure != nil && e.Failure.Receipt != "" {
		f := *e.Failure
		f.Receipt = s.standIns.of(f.Receipt)
		e.Failure = &f
	}
	return e, ok
}

// arguments are kept in a form that meets the same verdict, or left out. Of refused ones every value goes that may: a
// sender puts content where a schema expects a word of its own.
func (s *saving) arguments(t *taken, out *step, schemas tool.Schemas) {
	was := verdictOn(schemas, t.raw)
	tries := []places{placesOf(schemas.Input)}
	if was.code != "" {
		tries = []places{tries[0].with(slices.Sorted(maps.Keys(tries[0]))), tries[0].with(was.broken)}
	}
	broken := []string{}
	for _, p := range tries {
		for _, s.inside = range []bool{true, false} {
			for way := range 3 {
				s.fault = ""
				doc, _, err := s.document(t.raw, p, s.own[t], way)
				is := verdictOn(schemas, doc)
				if err == nil && is.same(was) {
					out.Arguments = doc
					return
				}
				broken = append(append(broken, plain(s.fault)), is.broken...)
			}
		}
	}
	if doc, ok := s.scrambled(t.raw, schemas.Input); ok && verdictOn(schemas, doc).same(was) {
		encoded := base64Of(doc)
		out.ArgumentsB64 = &encoded
		return
	}
	out.LeftOut, s.left[t] = true, broken
}

// verdict is the boundary's word on a document: its code, the declared place, and every place that breaks a rule.
type verdict struct {
	code   envelope.Code
	field  string
	broken []string
}

func (v verdict) same(w verdict) bool { return v.code == w.code && v.field == w.field }

func verdictOn(s tool.Schemas, doc []byte) verdict {
	e, ok := errors.AsType[*envelope.Error](s.Input.Check(doc, s.InputLimits))
	if !ok {
		return verdict{}
	}
	v := verdict{code: e.Code, field: s.Input.Declared(e.Field)}
	v.broken = append(v.broken, plain(v.field))
	for _, other := range e.Violations {
		v.broken = append(v.broken, plain(s.Input.Declared(other.Field)))
	}
	return v
}

// scrambled replaces the letters and digits of a text that is no document, but for the names that the schema declares
// and what JSON itself spells; false where a word would give itself away.
func (s *saving) scrambled(doc []byte, schema *validate.Schema) (out []byte, ok bool) {
	kept := map[string]bool{"false": true, "null": true}
	for _, f := range schema.Fields() {
		kept[strings.Trim(f.Path[strings.LastIndexByte(f.Path, '.')+1:], "[]{}")] = true
	}
	ok = true
	word := func(b byte) bool {
		return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b >= utf8.RuneSelf
	}
	for i := 0; i < len(doc); {
		end := i
		for end < len(doc) && word(doc[end]) {
			end++
		}
		if end == i {
			out = append(out, doc[i])
			i++
			continue
		}
		run := string(doc[i:end])
		switch {
		case run == "true":
			run = "false" // a boolean says something too
		case !kept[run]:
			of := s.standIns.of(run)
			ok = ok && s.standIns.conceals(run, of)
			run = strings.Map(ascii, of) // marks, and bytes that are no text, say something too
		}
		out, i = append(out, run...), end
	}
	return out, ok
}

func ascii(r rune) rune {
	if r >= utf8.RuneSelf {
		return 'x'
	}
	return r
}

// redactNotes replaces in the notes whatever is hidden anywhere in the run. No schema has a say in them.
func (s *saving) redactNotes(out []any) {
	hidden := s.hidden()
	for i, t := range s.steps {
		if t.Step != stepNote {
			continue
		}
		note := t.step
		if s.notes != nil {
			note.Text = s.notes(note.Text)
		}
		note.Text = hidden.in(note.Text, true)
		out[i] = note
	}
}

// hidden are all hidden values of the run, with the stand-ins that they have now.
func (s *saving) hidden() hider {
	h := hider{needles: needles(slices.Collect(maps.Keys(s.standIns.tries))), numbers: map[string]string{}, of: s.standIns.of}
	for number := range s.numbers {
		for _, spelt := range spellings(number) {
			h.numbers[significant(spelt)] = s.standIns.number(number, wholeText)
		}
	}
	return h
}

// spellings are a number, and what it is as an amount in a minor unit.
func spellings(number string) []string {
	canonical, err := redact.Canonical(jsontext.Value(number))
	if err != nil {
		return []string{number}
	}
	out := []string{strings.TrimPrefix(string(canonical), "-")}
	if n := len(out[0]) - 2; n > 0 && !strings.ContainsAny(out[0], ".e") {
		out = append(out, out[0][:n]+"."+out[0][n:])
	}
	return out
}
