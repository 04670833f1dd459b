package export

import (
	"encoding/json/jsontext"
)

// reader reads a provider's message and remembers the first place that does not have its form.
type reader struct {
	provider string
	err      error
	ids      map[string]bool // of the calls so far
}

func (r *reader) fail(place, rule string) {
	if r.err == nil {
		r.err = &FormError{Provider: r.provider, Place: place, Rule: rule}
	}
}

// member returns a member, nil where there is none. Of two of one name nobody could say which is meant.
func (r *reader) member(s *span, name, place string) *span {
	if s == nil {
		return nil
	}
	count := 0
	for i := range s.names {
		if s.names[i].text() == name {
			count++
		}
	}
	if count > 1 {
		r.fail(joined(place, name), "stands twice")
	}
	return s.member(name)
}

func joined(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}

// items returns the objects of an array. Where it is left out or null there are none, unless absent says that this is wrong.
func (r *reader) items(doc *span, name, absent string) []*span {
	if !doc.is(jsontext.KindBeginObject) {
		r.fail("", "must be an object")
		return nil
	}
	list := r.member(doc, name, "")
	if list == nil || list.is(jsontext.KindNull) {
		if absent != "" {
			r.fail(name, absent)
		}
		return nil
	}
	if !list.is(jsontext.KindBeginArray) {
		r.fail(name, "must be an array")
		return nil
	}
	items := make([]*span, 0, len(list.values))
	for i := range list.values {
		if !list.values[i].is(jsontext.KindBeginObject) {
			r.fail(name, "must hold objects")
			return nil
		}
		items = append(items, &list.values[i])
	}
	return items
}

func (r *reader) object(s *span, name, place string) *span {
	v := r.member(s, name, place)
	if !v.is(jsontext.KindBeginObject) {
		r.fail(joined(place, name), "must be an object")
		return nil
	}
	return v
}

func (r *reader) text(s *span, name, place string) string {
	v := r.member(s, name, place)
	if !v.is(jsontext.KindString) {
		r.fail(joined(place, name), "must be a string")
		return ""
	}
	return v.text()
}

func (r *reader) optionalText(s *span, name, place string) string {
	if v := r.member(s, name, place); v == nil || v.is(jsontext.KindNull) {
		return ""
	}
	return r.text(s, name, place)
}

// once returns an id, which no other call of the message may have; one that is empty is none.
func (r *reader) once(id, place string) string {
	if r.ids[id] && id != "" {
		r.fail(place, "stands twice in the message")
	}
	if r.ids == nil {
		r.ids = map[string]bool{}
	}
	r.ids[id] = true
	return id
}

func jsonValue(b []byte) jsontext.Value { return b }
