package trace

import (
	"encoding/json/jsontext"
	"errors"
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

func (s *saving) step(t *taken) (step, bool) {
	out := t.step
	ok := true
	switch t.Step {
	case stepCall:
		ok = s.call(t, &out)
	case stepWork:
		ok = s.work(t, &out)
	case stepResolve:
		if schemas, known := s.catalog.Schemas(t.Tool); known {
			ok = s.answer(t, &out, schemas)
		}
		out.Evidence, out.Field = s.standIns.anyhow(t.Evidence), s.field(t, t.Field, nil)
	}
	if t.By != nil {
		by := s.person(*t.By)
		out.By = &by
	}
	if t.Reason != "" {
		out.Reason = s.standIns.anyhow(t.Reason)
	}
	return out, ok
}

func (s *saving) call(t *taken, out *step) bool {
	schemas, known := s.catalog.Schemas(t.Tool)
	if !known { // the name is the sender's
		out.Tool, out.Arguments = s.standIns.anyhow(t.Tool), jsontext.Value(`{}`)
		return true
	}
	s.arguments(t, out, schemas)
	ok := s.answer(t, out, schemas)
	return s.upstream(t, out) && ok
}

// work keeps what a worker stored, redacted as the answer of a call.
func (s *saving) work(t *taken, out *step) bool {
	ok := true
	if schemas, known := s.catalog.Schemas(t.Tool); known {
		ok = s.answer(t, out, schemas)
	} else {
		out.Answer = nil
	}
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
	if e.Failure != nil {
		f := *e.Failure
		f.Receipt, f.Field = s.standIns.anyhow(f.Receipt), s.field(t, f.Field, e.declared)
		e.Failure = &f
	}
	return e, ok
}

// field is what of the field of an error is declared, by the tool or else: the rest is somebody's word.
func (s *saving) field(t *taken, field string, declared func(string) string) (out string) {
	if declared != nil {
		out = declared(field)
	}
	if schemas, known := s.catalog.Schemas(t.Tool); known {
		out = max(out, schemas.Input.Declared(field), schemas.Output.Declared(field)) // all begin the field
	}
	return out
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

// place names a declared place of a document.
func place(document, path string) string {
	if path == "" || path[0] == '[' {
		return document + path
	}
	return envelope.Member(document, path)
}
