package validate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
)

// linter asks of a schema what this library promises beyond JSON Schema: closed, bounded, spelt so that places can be shown.
type linter struct {
	seen   map[visit]bool
	faults []error
}

// scope is what is known of the value that a schema applies to, from the schemas that apply it.
type scope struct {
	closed bool // an unevaluatedProperties closes it
	typed  bool // its type is said, and its bounds
}

type visit struct {
	node  *node
	scope scope
}

func lint(n *node) error {
	l := linter{seen: map[visit]bool{}}
	l.schema(n, scope{})
	return errors.Join(l.faults...)
}

func (l *linter) fail(n *node, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n.where != "" {
		text = n.where + ": " + text
	}
	l.faults = append(l.faults, errors.New(text))
}

// schema lints a schema and all within it.
func (l *linter) schema(n *node, in scope) {
	if l.seen[visit{n, in}] {
		return
	}
	l.seen[visit{n, in}] = true
	if n.verdict != nil {
		if *n.verdict && !in.typed {
			l.fail(n, "true admits anything; say what is admitted")
		}
		return
	}
	l.names(n)
	l.samples(n)
	l.satisfiable(n)
	l.members(n)
	l.sameValue(n, scope{
		closed: in.closed || refuses(n.unevaluatedProperties),
		typed:  in.typed || n.types != 0 || n.constant != nil || n.enum != nil,
	})
	if n.constant != nil || n.enum != nil {
		return
	}
	if n.types == 0 {
		if !in.typed {
			l.untyped(n, in.closed)
		}
		return
	}
	if n.types.has(stringType) && !n.boundedText() && !in.typed {
		l.fail(n, "a string without a bound; give maxLength, enum, const or a pattern that ends")
	}
	if n.types.has(arrayType) && !in.typed {
		l.array(n)
	}
	if n.types.has(objectType) && !in.closed && !in.typed && n.union == nil {
		l.object(n)
	}
	if refuses(n.unevaluatedProperties) && n.additional == nil && n.maxProperties < 0 && n.opens(objectType) {
		l.fail(n, "unevaluatedProperties: false closes nothing beside a map without a bound; give maxProperties")
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
	if n.maxItems < 0 && !refuses(n.items) && (!refuses(n.unevaluatedItems) || n.opens(arrayType)) {
		l.fail(n, "an array without a bound; give maxItems")
	}
}

func (l *linter) object(n *node) {
	switch {
	case n.additional == nil && n.unevaluatedProperties == nil:
		l.fail(n, "an open object; give additionalProperties: false")
	case n.maxProperties >= 0, n.additional == nil && refuses(n.unevaluatedProperties): // the latter is looked at for every scope
	case !refuses(n.additional) || n.anyPattern():
		l.fail(n, "a map without a bound; give maxProperties")
	}
}

// opens reports whether a schema for the value that n is for looks at any number of its members, or of its items: the
// unevaluatedProperties or unevaluatedItems of n is not asked about those.
func (n *node) opens(t types) bool {
	seen := map[*node]bool{}
	var visit func(sub *node) bool
	visit = func(sub *node) bool {
		if seen[sub] {
			return false
		}
		seen[sub] = true
		own := sub == n
		switch {
		case t == arrayType:
			if own && (sub.contains != nil || free(sub.items)) ||
				!own && sub.maxItems < 0 && (sub.contains != nil || free(sub.items) || free(sub.unevaluatedItems)) {
				return true
			}
		case own && sub.anyPattern(),
			!own && sub.maxProperties < 0 && (free(sub.additional) || free(sub.unevaluatedProperties) || sub.anyPattern()):
			return true
		}
		return slices.ContainsFunc(sub.annotating(), visit)
	}
	return visit(n)
}

// free reports whether a subschema is there and admits something.
func free(n *node) bool { return n != nil && !refuses(n) }

// anyPattern reports whether patternProperties admit members, of any number of names.
func (n *node) anyPattern() bool {
	return slices.ContainsFunc(n.patterns, func(p patternProperty) bool { return free(p.node) })
}

// members lints the schemas of what is in the value.
func (l *linter) members(n *node) {
	for _, p := range n.properties {
		l.schema(p.node, scope{})
	}
	for _, p := range n.patterns {
		l.schema(p.node, scope{})
	}
	for _, sub := range append([]*node{n.items, n.additional, n.unevaluatedItems, n.unevaluatedProperties}, n.prefix...) {
		if sub != nil {
			l.schema(sub, scope{})
		}
	}
}

// sameValue lints the schemas for the value itself; conditions only ask, and admit nothing.
func (l *linter) sameValue(n *node, in scope) {
	list := append(append(append([]*node{n.ref}, n.allOf...), n.anyOf...), n.oneOf...)
	for _, sub := range list {
		if sub != nil {
			l.schema(sub, in)
		}
	}
	in.typed = true
	for _, sub := range []*node{n.then, n.otherwise} {
		if sub != nil {
			l.schema(sub, in)
		}
	}
	for _, d := range n.dependentSchemas {
		l.schema(d.node, in)
	}
}

// samples refuses defaults and examples that the schema itself refuses: models copy them.
func (l *linter) samples(n *node) {
	for _, s := range n.samples {
		if len(explain(n, s.value)) > 0 {
			l.fail(n, "%s: does not obey the schema that it stands in", s.keyword)
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
