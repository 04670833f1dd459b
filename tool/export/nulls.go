package export

import "encoding/json/jsontext"

// nulls says where in a tool's arguments a null is this package's own: the member is optional in the contract, which
// admits no null there, and the provider was told that it is required and nullable.
type nulls struct {
	members map[string]member // of an object
	items   *nulls            // of an array
	any     []*nulls          // of a union, or of an array's or object's other forms: all that it may be
	tag     string            // the member that tells the variants apart; empty: none does
	tags    map[string]*nulls // variants by the text of tag
}

type member struct {
	ours     bool // a null stands for "left out", and for nothing else
	contract bool // the contract itself admits null
	within   *nulls
}

// without returns doc less the nulls that are ours. Every other byte stays as it is, and so does a document that is not one
// JSON value: the boundary is to refuse it.
func (n *nulls) without(doc jsontext.Value) jsontext.Value {
	s, err := parse(doc)
	if err != nil {
		return doc
	}
	e := eraser{doc: doc}
	e.value(s, []*nulls{n})
	if e.copied == 0 {
		return doc
	}
	return append(e.out, doc[e.copied:]...)
}

// eraser copies a document and leaves pieces out.
type eraser struct {
	doc    []byte
	out    []byte
	copied int // up to where doc is in out, or left out
}

func (e *eraser) value(s *span, known []*nulls) {
	switch {
	case len(known) == 0:
	case s.is(jsontext.KindBeginArray):
		items := itemsOf(known)
		for i := range s.values {
			e.value(&s.values[i], items)
		}
	case s.is(jsontext.KindBeginObject):
		e.object(s, variants(s, known))
	}
}

// object leaves out the members whose null is ours. A name that stands twice is a duplicate, which the boundary is to see.
func (e *eraser) object(s *span, known []*nulls) {
	names := make([]string, len(s.names))
	count := map[string]int{}
	for i := range s.names {
		names[i] = s.names[i].text()
		count[names[i]]++
	}
	kept := 0
	for i, name := range names {
		ours, within := merged(known, name)
		if ours && count[name] == 1 && s.values[i].is(jsontext.KindNull) {
			e.leaveOut(s, i, kept > 0)
			continue
		}
		kept++
		e.value(&s.values[i], within)
	}
}

// leaveOut drops member i and one comma: the one before it where a member before it stays, otherwise the one after it.
func (e *eraser) leaveOut(s *span, i int, before bool) {
	from, to := s.names[i].start, s.values[i].end
	switch {
	case before:
		from = s.values[i-1].end
	case i+1 < len(s.names):
		to = s.names[i+1].start
	}
	if from > e.copied {
		e.out = append(e.out, e.doc[e.copied:from]...)
	}
	e.copied = max(e.copied, to)
}

// variants returns what may be known of an object: of a union told apart by a member the variant that it names, of another
// union all of them.
func variants(s *span, known []*nulls) []*nulls {
	var all []*nulls
	seen := map[*nulls]bool{}
	for len(known) > 0 {
		n := known[0]
		known = known[1:]
		switch {
		case n == nil || seen[n]:
		case n.tag == "":
			all = append(all, n)
			known = append(known, n.any...)
		default:
			if kind := s.member(n.tag); kind.is(jsontext.KindString) {
				known = append(known, n.tags[kind.text()])
			}
		}
		if n != nil {
			seen[n] = true
		}
	}
	return all
}

func itemsOf(known []*nulls) []*nulls {
	var all []*nulls
	seen := map[*nulls]bool{}
	for len(known) > 0 {
		n := known[0]
		known = known[1:]
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		if n.items != nil {
			all = append(all, n.items)
		}
		known = append(known, n.any...)
	}
	return all
}

// merged joins what several variants say of a member. A null is ours where one made it so and none admits it by contract.
func merged(known []*nulls, name string) (ours bool, within []*nulls) {
	contract := false
	for _, n := range known {
		m, ok := n.members[name]
		if !ok {
			continue
		}
		ours = ours || m.ours
		contract = contract || m.contract
		if m.within != nil {
			within = append(within, m.within)
		}
	}
	return ours && !contract, within
}
