package validate

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
)

// Break is one change that an existing caller, or an existing reader of the output, would notice.
type Break struct {
	Path   string // of the field, "" for the whole document
	Rule   string // the JSON Schema keyword
	Before string // what it said, in words
	After  string // what it says now
}

// String says the change in one line.
func (b Break) String() string {
	return fmt.Sprintf("%s: %s: %s → %s", cmp.Or(b.Path, "the document"), b.Rule, b.Before, b.After)
}

// Compatible lists every incompatible change, in the order of the documents; empty when there is none.
//
// For inputs a change breaks when a document that before admits is refused by after. For outputs ([Output]) it breaks
// when after admits a document that before did not promise: closed contracts have readers that refuse an added field,
// optional or not. Where two keywords cannot be compared (patterns, formats, conditions), any difference breaks.
// Schemas of two directions are compared as outputs.
func Compatible(before, after *Schema) []Break {
	c := comparison{output: before.output || after.output, seen: map[[2]*node]bool{}}
	c.compare(before.root, after.root, "")
	return c.breaks
}

type comparison struct {
	output bool
	seen   map[[2]*node]bool
	breaks []Break
}

func (c *comparison) note(path, rule, before, after string) {
	c.breaks = append(c.breaks, Break{path, rule, before, after})
}

func (c *comparison) compare(b, a *node, path string) {
	b, a = b.follow(), a.follow()
	if c.seen[[2]*node{b, a}] {
		return
	}
	c.seen[[2]*node{b, a}] = true
	if b.union != nil && a.union != nil {
		c.unions(b, a, path)
		return
	}
	if bn, an := nullable(b.anyOf), nullable(a.anyOf); bn != nil || an != nil {
		c.nullables(b, a, bn, an, path)
		return
	}
	if b.union != nil || a.union != nil {
		c.note(path, "oneOf", describeUnion(b), describeUnion(a))
		return
	}
	c.types(b, a, path)
	c.values(b, a, path)
	c.numbers(b, a, path)
	c.same(path, "pattern", source(b), source(a))
	c.same(path, "format", b.format.String(), a.format.String())
	c.most(path, "maxLength", b.maxLength, a.maxLength)
	c.least(path, "minLength", b.minLength, a.minLength)
	c.arrays(b, a, path)
	c.objects(b, a, path)
	c.rest(b, a, path)
}

// narrower reports a change to fewer documents, which breaks callers, or to more, which breaks readers.
func (c *comparison) narrower(narrowed, widened bool) bool {
	if c.output {
		return widened
	}
	return narrowed
}

func (c *comparison) types(b, a *node, path string) {
	bt, at := widen(b.types), widen(a.types)
	if c.narrower(bt&^at != 0 || bt == 0 && at != 0, at&^bt != 0 || at == 0 && bt != 0) {
		c.note(path, "type", cmp.Or(b.types.String(), "any"), cmp.Or(a.types.String(), "any"))
	}
}

// widen lets number stand for integer too.
func widen(t types) types {
	if t.has(numberType) {
		t |= integerType
	}
	return t
}

func (c *comparison) values(b, a *node, path string) {
	bv, av := b.admitted(), a.admitted()
	if bv == nil && av == nil {
		return
	}
	lost := av != nil && (bv == nil || slices.ContainsFunc(bv, func(v *value) bool { return !oneOfValues(av, v) }))
	gained := bv != nil && (av == nil || slices.ContainsFunc(av, func(v *value) bool { return !oneOfValues(bv, v) }))
	if c.narrower(lost, gained) {
		c.note(path, "enum", words(bv), words(av))
	}
}

// admitted returns the values of enum or const; nil where the schema has neither.
func (n *node) admitted() []*value {
	if n.constant != nil {
		return []*value{n.constant}
	}
	return n.enum
}

func words(list []*value) string {
	if list == nil {
		return "any"
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v.raw)
	}
	return strings.Join(texts, ", ")
}

func (c *comparison) numbers(b, a *node, path string) {
	c.bound(path, "minimum", b.minimum, a.minimum, 1)
	c.bound(path, "maximum", b.maximum, a.maximum, -1)
	c.bound(path, "exclusiveMinimum", b.exclusiveMinimum, a.exclusiveMinimum, 1)
	c.bound(path, "exclusiveMaximum", b.exclusiveMaximum, a.exclusiveMaximum, -1)
	bm, am := b.multipleOf, a.multipleOf
	lost := am != nil && (bm == nil || !bm.decimal.multipleOf(am.decimal))
	gained := bm != nil && (am == nil || !am.decimal.multipleOf(bm.decimal))
	if c.narrower(lost, gained) {
		c.note(path, "multipleOf", boundWord(bm), boundWord(am))
	}
}

// bound compares bounds of which a change in the direction of sign admits fewer numbers.
func (c *comparison) bound(path, rule string, b, a *bound, sign int) {
	move := 0
	switch {
	case b == nil && a == nil:
	case b == nil:
		move = 1
	case a == nil:
		move = -1
	default:
		move = sign * a.compare(b.decimal)
	}
	if c.narrower(move > 0, move < 0) {
		c.note(path, rule, boundWord(b), boundWord(a))
	}
}

func boundWord(b *bound) string {
	if b == nil {
		return "none"
	}
	return string(b.raw)
}

func (c *comparison) most(path, rule string, b, a int) {
	narrowed := a >= 0 && (b < 0 || a < b)
	widened := b >= 0 && (a < 0 || a > b)
	if c.narrower(narrowed, widened) {
		c.note(path, rule, countWord(b), countWord(a))
	}
}

func (c *comparison) least(path, rule string, b, a int) {
	b, a = max(b, 0), max(a, 0)
	if c.narrower(a > b, a < b) {
		c.note(path, rule, countWord(b), countWord(a))
	}
}

func countWord(n int) string {
	if n < 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

func (c *comparison) same(path, rule, b, a string) {
	if b == a {
		return
	}
	if c.narrower(a != "", b != "") {
		c.note(path, rule, cmp.Or(b, "none"), cmp.Or(a, "none"))
	}
}

func source(n *node) string {
	if n.pattern == nil {
		return ""
	}
	return n.pattern.source
}

func (c *comparison) arrays(b, a *node, path string) {
	c.most(path, "maxItems", b.maxItems, a.maxItems)
	c.least(path, "minItems", b.minItems, a.minItems)
	if c.narrower(a.uniqueItems && !b.uniqueItems, b.uniqueItems && !a.uniqueItems) {
		c.note(path, "uniqueItems", strconv.FormatBool(b.uniqueItems), strconv.FormatBool(a.uniqueItems))
	}
	if len(b.prefix) != len(a.prefix) {
		c.note(path, "prefixItems", strconv.Itoa(len(b.prefix)), strconv.Itoa(len(a.prefix)))
		return
	}
	for i := range b.prefix {
		c.compare(b.prefix[i], a.prefix[i], envelope.Index(path, i))
	}
	c.optional(b.items, a.items, path, "items", path+"[]")
}

// optional compares subschemas of which either may be missing, which admits everything.
func (c *comparison) optional(b, a *node, path, rule, inner string) {
	switch {
	case b == nil && a == nil:
	case b != nil && a != nil && b.verdict == nil && a.verdict == nil:
		c.compare(b, a, inner)
	case refuses(b) && refuses(a):
	case c.narrower(refuses(a) || b == nil, refuses(b) || a == nil):
		c.note(path, rule, openness(b), openness(a))
	}
}

func openness(n *node) string {
	switch {
	case n == nil:
		return "open"
	case refuses(n):
		return "closed"
	}
	return "open to values of a schema"
}

func (c *comparison) objects(b, a *node, path string) {
	c.most(path, "maxProperties", b.maxProperties, a.maxProperties)
	c.least(path, "minProperties", b.minProperties, a.minProperties)
	for _, p := range b.properties {
		inner := envelope.Member(path, p.name)
		if after := a.property(p.name); after != nil {
			c.compare(p.node, after, inner)
		} else {
			c.note(inner, "properties", "declared", "removed")
		}
	}
	for _, p := range a.properties {
		if b.property(p.name) == nil {
			c.added(a, path, p.name)
		}
	}
	c.required(b, a, path)
	c.optional(b.additional, a.additional, path, "additionalProperties", path+"{}")
	c.optional(b.unevaluatedProperties, a.unevaluatedProperties, path, "unevaluatedProperties", path+"{}")
}

func (c *comparison) added(a *node, path, name string) {
	switch {
	case c.output:
		c.note(envelope.Member(path, name), "properties", "not declared", "added")
	case slices.Contains(a.required, name):
		c.note(envelope.Member(path, name), "required", "not declared", "required")
	}
}

func (c *comparison) required(b, a *node, path string) {
	for _, p := range b.properties {
		if a.property(p.name) == nil {
			continue
		}
		was, is := slices.Contains(b.required, p.name), slices.Contains(a.required, p.name)
		if c.narrower(is && !was, was && !is) {
			c.note(envelope.Member(path, p.name), "required", optionality(was), optionality(is))
		}
	}
}

func optionality(required bool) string {
	if required {
		return "required"
	}
	return "optional"
}

func (c *comparison) unions(b, a *node, path string) {
	for _, kind := range kinds(b) {
		if branch := a.union[kind]; branch != nil {
			c.compare(b.union[kind], branch, path+"<"+kind+">")
		} else if !c.output {
			c.note(path+"<"+kind+">", "oneOf", "a branch", "removed")
		}
	}
	for _, kind := range kinds(a) {
		if b.union[kind] == nil && c.output {
			c.note(path+"<"+kind+">", "oneOf", "not a branch", "added")
		}
	}
}

func kinds(n *node) []string {
	list := make([]string, 0, len(n.oneOf))
	for _, sub := range n.oneOf {
		list = append(list, sub.follow().property(discriminator).constant.text)
	}
	return list
}

func describeUnion(n *node) string {
	if n.union == nil {
		return cmp.Or(n.types.String(), "any")
	}
	return "a union of " + strings.Join(kinds(n), ", ")
}

// nullables compares schemas of which at least one admits null beside another schema.
func (c *comparison) nullables(b, a, bn, an *node, path string) {
	if c.narrower(bn != nil && an == nil, an != nil && bn == nil) {
		c.note(path, "anyOf", nullWord(bn), nullWord(an))
	}
	if bn != nil {
		b = bn
	}
	if an != nil {
		a = an
	}
	c.compare(b, a, path)
}

func nullWord(n *node) string {
	if n != nil {
		return "may be null"
	}
	return "not null"
}

// rest takes any difference in the keywords that cannot be compared for a break.
func (c *comparison) rest(b, a *node, path string) {
	for _, keyword := range []string{
		"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contains", "minContains", "maxContains",
		"patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "unevaluatedItems",
	} {
		bt, at := b.keywordText(keyword), a.keywordText(keyword)
		if !bytes.Equal(bt, at) {
			c.note(path, keyword, cmp.Or(string(bt), "none"), cmp.Or(string(at), "none"))
		}
	}
}

// keywordText returns the canonical text of one keyword of the schema, nil where it does not stand there.
func (n *node) keywordText(keyword string) []byte {
	if n.source == nil {
		return nil
	}
	v := n.source.member(keyword)
	if v == nil {
		return nil
	}
	return appendCanonical(nil, v)
}
