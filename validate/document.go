package validate

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
)

// schemaLimits bound a schema document: authors write them, nobody sends them at run time.
func schemaLimits() Limits {
	return Limits{Bytes: 16 << 20, Depth: 256, Members: 1 << 16, Items: 1 << 16, StringBytes: 1 << 20, NumberDigits: 400, Exponent: 400}
}

// loader makes nodes of a schema document and collects every fault on the way.
type loader struct {
	root   *value
	nodes  map[*value]*node
	refs   []*node
	faults []error
}

// load reads a schema document. The nodes are complete, references resolved; what the house's rules ask beyond
// the grammar of JSON Schema is lint's business.
func load(doc []byte) (*node, []byte, error) {
	root, fault := read(doc, schemaLimits())
	if fault != nil {
		return nil, nil, fmt.Errorf("the document: %w", fault)
	}
	l := &loader{root: &root, nodes: map[*value]*node{}}
	n := l.node(&root, "")
	for i := 0; i < len(l.refs); i++ { // resolving may load further nodes
		l.resolve(l.refs[i])
	}
	if len(l.faults) == 0 {
		l.cycles()
	}
	if len(l.faults) == 0 {
		l.fanOut()
	}
	for _, n := range l.nodes {
		n.union = branches(n)
	}
	if err := errors.Join(l.faults...); err != nil {
		return nil, nil, err
	}
	return n, root.raw, nil
}

func (l *loader) fail(where, format string, args ...any) {
	if where == "" {
		l.faults = append(l.faults, fmt.Errorf(format, args...))
		return
	}
	l.faults = append(l.faults, fmt.Errorf(where+": "+format, args...))
}

func (l *loader) node(v *value, where string) *node {
	if n, ok := l.nodes[v]; ok {
		return n
	}
	n := &node{
		where: where, minLength: unset, maxLength: unset, minItems: unset, maxItems: unset,
		minContains: unset, maxContains: unset, minProperties: unset, maxProperties: unset,
	}
	l.nodes[v] = n
	switch v.kind {
	case nullKind, numberKind, stringKind, arrayKind:
		l.fail(where, "a schema is an object or a boolean")
	case boolKind:
		verdict := v.raw[0] == 't'
		n.verdict = &verdict
	case objectKind:
		n.keywords, n.source = v.names, v
		for i, keyword := range v.names {
			l.keyword(n, keyword, &v.elems[i], v == l.root)
		}
	}
	return n
}

// keyword reads one keyword. The list is closed: an unknown keyword is a misspelt one, or a rule that nobody checks.
func (l *loader) keyword(n *node, keyword string, v *value, root bool) {
	w := n.where
	switch keyword {
	case "$schema":
		if !root || strings.TrimSuffix(v.text, "#") != "https://json-schema.org/draft/2020-12/schema" {
			l.fail(w, "$schema: only draft 2020-12, at the root")
		}
	case "$id":
		if l.text(n, keyword, v); !root {
			l.fail(w, "$id: only at the root, as a name; nothing is resolved against it")
		}
	case "title", "$comment":
		l.text(n, keyword, v)
	case "description":
		n.description = l.text(n, keyword, v)
	case "default":
		n.samples = append(n.samples, sample{keyword, v})
	case "examples":
		if v.kind != arrayKind {
			l.fail(w, "examples: must be an array")
		}
		for i := range v.elems {
			n.samples = append(n.samples, sample{keyword, &v.elems[i]})
		}
	case "deprecated", "readOnly", "writeOnly":
		l.boolean(n, keyword, v)
	case "$defs":
		l.schemas(v, w, "$defs", func(name string) string { return "$defs." + name })
	case "$ref":
		n.refName = l.text(n, keyword, v)
		l.refs = append(l.refs, n)
	case "type":
		n.types = l.types(n, v)
	case "const":
		n.constant = v
	case "enum":
		l.enum(n, v)
	case "minimum":
		n.minimum = l.bound(n, keyword, v)
	case "maximum":
		n.maximum = l.bound(n, keyword, v)
	case "exclusiveMinimum":
		n.exclusiveMinimum = l.bound(n, keyword, v)
	case "exclusiveMaximum":
		n.exclusiveMaximum = l.bound(n, keyword, v)
	case "multipleOf":
		if n.multipleOf = l.bound(n, keyword, v); n.multipleOf != nil && n.multipleOf.sign() <= 0 {
			l.fail(w, "multipleOf: must be above zero")
			n.multipleOf = nil
		}
	case "minLength":
		n.minLength = l.count(n, keyword, v)
	case "maxLength":
		n.maxLength = l.count(n, keyword, v)
	case "pattern":
		n.pattern = l.pattern(n, keyword, v, v.text)
	case "format":
		l.format(n, v)
	default:
		l.structural(n, keyword, v)
	}
}

func (l *loader) structural(n *node, keyword string, v *value) {
	w := n.where
	switch keyword {
	case "prefixItems":
		n.prefix = l.list(v, keyword, w, func(i int) string { return w + "[" + strconv.Itoa(i) + "]" })
	case "items":
		n.items = l.node(v, w+"[]")
	case "minItems":
		n.minItems = l.count(n, keyword, v)
	case "maxItems":
		n.maxItems = l.count(n, keyword, v)
	case "uniqueItems":
		n.uniqueItems = l.boolean(n, keyword, v)
	case "contains":
		n.contains = l.node(v, w+"[]")
	case "minContains":
		n.minContains = l.count(n, keyword, v)
	case "maxContains":
		n.maxContains = l.count(n, keyword, v)
	case "unevaluatedItems":
		n.unevaluatedItems = l.node(v, w+"[]")
	case "properties":
		n.properties = l.schemas(v, w, keyword, func(name string) string { return envelope.Member(w, name) })
		n.index = make(map[string]int, len(n.properties))
		for i, p := range n.properties {
			n.index[p.name] = i
		}
	case "patternProperties":
		for _, p := range l.schemas(v, w, keyword, func(string) string { return w + "{}" }) {
			if re := l.pattern(n, keyword, &value{kind: stringKind}, p.name); re != nil {
				n.patterns = append(n.patterns, patternProperty{re, p.node})
			}
		}
	case "additionalProperties":
		n.additional = l.node(v, w+"{}")
	case "propertyNames":
		n.propertyNames = l.node(v, w+"{}")
	case "required":
		n.required = l.strings(n, keyword, v)
	case "minProperties":
		n.minProperties = l.count(n, keyword, v)
	case "maxProperties":
		n.maxProperties = l.count(n, keyword, v)
	case "dependentRequired":
		l.dependent(n, v)
	case "dependentSchemas":
		n.dependentSchemas = l.schemas(v, w, keyword, func(string) string { return w })
	case "unevaluatedProperties":
		n.unevaluatedProperties = l.node(v, w+"{}")
	default:
		l.applicator(n, keyword, v)
	}
}

func (l *loader) applicator(n *node, keyword string, v *value) {
	same := func(int) string { return n.where }
	switch keyword {
	case "allOf":
		n.allOf = l.list(v, keyword, n.where, same)
		n.allOfOnce = once(n.allOf, v.elems)
	case "anyOf":
		n.anyOf = l.list(v, keyword, n.where, same)
	case "oneOf":
		n.oneOf = l.list(v, keyword, n.where, same)
	case "not":
		n.not = l.node(v, n.where)
	case "if":
		n.condition = l.node(v, n.where)
	case "then":
		n.then = l.node(v, n.where)
	case "else":
		n.otherwise = l.node(v, n.where)
	default:
		l.fail(n.where, "the keyword %q is not known here", keyword)
	}
}

func (l *loader) text(n *node, keyword string, v *value) string {
	if v.kind != stringKind {
		l.fail(n.where, "%s: must be a string", keyword)
	}
	return v.text
}

func (l *loader) boolean(n *node, keyword string, v *value) bool {
	if v.kind != boolKind {
		l.fail(n.where, "%s: must be true or false", keyword)
		return false
	}
	return v.raw[0] == 't'
}

func (l *loader) bound(n *node, keyword string, v *value) *bound {
	if v.kind != numberKind {
		l.fail(n.where, "%s: must be a number", keyword)
		return nil
	}
	return &bound{raw: v.raw, decimal: parseDecimal(v.raw)}
}

// maxCount is the largest count a schema may name; no limit admits more.
const maxCount = 1 << 30

func (l *loader) count(n *node, keyword string, v *value) int {
	if v.kind == numberKind {
		if c, ok := parseDecimal(v.raw).int64(); ok && c >= 0 {
			return int(min(c, maxCount))
		}
	}
	l.fail(n.where, "%s: must be a whole number, not below zero", keyword)
	return unset
}

func (l *loader) strings(n *node, keyword string, v *value) []string {
	if v.kind != arrayKind {
		l.fail(n.where, "%s: must be an array of names", keyword)
		return nil
	}
	var list []string
	for i := range v.elems {
		if v.elems[i].kind != stringKind || slices.Contains(list, v.elems[i].text) {
			l.fail(n.where, "%s: must be an array of different names", keyword)
			return nil
		}
		list = append(list, v.elems[i].text)
	}
	return list
}

func (l *loader) types(n *node, v *value) (t types) {
	list := []value{*v}
	if v.kind == arrayKind {
		list = v.elems
	}
	for i := range list {
		known := false
		for _, tn := range typeNames {
			if list[i].kind == stringKind && list[i].text == tn.name && !t.has(tn.bit) {
				t |= tn.bit
				known = true
			}
		}
		if !known {
			l.fail(n.where, "type: must be one of JSON Schema's, each once")
		}
	}
	if len(list) == 0 {
		l.fail(n.where, "type: admits nothing")
	}
	return t
}

func (l *loader) enum(n *node, v *value) {
	if v.kind != arrayKind || len(v.elems) == 0 {
		l.fail(n.where, "enum: must be an array with at least one value") // an empty one would admit all or nothing, as the reader likes
		return
	}
	if !new(sums).distinct(v.elems) {
		l.fail(n.where, "enum: a value stands twice")
	}
	for i := range v.elems {
		n.enum = append(n.enum, &v.elems[i])
		if v.elems[i].kind == numberKind {
			n.enumNumbers = append(n.enumNumbers, parseDecimal(v.elems[i].raw))
		}
	}
}

func (l *loader) pattern(n *node, keyword string, v *value, source string) *pattern {
	if v.kind != stringKind {
		l.fail(n.where, "%s: must be a string", keyword)
		return nil
	}
	p, err := compilePattern(source)
	if err != nil {
		l.fail(n.where, "%s: %w", keyword, err)
		return nil
	}
	return p
}

func (l *loader) format(n *node, v *value) {
	f, ok := formatNamed(l.text(n, "format", v))
	if !ok {
		l.fail(n.where, "format: not one that is asserted (date, date-time, time, duration, email, hostname, ipv4, ipv6, uri, uuid)")
		return
	}
	n.format = f
}

func (l *loader) list(v *value, keyword, where string, at func(int) string) []*node {
	if v.kind != arrayKind || len(v.elems) == 0 {
		l.fail(where, "%s: must be an array with at least one schema", keyword)
		return nil
	}
	var list []*node
	for i := range v.elems {
		list = append(list, l.node(&v.elems[i], at(i)))
	}
	return list
}

func (l *loader) schemas(v *value, where, keyword string, at func(string) string) []property {
	if v.kind != objectKind {
		l.fail(where, "%s: must be an object of schemas", keyword)
		return nil
	}
	list := make([]property, 0, len(v.names))
	for i, name := range v.names {
		list = append(list, property{name, l.node(&v.elems[i], at(name))})
	}
	return list
}

func (l *loader) dependent(n *node, v *value) {
	if v.kind != objectKind {
		l.fail(n.where, "dependentRequired: must be an object")
		return
	}
	for i, name := range v.names {
		n.dependentRequired = append(n.dependentRequired, dependency{name, l.strings(n, "dependentRequired", &v.elems[i])})
	}
}
