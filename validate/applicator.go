package validate

import "slices"

// applicators checks the keywords that apply other schemas to the same value (JSON Schema core 10.2).
func (j *judge) applicators(n *node, v *value) {
	for _, sub := range n.allOfOnce {
		j.part(sub, v)
	}
	if n.anyOf != nil {
		j.anyOf(n, v)
	}
	switch {
	case n.union != nil:
		j.unionValue(n, v)
	case n.oneOf != nil:
		if j.count(n.oneOf, v) != 1 {
			j.note("oneOf")
		}
	}
	if n.not != nil && j.valid(n.not, v) {
		j.note("not")
	}
	if n.condition != nil {
		j.conditional(n, v)
	}
	if v.kind == objectKind {
		for _, d := range n.dependentSchemas {
			if v.member(d.name) != nil {
				j.part(d.node, v)
			}
		}
	}
}

func (j *judge) count(subs []*node, v *value) (n int) {
	for _, sub := range subs {
		if j.valid(sub, v) {
			n++
		}
	}
	return n
}

// anyOf names the keyword, except where the other choice is null: then what is wrong with the value itself helps more.
func (j *judge) anyOf(n *node, v *value) {
	if other := nullable(n.anyOf); other != nil {
		if v.kind != nullKind {
			j.part(other, v)
		}
		return
	}
	if !slices.ContainsFunc(n.anyOf, func(sub *node) bool { return j.valid(sub, v) }) {
		j.note("anyOf")
	}
}

// nullable returns the one other choice beside null; nil where it is another kind of choice.
func nullable(subs []*node) *node {
	if len(subs) != 2 {
		return nil
	}
	for i, sub := range subs {
		if sub.types == nullType && len(sub.keywords) == 1 {
			return subs[1-i]
		}
	}
	return nil
}

func (j *judge) conditional(n *node, v *value) {
	switch holds := j.valid(n.condition, v); {
	case holds && n.then != nil:
		j.part(n.then, v)
	case !holds && n.otherwise != nil:
		j.part(n.otherwise, v)
	}
}

// discriminator is the member that says which branch of a union a value is.
const discriminator = "kind"

// unionValue checks a closed discriminated union: first members that no branch declares, then the discriminator, then
// the branch as a closed object.
func (j *judge) unionValue(n *node, v *value) {
	if v.kind != objectKind {
		j.note("type")
		return
	}
	for _, name := range v.names {
		if !n.anyBranchDeclares(name) {
			j.undeclared(name, "additionalProperties")
		}
	}
	kind := v.member(discriminator)
	if kind == nil {
		j.missing(discriminator, "required")
		return
	}
	branch := n.union[kind.text]
	if kind.kind != stringKind || branch == nil {
		j.at = append(j.at, member(discriminator))
		if kind.kind != stringKind {
			j.note("type")
		} else {
			j.nul(kind)
			j.note("const")
		}
		j.at = j.at[:len(j.at)-1]
		return
	}
	j.value(branch, v)
}

func (n *node) anyBranchDeclares(name string) bool {
	for _, branch := range n.oneOf {
		if _, ok := branch.follow().index[name]; ok {
			return true
		}
	}
	return false
}

// unevaluated notes the members that no schema beside or under n has looked at (JSON Schema core 11.3).
func (j *judge) unevaluated(n *node, v *value) {
	evaluated := map[string]bool{}
	j.evaluatedMembers(n, v, evaluated, true)
	for i, name := range v.names {
		if evaluated[name] {
			continue
		}
		if n.unevaluatedProperties.verdict != nil && !*n.unevaluatedProperties.verdict {
			j.undeclared(name, "unevaluatedProperties")
			continue
		}
		j.at = append(j.at, member(name))
		j.value(n.unevaluatedProperties, &v.elems[i])
		j.at = j.at[:len(j.at)-1]
	}
}

// evaluatedMembers adds the members that n evaluates; at the top the unevaluatedProperties of n itself does not count.
func (j *judge) evaluatedMembers(n *node, v *value, into map[string]bool, top bool) {
	if j.spend(len(v.names)); j.spent() {
		return
	}
	for _, name := range v.names {
		if n.declares(name) || n.additional != nil || !top && n.unevaluatedProperties != nil {
			into[name] = true
		}
	}
	j.inPlace(n, v, func(sub *node) { j.evaluatedMembers(sub, v, into, false) })
}

// evaluatedItems is the same of items.
func (j *judge) evaluatedItems(n *node, v *value, into map[int]bool, top bool) {
	if j.spend(len(v.elems)); j.spent() {
		return
	}
	for i := range v.elems {
		if i < len(n.prefix) || n.items != nil || !top && n.unevaluatedItems != nil || n.contains != nil && j.valid(n.contains, &v.elems[i]) {
			into[i] = true
		}
	}
	j.inPlace(n, v, func(sub *node) { j.evaluatedItems(sub, v, into, false) })
}

// inPlace visits the subschemas of n that apply to v itself and accept it: only those annotate. What v must obey anyway
// is visited in any case: if it does not, that is what has to be said, and not that its members are unknown.
func (j *judge) inPlace(n *node, v *value, visit func(*node)) {
	accept := func(sub *node) {
		if sub != nil && j.valid(sub, v) {
			visit(sub)
		}
	}
	if n.ref != nil {
		visit(n.ref)
	}
	for _, sub := range n.allOfOnce {
		visit(sub)
	}
	for _, list := range [][]*node{n.anyOf, n.oneOf} {
		for _, sub := range list {
			accept(sub)
		}
	}
	for _, d := range n.dependentSchemas {
		if v.member(d.name) != nil {
			accept(d.node)
		}
	}
	if n.condition == nil {
		return
	}
	if j.valid(n.condition, v) {
		visit(n.condition)
		accept(n.then)
	} else {
		accept(n.otherwise)
	}
}
