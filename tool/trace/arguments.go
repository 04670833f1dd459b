package trace

import (
	"encoding/json/jsontext"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

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

// singly is for how many steps whose arguments are left out other stand-ins are looked for alone: each costs a pass or more.
const singly = 64

// keeping finds other stand-ins for what stands in arguments that were left out: for all of them at once, and then for one
// after another.
func (s *saving) keeping() []any {
	waiting := slices.DeleteFunc(slices.Clone(s.steps), func(t *taken) bool { return s.left[t] == nil })
	s.keep(waiting...)
	for _, t := range waiting[:min(singly, len(waiting))] {
		if s.left[t] != nil {
			s.keep(t)
		}
	}
	out, _ := s.pass()
	return out
}

// keep finds other stand-ins for the arguments of some steps. It changes nothing where no more arguments than before can be
// saved with them, or another step loses its own.
func (s *saving) keep(steps ...*taken) {
	was, left := maps.Clone(s.standIns.tries), len(s.left)
	fits := false
	for _, t := range steps {
		fits = s.fits(t) || fits
	}
	if !fits {
		return
	}
	if _, err := s.settled(s.otherWay); err != nil || len(s.left) >= left {
		s.standIns.tries = was
		_, _ = s.pass()
	}
}

// fits changes how the values in a step's arguments are replaced until these keep their verdict, and not at all where they
// do in no way.
func (s *saving) fits(t *taken) bool {
	schemas, _ := s.catalog.Schemas(t.Tool)
	was := maps.Clone(s.standIns.tries)
	for s.otherArguments(t, schemas) {
		s.standIns.begin()
		delete(s.left, t)
		if s.arguments(t, &step{}, schemas); s.left[t] == nil {
			return true
		}
	}
	s.standIns.tries = was
	return false
}

// otherArguments changes how the values are replaced that cost a step its arguments; false where every way was tried.
func (s *saving) otherArguments(t *taken, schemas tool.Schemas) (moved bool) {
	_, _ = rewrite(t.raw, placesOf(schemas.Input), func(l leaf) jsontext.Value { // what is no JSON has no places
		if l.value.Kind() == '"' && !l.name && slices.Contains(s.left[t], l.path) && s.elsewhere(text(l.value)) {
			moved = s.standIns.next(text(l.value)) || moved
		}
		return l.value
	})
	return moved
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
