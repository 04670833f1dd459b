package validate

import (
	"net/url"
	"strconv"
	"strings"
)

// resolve follows a $ref: only into the same document, by JSON pointer (RFC 6901). Nothing is ever fetched.
func (l *loader) resolve(n *node) {
	fragment, local := strings.CutPrefix(n.refName, "#")
	if !local {
		l.fail(n.where, "$ref: only references into the same document, #/…")
		return
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil || pointer != "" && pointer[0] != '/' {
		l.fail(n.where, "$ref: not a JSON pointer")
		return
	}
	target := l.root
	where := ""
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if target = target.child(token); target == nil {
			l.fail(n.where, "$ref: there is nothing at %q", n.refName)
			return
		}
		where = token
	}
	if _, ok := l.nodes[target]; !ok {
		l.fail(n.where, "$ref: %q is no schema", n.refName)
		return
	}
	n.ref = l.node(target, where)
}

func (v *value) child(token string) *value {
	if v.kind == objectKind {
		return v.member(token)
	}
	i, err := strconv.Atoi(token)
	if v.kind != arrayKind || err != nil || i < 0 || i >= len(v.elems) || strconv.Itoa(i) != token {
		return nil
	}
	return &v.elems[i]
}

// cycles refuses schemas that apply themselves to the same value without end: {"$ref":"#"} and its kin.
func (l *loader) cycles() {
	const open, done = 1, 2
	state := map[*node]int{}
	var visit func(n *node) bool
	visit = func(n *node) bool {
		switch state[n] {
		case open:
			return false
		case done:
			return true
		}
		state[n] = open
		ok := true
		for _, sub := range n.sameValue() {
			ok = visit(sub) && ok
		}
		state[n] = done
		return ok
	}
	for _, n := range l.refs {
		if !visit(n) {
			l.fail(n.where, "$ref: leads back to itself without a member or an item between")
			return
		}
	}
}

// sameValue returns the subschemas that apply to the value that n applies to.
func (n *node) sameValue() []*node {
	list := n.annotating()
	if n.not != nil {
		list = append(list, n.not)
	}
	return list
}

// annotating returns those of them whose properties and items count as looked at (JSON Schema core 7.7 and 10.3).
func (n *node) annotating() []*node {
	var list []*node
	list = append(append(append(list, n.allOf...), n.anyOf...), n.oneOf...)
	for _, sub := range []*node{n.ref, n.condition, n.then, n.otherwise} {
		if sub != nil {
			list = append(list, sub)
		}
	}
	for _, d := range n.dependentSchemas {
		list = append(list, d.node)
	}
	return list
}

// maxApplied bounds how many schemas may apply to one value, by references and combinations: an allOf of two references
// to an allOf of two references, and so on, doubles at each step.
const maxApplied = 1000

func (l *loader) fanOut() {
	counts := map[*node]int{}
	var count func(n *node) int
	count = func(n *node) int {
		if c, ok := counts[n]; ok {
			return c
		}
		c := 1
		for _, sub := range n.sameValue() {
			c = min(c+count(sub), maxApplied+1)
		}
		counts[n] = c
		return c
	}
	for _, n := range l.nodes {
		if count(n) > maxApplied {
			l.fail("", "more than %d schemas apply to one value", maxApplied)
			return
		}
	}
}
