package validate

import (
	"encoding/binary"
	"math"
	"math/bits"
	"reflect"
	"slices"
)

// check is a node made ready for the scan: one part for each kind of value, nil or false where the kind is refused.
type check struct {
	text          *textCheck
	number        *numberCheck
	object        *objectCheck // declared members
	union         *unionCheck  // or a choice by discriminator
	members       *mapCheck    // or members of any name
	array         *arrayCheck
	yes, no, null bool
}

type textCheck struct {
	min, max int       // code points
	values   []literal // of enum and const; nil: any
	pattern  *pattern
	format   formatID
	goTime   bool
	mode     textMode
}

// textMode is how a text is read.
type textMode uint8

const (
	anyText     textMode = iota // only the length is bounded
	listedText                  // one of a list
	segmentText                 // by byte loops, on the document
	matchedText                 // by pattern or format
)

// goNumber is what the Go type behind a number takes.
type goNumber uint8

const (
	anyNumber goNumber = iota // no Go type
	floatNumber
	signedNumber
	unsignedNumber
)

type numberCheck struct {
	low, high                      int64 // of whole numbers within 18 digits
	simple                         bool  // low and high say all for those
	integer                        bool
	go2                            goNumber
	minimum, maximum, above, below *decimal
	multiple                       *multiple
	values                         []decimal
}

// multiple is multipleOf as mantissa × 10^exponent.
type multiple struct {
	mantissa int64
	exponent int
}

type arrayCheck struct {
	min, max int
	unique   bool
	prefix   []*check
	items    *check
}

type mapCheck struct {
	min, max int
	values   *check
}

// maxProperties is how many declared members the bit set of seen members holds.
const maxProperties = 256

// maxName is room for the longest declared name, in bytes, and a code point more.
const maxName = 72

type objectCheck struct {
	members  []namedCheck
	required [maxProperties / 64]uint64
	needs    []need
	min, max int
	simple   bool     // only required, among the first 64 members, speaks of the whole
	table    []uint16 // perfect hash of the names: index + 1
	seed     uint64
	shift    uint8
}

type namedCheck struct {
	name  literal
	check *check
}

// need is one dependentRequired.
type need struct {
	trigger int
	needs   [maxProperties / 64]uint64
}

type unionCheck struct {
	discriminator literal
	kinds         []literal
	branches      []*objectCheck
	skipped       *check // of a member before the discriminator, at first
}

// complete reports whether the members that were seen are enough: end, or no.
func (c *objectCheck) complete(seen *[maxProperties / 64]uint64, count, end int) int {
	for i, r := range c.required {
		if seen[i]&r != r {
			return no
		}
	}
	if count < c.min || count > c.max {
		return no
	}
	for i := range c.needs {
		n := &c.needs[i]
		if seen[n.trigger>>6]&(1<<(n.trigger&63)) == 0 {
			continue
		}
		for k, r := range n.needs {
			if seen[k]&r != r {
				return no
			}
		}
	}
	return end
}

// literal is a text that a document is compared with, its closing quote included, eight bytes at a time.
type literal struct {
	head, mask, last uint64
	size             int    // with the quote
	text             string // without it
	quoted           string
}

func newLiteral(text string) literal {
	l := literal{text: text, quoted: text + `"`, size: len(text) + 1}
	var b [8]byte
	copy(b[:], l.quoted)
	l.head = binary.LittleEndian.Uint64(b[:])
	l.mask = math.MaxUint64
	if l.size < 8 {
		l.mask = 1<<(8*l.size) - 1
	} else {
		l.last = binary.LittleEndian.Uint64([]byte(l.quoted[l.size-8:]))
	}
	return l
}

// at reports whether the text and a quote stand at i.
func (l *literal) at(doc []byte, i int) bool {
	if i+8 <= len(doc) {
		if binary.LittleEndian.Uint64(doc[i:])&l.mask != l.head {
			return false
		}
		if l.size <= 8 {
			return true
		}
	}
	return l.rest(doc, i)
}

func (l *literal) rest(doc []byte, i int) bool {
	end := i + l.size
	if end > len(doc) {
		return false
	}
	if l.size > 8 && l.size <= 16 {
		return binary.LittleEndian.Uint64(doc[end-8:]) == l.last && binary.LittleEndian.Uint64(doc[i:]) == l.head
	}
	return string(doc[i:end]) == l.quoted
}

// lookup returns the index of the member whose name is the n bytes at i, or -1.
func (c *objectCheck) lookup(doc []byte, i, n int, head uint64) int {
	if len(c.table) == 0 {
		return -1
	}
	k := c.table[c.slot(nameWord(doc, i, n, head))]
	if k == 0 || !c.members[k-1].name.at(doc, i) {
		return -1
	}
	return int(k - 1)
}

func (c *objectCheck) slot(w uint64) uint64 { return w * c.seed >> (c.shift & 63) }

// nameWord folds a name's first bytes, which head holds, its last ones and its length into one word.
func nameWord(doc []byte, i, n int, head uint64) uint64 {
	if n >= 8 {
		return head ^ bits.RotateLeft64(binary.LittleEndian.Uint64(doc[i+n-8:]), 29) + uint64(n)
	}
	return head&(1<<(8*n)-1) + uint64(n)
}

// index makes the perfect hash; names whose words collide whatever the seed leave the table empty and false.
func (c *objectCheck) index() bool {
	words := make([]uint64, len(c.members))
	for i := range c.members {
		name := []byte(c.members[i].name.quoted)
		words[i] = nameWord(name, 0, len(name)-1, lastBytes(name[:min(8, len(name))], 0))
	}
	for size := 2; size <= 1<<14; size *= 2 {
		if size < 2*len(words) {
			continue
		}
		c.shift = uint8(64 - bits.TrailingZeros(uint(size)))
		c.seed = 0x9E3779B97F4A7C15
		for range 64 {
			if c.fill(words, size) {
				return true
			}
			c.seed = c.seed*0xD1342543DE82EF95 + 2 | 1
		}
	}
	c.table = nil
	return false
}

func (c *objectCheck) fill(words []uint64, size int) bool {
	c.table = make([]uint16, size)
	for i, w := range words {
		slot := &c.table[c.slot(w)]
		if *slot != 0 {
			return false
		}
		*slot = uint16(i + 1) //nolint:gosec // at most maxProperties
	}
	return true
}

// compiler makes checks of nodes; each node once, so that a recursive schema becomes a graph.
type compiler struct {
	made     map[*node]*check
	outside  bool           // a keyword, or a combination, that the scan does not know
	optional map[*node]bool // choices beside null
	late     []copied
}

// copied is a check that becomes another one with null beside it, when all are built.
type copied struct{ from, to *check }

// anything admits every value. It refers to itself, and is not changed once it is made.
var anything = newAnything() //nolint:gochecknoglobals // a constant that Go cannot spell as one

func newAnything() *check {
	c := &check{
		text: &textCheck{max: math.MaxInt}, number: &numberCheck{low: math.MinInt64, high: math.MaxInt64, simple: true},
		yes: true, no: true, null: true,
	}
	c.array = &arrayCheck{max: math.MaxInt, items: c}
	c.members = &mapCheck{max: math.MaxInt, values: c}
	return c
}

const anyType = nullType | booleanType | numberType | stringType | arrayType | objectType

// program returns the check of a schema; false where the scan cannot decide it.
func program(root *node) (*check, bool) {
	c := compiler{made: map[*node]*check{}, optional: map[*node]bool{}}
	p := c.check(root)
	for _, l := range c.late {
		*l.to = *l.from
		l.to.null = true
	}
	return p, !c.outside
}

func (c *compiler) check(n *node) *check {
	if n == nil { // nothing is said
		return anything
	}
	if n.ref != nil && n.bare() {
		return c.check(n.ref)
	}
	if made, ok := c.made[n]; ok {
		return made
	}
	out := &check{}
	c.made[n] = out
	switch {
	case n.verdict != nil && *n.verdict:
		*out = *anything
	case n.verdict != nil:
	case n.uncovered():
		c.outside = true
	default:
		c.build(n, out)
	}
	return out
}

func (c *compiler) build(n *node, out *check) {
	if n.ref != nil {
		c.outside = true // a reference with rules beside it
		return
	}
	if other := nullable(n.anyOf); other != nil {
		if c.optional[n] = true; !n.bare() || c.optional[other.follow()] || nullable(other.follow().anyOf) != nil {
			c.outside = true
			return
		}
		c.late = append(c.late, copied{from: c.check(other), to: out})
		return
	}
	if n.allOf != nil {
		c.merge(n, out)
		return
	}
	t := n.types
	if t == 0 {
		t = anyType
	}
	if n.union != nil {
		c.union(n, t, out)
		return
	}
	c.kinds(n, t, out)
}

// bare reports whether the schema says nothing but what it refers to, applies or describes.
func (n *node) bare() bool {
	for _, k := range n.keywords {
		switch k {
		case "$ref", "anyOf", "title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$defs":
		default:
			return false
		}
	}
	return true
}

func (c *compiler) kinds(n *node, t types, out *check) {
	values := n.admitted()
	if n.constant != nil && n.enum != nil {
		c.outside = true
		return
	}
	admits := func(k kind) bool {
		return values == nil || slices.ContainsFunc(values, func(v *value) bool { return v.kind == k })
	}
	out.null = t.has(nullType) && admits(nullKind)
	if t.has(booleanType) {
		out.yes = values == nil || slices.ContainsFunc(values, func(v *value) bool { return v.kind == boolKind && v.raw[0] == 't' })
		out.no = values == nil || slices.ContainsFunc(values, func(v *value) bool { return v.kind == boolKind && v.raw[0] == 'f' })
	}
	if t.has(stringType) && admits(stringKind) {
		out.text = textOf(n, values)
	}
	if t&(numberType|integerType) != 0 && admits(numberKind) {
		out.number = c.numberOf(n, t, values)
	}
	if values != nil {
		if slices.ContainsFunc(values, func(v *value) bool { return v.kind >= arrayKind }) {
			c.outside = true
		}
		return
	}
	if t.has(arrayType) {
		out.array = c.arrayOf(n)
	}
	if t.has(objectType) {
		c.objectOf(n, out)
	}
}

func textOf(n *node, values []*value) *textCheck {
	t := &textCheck{min: max(n.minLength, 0), max: math.MaxInt, pattern: n.pattern, goTime: n.goTime}
	if n.maxLength >= 0 {
		t.max = n.maxLength
	}
	t.format = n.format
	j := judge{max: 1, memo: map[pair]bool{}}
	for _, v := range values {
		if v.kind != stringKind {
			continue
		}
		if j.text(n, v); len(j.found) > 0 { // a value that the other keywords refuse
			j.found = nil
			continue
		}
		t.values = append(t.values, newLiteral(v.text))
	}
	if values != nil && t.values == nil {
		t.values = []literal{} // none is admitted
	}
	switch {
	case values != nil:
		t.mode = listedText
	case t.pattern != nil && t.pattern.loops != nil && t.format == noFormat:
		t.mode = segmentText
	case t.pattern != nil || t.format != noFormat:
		t.mode = matchedText
	}
	return t
}

func (c *compiler) numberOf(n *node, t types, values []*value) *numberCheck {
	k := &numberCheck{low: math.MinInt64, high: math.MaxInt64, simple: n.multipleOf == nil && values == nil, integer: !t.has(numberType)}
	switch _, _, integer := integerBounds(n.goKind); {
	case unsigned(n.goKind):
		k.go2 = unsignedNumber
	case integer:
		k.go2 = signedNumber
	case n.goKind == reflect.Float32, n.goKind == reflect.Float64:
		k.go2 = floatNumber
	}
	for _, v := range values {
		if v.kind == numberKind {
			k.values = append(k.values, parseDecimal(v.raw))
		}
	}
	if values != nil && k.values == nil {
		k.values = []decimal{}
	}
	if n.minimum != nil {
		k.minimum = &n.minimum.decimal
		k.low = wholeBound(n.minimum.decimal, math.MinInt64, &k.simple)
	}
	if n.maximum != nil {
		k.maximum = &n.maximum.decimal
		k.high = wholeBound(n.maximum.decimal, math.MaxInt64, &k.simple)
	}
	if n.exclusiveMinimum != nil {
		k.above, k.simple = &n.exclusiveMinimum.decimal, false
	}
	if n.exclusiveMaximum != nil {
		k.below, k.simple = &n.exclusiveMaximum.decimal, false
	}
	if m := n.multipleOf; m != nil {
		whole := decimal{digits: m.digits, point: len(m.digits)}
		mantissa, ok := whole.int64()
		if !ok || len(m.digits) > 18 {
			c.outside = true
			return k
		}
		k.multiple = &multiple{mantissa: mantissa, exponent: m.point - len(m.digits)}
	}
	return k
}

// wholeBound returns a bound as an int64. One beyond int64 does not matter for numbers of 18 digits; one with a
// fraction makes the comparison less simple.
func wholeBound(d decimal, far int64, simple *bool) int64 {
	if v, ok := d.int64(); ok {
		return v
	}
	if d.integer() && d.negative == (far < 0) {
		return far
	}
	*simple = false
	return far
}

func (c *compiler) arrayOf(n *node) *arrayCheck {
	a := &arrayCheck{min: max(n.minItems, 0), max: math.MaxInt, unique: n.uniqueItems}
	if n.maxItems >= 0 {
		a.max = n.maxItems
	}
	for _, p := range n.prefix {
		a.prefix = append(a.prefix, c.check(p))
	}
	a.items = c.check(n.items)
	return a
}

func (c *compiler) objectOf(n *node, out *check) {
	if n.unevaluatedProperties != nil && n.additional == nil {
		n = &node{ // nothing else evaluates members here: it says what additionalProperties says
			properties: n.properties, index: n.index, additional: n.unevaluatedProperties, required: n.required,
			minProperties: n.minProperties, maxProperties: n.maxProperties, dependentRequired: n.dependentRequired,
		}
	}
	if refuses(n.additional) {
		out.object = &objectCheck{}
		c.closed(n, out.object)
		return
	}
	if len(n.properties) > 0 || len(n.required) > 0 || len(n.dependentRequired) > 0 {
		c.outside = true // an open object with declared members, or members that are required and not declared
		return
	}
	out.members = &mapCheck{min: max(n.minProperties, 0), max: math.MaxInt, values: c.check(n.additional)}
	if n.maxProperties >= 0 {
		out.members.max = n.maxProperties
	}
}

// closed fills o, which stands in its place already: a recursive schema refers to it while it is built.
func (c *compiler) closed(n *node, o *objectCheck) {
	o.min, o.max = max(n.minProperties, 0), math.MaxInt
	if n.maxProperties >= 0 {
		o.max = n.maxProperties
	}
	if len(n.properties) > maxProperties {
		c.outside = true
		return
	}
	for _, p := range n.properties {
		if !plainName(p.name) {
			c.outside = true
			return
		}
		o.members = append(o.members, namedCheck{name: newLiteral(p.name), check: c.check(p.node)})
	}
	set := func(mask *[maxProperties / 64]uint64, name string) {
		k, ok := n.index[name]
		if !ok {
			c.outside = true // cannot be satisfied
			return
		}
		mask[k>>6] |= 1 << (k & 63)
	}
	for _, name := range n.required {
		set(&o.required, name)
	}
	for _, d := range n.dependentRequired {
		k, ok := n.index[d.name]
		if !ok {
			continue // never present in a closed object
		}
		need := need{trigger: k}
		for _, name := range d.needs {
			set(&need.needs, name)
		}
		o.needs = append(o.needs, need)
	}
	o.simple = len(o.members) <= 64 && o.min == 0 && o.max == math.MaxInt && len(o.needs) == 0
	if !o.index() {
		c.outside = true
	}
}

// plainName reports whether a name is written one way only but for escapes, and has room in the scan's buffers.
func plainName(name string) bool {
	for i := range len(name) {
		if bytesOf[name[i]]&plainByte == 0 {
			return false
		}
	}
	return len(name) <= 64
}

func (c *compiler) union(n *node, t types, out *check) {
	if !t.has(objectType) || n.constant != nil || n.enum != nil || len(n.properties) > 0 || len(n.required) > 0 ||
		n.additional != nil || n.unevaluatedProperties != nil || n.minProperties >= 0 || n.maxProperties >= 0 || n.dependentRequired != nil {
		c.outside = true
		return
	}
	u := &unionCheck{discriminator: newLiteral(discriminator), skipped: anything}
	for _, sub := range n.oneOf {
		branch := sub.follow()
		made := c.check(branch)
		if made.object == nil {
			c.outside = true
			return
		}
		u.kinds = append(u.kinds, newLiteral(branch.property(discriminator).constant.text))
		u.branches = append(u.branches, made.object)
	}
	out.union = u
}

// merge makes one closed object of an allOf whose parts are plain objects, closed together by unevaluatedProperties.
func (c *compiler) merge(n *node, out *check) {
	merged := &node{
		index: map[string]int{}, minProperties: n.minProperties, maxProperties: n.maxProperties,
		additional: n.unevaluatedProperties,
	}
	if !refuses(n.unevaluatedProperties) || n.types != 0 && n.types != objectType || !c.fold(merged, n) || n.types == 0 && !c.objectParts(n) {
		c.outside = true
		return
	}
	out.object = &objectCheck{}
	c.closed(merged, out.object)
}

// objectParts reports whether a part of the allOf says that the value is an object.
func (c *compiler) objectParts(n *node) bool {
	return slices.ContainsFunc(n.allOf, func(sub *node) bool {
		sub = sub.follow()
		return sub.types == objectType || sub.types == 0 && c.objectParts(sub)
	})
}

// fold adds what part says of members to merged; false where it says more than that.
func (c *compiler) fold(merged, part *node) bool {
	for _, k := range part.keywords {
		switch k {
		case "type", "properties", "required", "dependentRequired", "allOf", "unevaluatedProperties", "minProperties", "maxProperties",
			"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id", "$defs":
		default:
			return false
		}
	}
	for _, p := range part.properties {
		if _, twice := merged.index[p.name]; twice {
			return false
		}
		merged.index[p.name] = len(merged.properties)
		merged.properties = append(merged.properties, p)
	}
	for _, name := range part.required {
		if !slices.Contains(merged.required, name) {
			merged.required = append(merged.required, name)
		}
	}
	merged.dependentRequired = append(merged.dependentRequired, part.dependentRequired...)
	for _, sub := range part.allOf {
		sub = sub.follow()
		if sub.unevaluatedProperties != nil || sub.minProperties >= 0 || sub.maxProperties >= 0 || sub.types != 0 && sub.types != objectType || !c.fold(merged, sub) {
			return false
		}
	}
	return true
}
