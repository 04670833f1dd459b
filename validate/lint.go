package validate

import (
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/envelope"
)

// linter asks of a schema what this library promises beyond JSON Schema: closed, bounded, spelt so that places can be shown.
type linter struct {
	seen   map[visit]bool
	faults []error
}

type visit struct {
	node   *node
	closed bool
}

func lint(n *node) error {
	l := linter{seen: map[visit]bool{}}
	l.place(n, false)
	return errors.Join(l.faults...)
}

func (l *linter) fail(n *node, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n.where != "" {
		text = n.where + ": " + text
	}
	l.faults = append(l.faults, errors.New(text))
}

// place lints a schema that alone describes a value. Within closed, a parent's unevaluatedProperties closes it.
func (l *linter) place(n *node, closed bool) {
	if l.seen[visit{n, closed}] {
		return
	}
	l.seen[visit{n, closed}] = true
	if n.verdict != nil {
		if *n.verdict {
			l.fail(n, "true admits anything; say what is admitted")
		}
		return
	}
	l.inside(n, closed || refuses(n.unevaluatedProperties))
	if n.constant != nil || n.enum != nil {
		return
	}
	if n.types == 0 {
		l.untyped(n, closed)
		return
	}
	if n.types.has(stringType) && !n.boundedText() {
		l.fail(n, "a string without a bound; give maxLength, enum, const or a pattern that ends")
	}
	if n.types.has(arrayType) {
		l.array(n)
	}
	if n.types.has(objectType) && !closed && n.union == nil {
		l.object(n)
	}
}

func (n *node) boundedText() bool {
	return n.maxLength >= 0 || n.pattern != nil && n.pattern.max >= 0 || n.format != noFormat && n.format.bounded()
}

// untyped admits a schema that says nothing of itself, when what it applies says it all.
func (l *linter) untyped(n *node, closed bool) {
	switch {
	case n.ref != nil, len(n.anyOf) > 0, len(n.oneOf) > 0, len(n.allOf) > 0 && (closed || refuses(n.unevaluatedProperties)):
	case len(n.allOf) > 0:
		l.fail(n, "allOf without unevaluatedProperties: false beside it leaves the object open")
	default:
		l.fail(n, "no type; a schema without one admits anything")
	}
}

func refuses(n *node) bool { return n != nil && n.verdict != nil && !*n.verdict }

func (l *linter) array(n *node) {
	if n.items == nil && (n.prefix == nil || n.maxItems < 0 || n.maxItems > len(n.prefix)) && n.unevaluatedItems == nil {
		l.fail(n, "an array whose items have no schema; give items")
	}
	if n.maxItems < 0 && !refuses(n.items) && !refuses(n.unevaluatedItems) {
		l.fail(n, "an array without a bound; give maxItems")
	}
}

func (l *linter) object(n *node) {
	switch {
	case refuses(n.additional), refuses(n.unevaluatedProperties):
	case n.additional == nil && n.unevaluatedProperties == nil:
		l.fail(n, "an open object; give additionalProperties: false")
	case n.maxProperties < 0:
		l.fail(n, "a map without a bound; give maxProperties")
	}
}

// inside lints the schemas within n: those of members and items stand alone, those for the same value do not.
func (l *linter) inside(n *node, closed bool) {
	l.names(n)
	for _, p := range n.properties {
		l.place(p.node, false)
	}
	for _, p := range n.patterns {
		l.place(p.node, false)
	}
	for _, sub := range append([]*node{n.items, n.additional, n.unevaluatedItems, n.unevaluatedProperties}, n.prefix...) {
		if sub != nil {
			l.place(sub, false)
		}
	}
	if n.ref != nil {
		l.place(n.ref, closed)
	}
	for _, list := range [][]*node{n.anyOf, n.oneOf} {
		for _, sub := range list {
			if n.types == 0 && len(n.properties) == 0 {
				l.place(sub, closed)
			} else {
				l.inside(sub, closed)
			}
		}
	}
	for _, sub := range n.allOf {
		if n.types == 0 {
			l.place(sub, closed)
		} else {
			l.inside(sub, closed)
		}
	}
	for _, sub := range []*node{n.then, n.otherwise} {
		if sub != nil {
			l.inside(sub, closed)
		}
	}
}

func (l *linter) names(n *node) {
	for _, p := range n.properties {
		if !envelope.Showable(p.name) {
			l.fail(n, "a member name must match ^[A-Za-z_][A-Za-z0-9_-]{0,63}$, since places are shown")
		}
	}
	if !refuses(n.additional) {
		return
	}
	for _, name := range n.required {
		if !n.declares(name) {
			l.fail(n, "required: %q is not declared, so that nothing can satisfy it", name)
		}
	}
}
