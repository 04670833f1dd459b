package validate

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/envelope"
)

// maxViolations bounds what one refusal lists.
const maxViolations = 8

// judge walks a document and a schema together and notes every broken rule in the order of the document. It serves
// both to explain refusals and as the reference that the one-pass check is tested against.
type judge struct {
	at    place
	found []violation
	max   int // stop after so many
	memo  map[pair]bool
	sums  *sums
	left  *int // of the work that may be done; nil: no bound

	silent, broken bool // only whether a rule is broken is asked, and the answer

	walked map[pair]bool // arrays and objects that were gone through here: what is wrong with them is noted
}

func newJudge(most int) judge { return judge{max: most, memo: map[pair]bool{}, sums: &sums{}} }

// pair is a schema and a value that it applies to. What is known of it is kept, since keywords that ask whether a
// subschema accepts a value ask again within one another: without, a document could make them ask 2^depth times.
type pair struct {
	node  *node
	value *value
}

type violation struct {
	field   string
	rule    string
	unknown bool // an undeclared member
}

// valid reports whether v obeys n, without places.
func (j *judge) valid(n *node, v *value) bool {
	if len(v.elems) == 0 { // nothing within asks again: asking twice is cheaper than remembering
		return j.obeys(n, v)
	}
	if known, ok := j.memo[pair{n, v}]; ok {
		return known
	}
	ok := j.obeys(n, v)
	j.memo[pair{n, v}] = ok
	return ok
}

func (j *judge) obeys(n *node, v *value) bool {
	if n.verdict == nil && !n.types.accepts(v) {
		j.spend(1)
		return false
	}
	inner := judge{max: 1, memo: j.memo, sums: j.sums, left: j.left, silent: true}
	inner.value(n, v)
	return !inner.broken
}

// part checks v against a schema that applies to it beside others; nothing is to be explained where it is known to obey.
func (j *judge) part(n *node, v *value) {
	if len(v.elems) == 0 || !j.memo[pair{n, v}] {
		j.value(n, v)
	}
}

// explain returns the violations of v, at most maxViolations.
func explain(n *node, v *value) []violation {
	j := newJudge(maxViolations)
	j.value(n, v)
	j.nul(v)
	return j.found
}

// decide is explain with a bound of the work for it; done is false where that was too little, and what was found till
// then stands.
func decide(n *node, v *value, work int) (found []violation, done bool) {
	j := newJudge(maxViolations)
	j.left = &work
	j.value(n, v)
	j.nul(v)
	return j.found, !j.spent()
}

func (j *judge) full() bool { return j.broken || len(j.found) >= j.max || j.spent() }

func (j *judge) note(rule string) {
	if j.silent {
		j.broken = true
		return
	}
	j.add(violation{field: j.at.String(), rule: rule})
}

func (j *judge) add(v violation) {
	if j.full() {
		return
	}
	for _, f := range j.found {
		if f == v {
			return
		}
	}
	j.found = append(j.found, v)
}

func (j *judge) value(n *node, v *value) {
	if j.spend(1); j.full() {
		return
	}
	if n.verdict != nil {
		if !*n.verdict {
			j.note("false")
		}
		return
	}
	if !n.types.accepts(v) {
		j.note("type")
		return
	}
	if len(v.elems) > 0 {
		if j.walked[pair{n, v}] {
			return
		}
		if j.walked == nil {
			j.walked = map[pair]bool{}
		}
		j.walked[pair{n, v}] = true
	}
	if n.unevaluatedProperties != nil && v.kind == objectKind {
		j.unevaluated(n, v)
	}
	if n.ref != nil {
		j.part(n.ref, v)
	}
	if n.constant != nil && !equal(n.constant, v) {
		j.note("const")
	}
	j.spend(len(n.enum))
	if n.enum != nil && !n.lists(v) {
		j.note("enum")
	}
	switch v.kind {
	case nullKind, boolKind:
	case numberKind:
		j.number(n, v)
	case stringKind:
		j.text(n, v)
	case arrayKind:
		j.array(n, v)
	case objectKind:
		if n.union == nil {
			j.object(n, v)
		}
	}
	j.applicators(n, v)
	if v.kind == objectKind && n.union != nil && n.members() { // after the union, which knows more of unknown members
		j.object(n, v)
	}
}

func (t types) accepts(v *value) bool {
	if t == 0 {
		return true
	}
	switch v.kind {
	case nullKind:
		return t.has(nullType)
	case boolKind:
		return t.has(booleanType)
	case numberKind:
		return t.has(numberType) || t.has(integerType) && (!bytes.ContainsAny(v.raw, ".eE") || parseDecimal(v.raw).integer())
	case stringKind:
		return t.has(stringType)
	case arrayKind:
		return t.has(arrayType)
	case objectKind:
		return t.has(objectType)
	}
	return false
}

// lists reports whether v is one of the values of enum.
func (n *node) lists(v *value) bool {
	if v.kind != numberKind {
		return oneOfValues(n.enum, v)
	}
	d := parseDecimal(v.raw)
	return slices.ContainsFunc(n.enumNumbers, func(e decimal) bool { return e.compare(d) == 0 })
}

func oneOfValues(list []*value, v *value) bool {
	for _, e := range list {
		if equal(e, v) {
			return true
		}
	}
	return false
}

func (j *judge) number(n *node, v *value) {
	if !fits(n.goKind, v.raw) {
		j.note("type")
		return
	}
	if n.minimum == nil && n.maximum == nil && n.exclusiveMinimum == nil && n.exclusiveMaximum == nil && n.multipleOf == nil {
		return
	}
	d := parseDecimal(v.raw)
	if n.minimum != nil && d.compare(n.minimum.decimal) < 0 {
		j.note("minimum")
	}
	if n.maximum != nil && d.compare(n.maximum.decimal) > 0 {
		j.note("maximum")
	}
	if n.exclusiveMinimum != nil && d.compare(n.exclusiveMinimum.decimal) <= 0 {
		j.note("exclusiveMinimum")
	}
	if n.exclusiveMaximum != nil && d.compare(n.exclusiveMaximum.decimal) >= 0 {
		j.note("exclusiveMaximum")
	}
	if n.multipleOf != nil && !d.multipleOf(n.multipleOf.decimal) {
		j.note("multipleOf")
	}
}

// text checks a string: lengths are in code points (JSON Schema validation 6.3), U+0000 is refused in every string,
// since stores and terminals cut or refuse it.
func (j *judge) text(n *node, v *value) {
	if strings.IndexByte(v.text, 0) >= 0 {
		j.note("nul")
	}
	if n.minLength > 0 || n.maxLength >= 0 {
		count := utf8.RuneCountInString(v.text)
		if count < n.minLength {
			j.note("minLength")
		}
		if n.maxLength >= 0 && count > n.maxLength {
			j.note("maxLength")
		}
	}
	j.spend(len(v.text) / workBytes)
	if n.pattern != nil && !n.pattern.match([]byte(v.text)) {
		j.note("pattern")
	}
	if text := []byte(v.text); !n.format.matches(text) || n.goTime && n.format == dateTimeFormat && !goTimeReads(text) {
		j.note("format")
	}
}

func (j *judge) array(n *node, v *value) {
	if n.minItems > 0 && len(v.elems) < n.minItems {
		j.note("minItems")
	}
	if n.maxItems >= 0 && len(v.elems) > n.maxItems {
		j.note("maxItems")
	}
	if n.uniqueItems && !j.sums.distinct(v.elems) {
		j.note("uniqueItems")
	}
	if n.contains != nil {
		j.containsRule(n, v)
	}
	var evaluated map[int]bool
	if n.unevaluatedItems != nil {
		evaluated = map[int]bool{}
		j.evaluatedItems(n, v, evaluated, true)
	}
	for i := range v.elems {
		if j.full() {
			return
		}
		var elem *node
		switch {
		case i < len(n.prefix):
			elem = n.prefix[i]
		case n.items != nil:
			elem = n.items
		case n.unevaluatedItems != nil && !evaluated[i]:
			elem = n.unevaluatedItems
		}
		j.at = append(j.at, element(i))
		if elem != nil {
			j.named(elem, &v.elems[i], ruleOfItem(n, i))
		}
		j.at = j.at[:len(j.at)-1]
	}
}

// ruleOfItem names the keyword that speaks where a false schema refuses an item.
func ruleOfItem(n *node, i int) string {
	switch {
	case i < len(n.prefix):
		return "prefixItems"
	case n.items != nil:
		return "items"
	}
	return "unevaluatedItems"
}

// named checks a value whose schema may be false, and then says the keyword that it stood under.
func (j *judge) named(n *node, v *value, rule string) {
	if n.verdict != nil && !*n.verdict {
		j.note(rule)
		return
	}
	j.value(n, v)
}

func (j *judge) containsRule(n *node, v *value) {
	count := 0
	for i := range v.elems {
		if j.valid(n.contains, &v.elems[i]) {
			count++
		}
	}
	least := 1
	if n.minContains >= 0 {
		least = n.minContains
	}
	switch {
	case count < least && n.minContains >= 0:
		j.note("minContains")
	case count < least:
		j.note("contains")
	case n.maxContains >= 0 && count > n.maxContains:
		j.note("maxContains")
	}
}

// object checks an object: undeclared members, then missing ones, then what speaks of the object as a whole, then values.
func (j *judge) object(n *node, v *value) {
	if n.additional != nil && n.additional.verdict != nil && !*n.additional.verdict {
		for _, name := range v.names {
			if !n.declares(name) {
				j.undeclared(name, "additionalProperties")
			}
		}
	}
	for _, name := range n.required {
		if v.member(name) == nil {
			j.missing(name, "required")
		}
	}
	for _, d := range n.dependentRequired {
		if v.member(d.name) == nil {
			continue
		}
		for _, name := range d.needs {
			if v.member(name) == nil {
				j.missing(name, "dependentRequired")
			}
		}
	}
	if n.minProperties > 0 && len(v.names) < n.minProperties {
		j.note("minProperties")
	}
	if n.maxProperties >= 0 && len(v.names) > n.maxProperties {
		j.note("maxProperties")
	}
	for i, name := range v.names {
		if j.full() {
			return
		}
		j.at = append(j.at, member(name))
		j.member(n, name, &v.elems[i])
		j.at = j.at[:len(j.at)-1]
	}
}

// declares reports whether additionalProperties leaves the member alone.
func (n *node) declares(name string) bool {
	if _, ok := n.index[name]; ok {
		return true
	}
	for _, p := range n.patterns {
		if p.pattern.match([]byte(name)) {
			return true
		}
	}
	return false
}

func (j *judge) member(n *node, name string, v *value) {
	if n.propertyNames != nil && !j.valid(n.propertyNames, &value{kind: stringKind, text: name}) {
		j.note("propertyNames")
	}
	declared := n.property(name)
	if declared != nil {
		j.named(declared, v, "properties")
	}
	matched := false
	for _, p := range n.patterns {
		if p.pattern.match([]byte(name)) {
			matched = true
			j.named(p.node, v, "patternProperties")
		}
	}
	if declared == nil && !matched && n.additional != nil && n.additional.verdict == nil {
		j.value(n.additional, v)
	}
}

// nul looks for U+0000 in names, and in strings that no schema looks at; of the others it is noted already, in its place.
func (j *judge) nul(v *value) {
	if v.kind == stringKind && strings.IndexByte(v.text, 0) >= 0 {
		j.note("nul")
	}
	for i := range v.elems {
		at := element(i)
		if v.kind == objectKind {
			at = member(v.names[i])
		}
		j.at = append(j.at, at)
		if strings.IndexByte(at.name, 0) >= 0 {
			j.note("nul")
		}
		j.nul(&v.elems[i])
		j.at = j.at[:len(j.at)-1]
	}
}

func (j *judge) undeclared(name, rule string) {
	if j.silent {
		j.broken = true
		return
	}
	j.add(violation{field: j.at.with(member(name)).String(), rule: rule, unknown: true})
}

func (j *judge) missing(name, rule string) {
	if j.silent {
		j.broken = true
		return
	}
	j.add(violation{field: j.at.with(member(name)).String(), rule: rule})
}

// refusal makes the one error of a list of violations.
func refusal(found []violation) *envelope.Error {
	code := envelope.InvalidArgument
	if found[0].unknown {
		code = envelope.UnknownField
	}
	e := envelope.New(code)
	e.Field, e.Rule = found[0].field, found[0].rule
	if len(found) == 1 {
		return e
	}
	for _, v := range found {
		e.Violations = append(e.Violations, envelope.Violation{Field: v.field, Rule: v.rule})
	}
	return e
}
