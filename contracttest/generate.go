package contracttest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// generator makes the cases of one schema.
type generator struct {
	suite, tool string
	c           *contract
	judge       *judge
	limits      validate.Limits
	witness     map[*value]witness
	examples    []*value
	lean        bool   // the smallest carriers alone, and no wire: for answers
	known       []byte // text that the tool publishes: what stands in it is no canary

	cases       []Case
	names       map[string]int
	raws        map[string]bool
	once        map[string]bool
	limitsText  string
	conditional map[string]bool // places whose faults may only turn a condition
	rows        map[rowKey]*KeywordRow
	order       []rowKey
	errs        []error
}

type rowKey struct{ place, keyword string }

// place is one spot of a document.
type place struct {
	field       string // as the envelope says it
	hidden      bool   // a name on the way may not be shown: field stays at its object
	name        string // in the names of cases
	parts       []part
	steps       []step
	conditional bool     // what else is valid hangs on conditions about other members
	captured    *Refusal // what any fault inside is reported as
	within      *shape   // of the object that it is a member of
	open        []*value // the schemas on the way
}

// step leads from a value to one inside it.
type step struct {
	shape int    // of the outer value
	name  string // of a member
	index int    // of an element; -1: a member
}

func newGenerator(suite, tool string, doc []byte, limits validate.Limits) (*generator, error) {
	c, err := newContract(doc)
	if err != nil {
		return nil, err
	}
	j, err := newJudge(doc, limits)
	if err != nil {
		return nil, err
	}
	l := filled(limits)
	return &generator{
		limitsText: fmt.Sprintf("%d bytes, depth %d, %d members, %d items, %d bytes a string, %d digits a number, exponent %d", l.Bytes, l.Depth, l.Members, l.Items, l.StringBytes, l.NumberDigits, l.Exponent),
		suite:      suite, tool: tool, c: c, judge: j, limits: l, known: append(slices.Clone(doc), tool...), witness: map[*value]witness{},
		names: map[string]int{}, raws: map[string]bool{}, once: map[string]bool{}, conditional: map[string]bool{}, rows: map[rowKey]*KeywordRow{},
	}, nil
}

// run makes all cases, or says what it could not make.
func (g *generator) run() ([]Case, error) {
	root := place{parts: g.c.whole()}
	g.each(root, g.place)
	if !g.lean {
		g.wire()
	}
	g.coverage()
	return g.cases, errors.Join(g.errs...)
}

func (g *generator) fail(p place, err error) {
	if err != nil {
		g.errs = append(g.errs, fmt.Errorf("%s: at %q: %w", g.tool, p.name, err))
	}
}

// each visits a place and all that is inside it; a recursive schema is entered once.
func (g *generator) each(p place, visit func(p place, list []*shape)) {
	list, err := g.c.shapes(p.parts)
	if err != nil {
		g.fail(p, err)
		return
	}
	visit(p, list)
	if len(p.parts) > 0 && slices.Contains(p.open, p.parts[0].schema) {
		return
	}
	for i, s := range list {
		g.children(p, i, s, visit)
	}
}

// place makes the cases of one place.
func (g *generator) place(p place, list []*shape) {
	if p.conditional {
		g.conditional[p.name] = true
	}
	for _, s := range list {
		for _, r := range s.rules {
			if r.refuses() {
				g.row(p, r.keyword)
			}
		}
	}
	g.kinds(p, list)
	g.union(p, list)
	for i, s := range list {
		g.ofShape(p, i, s)
	}
}

func (g *generator) row(p place, keyword string) *KeywordRow {
	k := rowKey{p.name, keyword}
	if g.rows[k] == nil {
		g.rows[k] = &KeywordRow{Tool: g.tool, Place: p.name, Keyword: keyword}
		g.order = append(g.order, k)
	}
	return g.rows[k]
}

// implied notes that another rule leaves nothing for this one to refuse.
func (g *generator) implied(p place, keyword, by string) { g.row(p, keyword).Implied = by }

// children visits what is inside a shape.
func (g *generator) children(p place, at int, s *shape, visit func(place, []*shape)) {
	inner := p
	inner.name = joinName(p.name, s.at)
	inner.open = append(slices.Clip(p.open), p.parts[0].schema)
	inner.conditional = p.conditional || s.conditional || len(s.nots) > 0
	if s.captured != "" && p.captured == nil {
		inner.captured = new(invalid(s.captured, p.field))
	}
	member := func(name, label string, parts []part) {
		m := inner
		m.parts, m.within = parts, s
		m.steps = append(slices.Clip(p.steps), step{at, name, -1})
		m.name = joinName(inner.name, label)
		if !p.hidden {
			m.hidden = !envelope.Showable(name)
			if !m.hidden {
				m.field = envelope.Member(p.field, name)
			}
		}
		g.each(m, visit)
	}
	if s.is("object") {
		for _, pr := range s.props {
			member(pr.name, pr.name, s.memberParts(pr.name))
		}
		if s.extra != nil || s.byPattern != nil {
			b := g.builder(smallest)
			name, err := b.name(s, 0)
			if err != nil {
				g.fail(p, err)
				return
			}
			label := "additionalProperties"
			if s.extra == nil {
				label = "patternProperties"
			}
			member(name, label, s.memberParts(name))
		}
	}
	if s.is("array") {
		g.elements(p, inner, at, s, visit)
	}
}

func (g *generator) elements(p, inner place, at int, s *shape, visit func(place, []*shape)) {
	element := func(i int, label string) {
		e := inner
		e.parts = s.elementParts(i)
		e.steps = append(slices.Clip(p.steps), step{at, "", i})
		e.name = joinName(inner.name, label)
		if !p.hidden {
			e.field = envelope.Index(p.field, i)
		}
		g.each(e, visit)
	}
	for i := range s.prefix {
		if s.maxItems < 0 || i < s.maxItems {
			element(i, joinName("prefixItems", strconv.Itoa(i)))
		}
	}
	if i := len(s.prefix) + s.counted(); s.items != nil && (s.maxItems < 0 || i < s.maxItems) {
		element(i, "items")
	}
}

func (g *generator) builder(sz size) *builder {
	return &builder{c: g.c, size: sz, witness: g.witness}
}

// carrier builds a valid document that holds the place in one of its shapes, and returns the value there.
func (g *generator) carrier(p place, at int, sz size) (root, target *value, err error) {
	b := g.builder(sz)
	if sz == smallest {
		for _, e := range g.examples {
			if root, target, ok := g.fromExample(b, e, p, at); ok {
				return root, target, nil
			}
		}
	}
	return g.reach(b, g.c.whole(), p.steps, at)
}

func (g *generator) reach(b *builder, ps []part, steps []step, last int) (root, target *value, err error) {
	list, err := g.c.shapes(ps)
	if err != nil {
		return nil, nil, err
	}
	if len(steps) == 0 {
		v, err := b.deep(list[last])
		return v, v, err
	}
	st := steps[0]
	s := list[st.shape]
	v, err := b.deep(s)
	if err != nil {
		return nil, nil, err
	}
	if st.index < 0 {
		child, target, err := g.reach(b, s.memberParts(st.name), steps[1:], last)
		if err != nil {
			return nil, nil, err
		}
		return v, target, b.put(s, v, st.name, child)
	}
	for len(v.elems) <= st.index {
		e, err := b.element(s, len(v.elems), maxNesting)
		if err != nil {
			return nil, nil, err
		}
		v.elems = append(v.elems, e)
	}
	child, target, err := g.reach(b, s.elementParts(st.index), steps[1:], last)
	if err != nil {
		return nil, nil, err
	}
	v.elems[st.index] = child
	return v, target, nil
}

// deep builds one shape, nested as little as it can be; the largest a little more.
func (b *builder) deep(s *shape) (v *value, err error) {
	for depth := 1; depth <= maxNesting; depth++ {
		if v, err = b.shape(s, depth); err == nil {
			if b.size == largest {
				if more, err := b.shape(s, depth+2); err == nil {
					return more, nil
				}
			}
			return v, nil
		}
		if !errors.Is(err, errNoInstance) {
			return nil, err
		}
	}
	return nil, err
}

// put sets a member, makes room for it where the object is full, and adds what it needs.
func (b *builder) put(s *shape, v *value, name string, child *value) error {
	if i := v.index(name); i >= 0 {
		v.elems[i] = child
		return nil
	}
	if s.maxProps >= 0 && len(v.names) >= s.maxProps {
		for i := range v.names {
			if s.spared(v, i) {
				*v = *v.without(i)
				break
			}
		}
	}
	v.names, v.elems = append(v.names, name), append(v.elems, child)
	if err := b.completed(s, v, maxNesting); err != nil {
		return err
	}
	for i := len(v.names) - 1; i >= 0 && s.maxProps >= 0 && len(v.names) > s.maxProps; i-- {
		if v.names[i] != name && s.spared(v, i) {
			*v = *v.without(i)
		}
	}
	if s.maxProps >= 0 && len(v.names) > s.maxProps {
		return errTooMany
	}
	return nil
}

// errTooMany says that a member cannot be there: with what it needs there would be more than maxProperties.
var errTooMany = errors.New("contracttest: a member that needs more than fit")

// fromExample takes an author's document as the carrier, if the place is there.
func (g *generator) fromExample(b *builder, example *value, p place, at int) (root, target *value, ok bool) {
	root = example.clone()
	target = root
	parts := g.c.whole()
	for _, st := range p.steps {
		list, err := g.c.shapes(parts)
		if err != nil || len(list) > 1 && !g.told(list[st.shape], target) {
			return nil, nil, false // it goes another way than the place
		}
		if parts = list[st.shape].memberParts(st.name); st.index >= 0 {
			parts = list[st.shape].elementParts(st.index)
		}
		switch {
		case st.index >= 0 && target.kind == '[' && st.index < len(target.elems):
			target = target.elems[st.index]
		case st.index < 0 && target.member(st.name) != nil:
			target = target.member(st.name)
		default:
			return nil, nil, false
		}
	}
	list, err := g.c.shapes(p.parts)
	if err != nil || len(list) == 1 {
		return root, target, err == nil
	}
	v, err := b.deep(list[at])
	if err != nil {
		return nil, nil, false
	}
	*target = *v
	return root, target, true
}

// told reports whether a value is of one of several shapes: an object with that shape's members alone, and with the
// constants that tell it from the others.
func (g *generator) told(s *shape, v *value) bool {
	if v.kind != '{' {
		return false
	}
	for _, name := range s.required {
		if v.index(name) < 0 {
			return false
		}
	}
	for i, name := range v.names {
		if s.prop(name) == nil {
			return false
		}
		list, err := g.c.shapes(s.memberParts(name))
		if err != nil || !slices.ContainsFunc(list, func(m *shape) bool {
			return m.allowed == nil || slices.ContainsFunc(m.allowed, func(a *value) bool { return string(a.bytes()) == string(v.elems[i].bytes()) })
		}) {
			return false
		}
	}
	return true
}

// apply makes the cases of some mutations of one place, in the carriers of the given sizes.
func (g *generator) apply(p place, at int, s *shape, mutate func(cur *value) []mutation) {
	name := p.name
	if s != nil {
		name = joinName(p.name, s.at)
	}
	sizes := []size{smallest, largest}
	if g.lean {
		sizes = sizes[:1]
	}
	for _, sz := range sizes {
		root, target, err := g.carrier(p, at, sz)
		if errors.Is(err, errTooMany) {
			for _, k := range g.order {
				if k.place == p.name {
					g.rows[k].Implied = "maxProperties around it"
				}
			}
			return
		}
		if err != nil {
			if sz == smallest {
				g.fail(p, err)
			}
			return
		}
		if sz == largest && !g.judge.verdict(root.bytes()).valid() {
			return // a choice inside does not go with all optional members
		}
		saved := *target
		for _, m := range mutate(target.clone()) {
			if sz == largest && m.valid() && m.op != "valid" {
				continue // what is free in the smallest may be bound by what stands beside it here
			}
			*target = *m.value
			g.emit(p, s, name, m, sz, root.bytes())
			*target = saved
		}
	}
}

func (g *generator) emit(p place, s *shape, name string, m mutation, sz size, raw []byte) {
	if m.want.Code != "" && !m.form {
		nul := m.want.Rule == "nul"
		switch {
		case p.captured != nil:
			m.want = *p.captured
		case s != nil && s.captures(m.keyword):
			m.want = invalid(s.captured, p.field)
		}
		if nul && m.want.Rule != "nul" {
			if bytes.Contains(g.known, []byte("unevaluatedProperties")) {
				return // the choice failed, and the judge, who stops at the character, cannot say what is unknown then
			}
			m.want.Rule = "" // a choice, or what it finds in the text
		}
		if p.hidden {
			m.want.Field = p.field
		}
	}
	if m.valid() && m.value.kind == '"' {
		m.canary = append(m.canary, m.value.text)
	}
	if len(raw) > g.limits.Bytes { // the size says it first
		if row := g.row(p, m.keyword); row.Implied == "" {
			row.Implied = "the limit of bytes"
		}
		return
	}
	op := m.op
	if sz == largest {
		op += "-full"
	}
	g.keep(Case{
		Name: joinName(g.suite, g.tool, name, op), Tool: g.tool, Keyword: m.keyword, Raw: raw, Valid: m.valid(), Want: m.want,
		Canary: g.canaries(m.canary), declared: g.declared(s, m.keyword), conditional: p.conditional || s != nil && len(s.nots) > 0, names: g.canaries(m.names), place: p.name,
	})
}

// declared is what the shape says of a keyword, where that is short; of limits what they are.
func (g *generator) declared(s *shape, keyword string) string {
	if keyword == "limits" {
		return g.limitsText
	}
	if s == nil {
		return ""
	}
	for _, r := range s.rules {
		if r.keyword == keyword {
			switch r.arg.kind {
			case '{':
				return ""
			case '[':
				return shownTo(r.arg.bytes(), 120)
			case '"':
				return textValue(r.arg.text).raw
			}
			return string(r.arg.bytes())
		}
	}
	return ""
}

// captures reports whether a choice reports a fault of this keyword: not where the keyword stands beside the choice.
func (s *shape) captures(keyword string) bool {
	if s.captured == "" {
		return false
	}
	for _, r := range s.rules {
		if r.keyword == keyword && !strings.HasPrefix(r.at, s.at) {
			return false
		}
	}
	return true
}

// keep takes a case once its label is the judge's too.
func (g *generator) keep(c Case) {
	if g.raws[string(c.Raw)] {
		g.note(c) // the same bytes again say nothing new, but they speak of this keyword too
		return
	}
	g.raws[string(c.Raw)] = true
	if n := g.names[c.Name]; n > 0 {
		g.names[c.Name]++
		c.Name += "-" + strconv.Itoa(n+1)
	} else {
		g.names[c.Name] = 1
	}
	v := g.judge.verdict(c.Raw)
	if err := g.disagreement(c, v); err != nil {
		if !c.conditional { // a condition elsewhere may look at this very member
			g.errs = append(g.errs, err)
		}
		return
	}
	if !c.Valid && c.Want.Code == envelope.InvalidArgument {
		c.also = v.unevaluated(c.Want.Rule)
	}
	g.note(c)
	g.cases = append(g.cases, c)
}

func (g *generator) note(c Case) {
	row := g.row(place{name: c.place}, c.Keyword)
	if c.Valid {
		row.Valid++
	} else {
		row.Invalid++
	}
}

// labelError says that an operator and the judge do not agree: the generator's fault, never the adapter's.
type labelError struct{ name, operator, judge, sent string }

func (e *labelError) Error() string {
	return fmt.Sprintf("contracttest: a fault of the generator: %s: the operator says %s, the judge %s, of %s", e.name, e.operator, e.judge, e.sent)
}

func (g *generator) disagreement(c Case, v verdict) error {
	if c.Valid {
		if v.valid() {
			return nil
		}
		return &labelError{c.Name, "valid", string(v.code) + " " + v.keywords(), shown(c.Raw)}
	}
	want := c.Want.Code
	if want == envelope.UnknownField {
		want = envelope.InvalidArgument // a schema's judge knows no such difference
	}
	if v.code != want {
		return &labelError{c.Name, string(c.Want.Code), string(v.code) + " " + v.keywords(), shown(c.Raw)}
	}
	rule := c.Want.Rule
	nul := slices.ContainsFunc(v.found, func(f finding) bool { return f.keyword == "nul" })
	if want != envelope.InvalidArgument || rule == "" || rule == "limit" || nul {
		return nil
	}
	if !slices.ContainsFunc(v.found, func(f finding) bool { return f.keyword == rule }) {
		return &labelError{c.Name, rule, v.keywords(), shown(c.Raw)}
	}
	return nil
}

// unevaluated are the members that are unknown beside the fault that is meant.
func (v verdict) unevaluated(rule string) (out []Refusal) {
	for _, f := range v.found {
		if f.keyword != "unevaluatedProperties" || f.keyword == rule {
			continue
		}
		r := Refusal{Code: envelope.UnknownField, Rule: f.keyword}
		for _, name := range strings.Split(f.pointer, "/") {
			if !envelope.Showable(name) {
				break
			}
			r.Field = envelope.Member(r.Field, name)
		}
		out = append(out, r)
	}
	return out
}

func (v verdict) keywords() string {
	list := make([]string, 0, len(v.found))
	for _, f := range v.found {
		list = append(list, f.keyword+"@"+f.pointer)
	}
	return strings.Join(list, ",")
}

// canaries keeps the texts that can be searched for: long enough, and nothing that the tool itself publishes.
func (g *generator) canaries(list []string) (out []string) {
	for _, text := range list {
		if utf8.ValidString(text) && distinctive(text) && !g.publishes(text) && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// publishes reports whether a piece of the text stands in what the tool says of itself.
func (g *generator) publishes(text string) bool {
	rs := []rune(text)
	for i := 0; i+6 <= len(rs); i++ {
		if bytes.Contains(g.known, []byte(string(rs[i:i+6]))) {
			return true
		}
	}
	return false
}

// distinctive reports whether no six characters of a text occur by chance.
func distinctive(text string) bool {
	rs := []rune(text)
	if len(rs) < 8 || len(rs) > 4096 {
		return false
	}
	for i := 0; i+6 <= len(rs); i++ {
		seen := map[rune]bool{}
		for _, r := range rs[i : i+6] {
			seen[r] = true
		}
		if len(seen) < 4 || !mixed(rs[i:i+6]) {
			return false
		}
	}
	return true
}

// mixed reports whether a piece has characters of at least two kinds: words, dates and numbers alone are ordinary.
func mixed(rs []rune) bool {
	kinds := 0
	for _, in := range []func(rune) bool{
		func(r rune) bool { return r >= 'a' && r <= 'z' }, func(r rune) bool { return r >= 'A' && r <= 'Z' },
		func(r rune) bool { return r >= '0' && r <= '9' }, func(r rune) bool { return r >= utf8.RuneSelf },
	} {
		if slices.ContainsFunc(rs, in) {
			kinds++
		}
	}
	return kinds >= 2
}

// coverage asks that each bound was refused by a case, or is implied by another.
func (g *generator) coverage() {
	for _, k := range g.order {
		if row := g.rows[k]; bounds(k.keyword) && row.Invalid == 0 && row.Implied == "" && !g.conditional[k.place] {
			g.errs = append(g.errs, fmt.Errorf("%s: at %q: no case breaks %s; give a Witness", g.tool, k.place, k.keyword))
		}
	}
}

// bounds reports whether a keyword refuses by itself. The others apply schemas whose keywords do.
func bounds(keyword string) bool {
	switch keyword {
	case "properties", "prefixItems", "patternProperties", "unevaluatedItems", "minContains", "wire", "limits", "valid", "":
		return false
	}
	return true
}

// refuses reports whether a keyword with this argument refuses anything by itself.
func (r rule) refuses() bool {
	switch r.keyword {
	case "additionalProperties", "unevaluatedProperties", "items":
		return r.arg.kind == 'f'
	case "uniqueItems":
		return r.arg.kind == 't'
	case "minLength", "minItems", "minProperties":
		return count(r.arg) > 0
	case "required":
		return len(r.arg.elems) > 0
	}
	return bounds(r.keyword)
}
