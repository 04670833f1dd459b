package contracttest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
)

// objects sends objects with members missing, unknown, too few and too many.
func (g *generator) objects(p place, at int, s *shape) {
	g.apply(p, at, s, func(cur *value) []mutation {
		out := g.missing(p, s, cur)
		if s.closed != "" {
			out = append(out, g.unknown(p, s, cur)...)
		}
		out = append(out, g.memberCounts(p, s, cur)...)
		out = append(out, g.dependents(p, s, cur)...)
		if len(s.nameParts) > 0 {
			out = append(out, g.badNames(p, s, cur)...)
		}
		if len(cur.names) > 1 {
			turned := objectValue()
			for i := len(cur.names) - 1; i >= 0; i-- {
				turned.names, turned.elems = append(turned.names, cur.names[i]), append(turned.elems, cur.elems[i])
			}
			out = append(out, mutation{op: "members-in-other-order", keyword: "valid", value: turned})
		}
		return append(out, g.twice(p, cur)...)
	})
}

func (p place) memberField(name string) string {
	if p.hidden || !envelope.Showable(name) {
		return p.field
	}
	return envelope.Member(p.field, name)
}

func (g *generator) missing(p place, s *shape, cur *value) (out []mutation) {
	for _, name := range s.required {
		if i := cur.index(name); i >= 0 {
			out = append(out, mutation{op: "required-" + name, keyword: "required", value: cur.without(i), want: invalid("required", p.memberField(name))})
		}
	}
	return out
}

// unknown adds a member that is not declared: with each kind of value, and under each name that a careless decoder takes
// for a declared one.
func (g *generator) unknown(p place, s *shape, cur *value) (out []mutation) {
	if s.maxProps >= 0 && len(cur.names) >= s.maxProps { // make room for it
		i := 0
		for i < len(cur.names) && !s.spared(cur, i) {
			i++
		}
		if i == len(cur.names) {
			return nil
		}
		cur = cur.without(i)
	}
	seen := map[string]bool{}
	add := func(op, name string, v *value) {
		if s.prop(name) != nil || cur.index(name) >= 0 || seen[op] || g.matchesName(s, name) {
			return
		}
		seen[op] = true
		m := mutation{
			op: "unknown-" + op, keyword: s.closed, value: cur.with(name, v),
			want: Refusal{Code: envelope.UnknownField, Field: p.memberField(name), Rule: s.closed},
		}
		if v.kind == '"' {
			m.canary = append(m.canary, v.text)
		}
		if envelope.Showable(name) {
			m.names = append(m.names, name)
		} else {
			m.canary = append(m.canary, name)
		}
		out = append(out, m)
	}
	name := "Zq7" + canaryText(8, 41)
	add("null", name, rawValue("null"))
	add("text", name+"T", textValue(canaryText(16, 42)))
	add("object", name+"O", objectValue().with("a", rawValue("1")))
	add("array", name+"A", arrayValue())
	add("underscore", "_"+name, rawValue("1"))
	add("empty-name", "", rawValue("1"))
	add("proto", "__proto__", objectValue())
	add("slash", name+"/x", rawValue("1"))
	add("tilde", name+"~0x", rawValue("1"))
	add("dot", name+".x", rawValue("1"))
	add("space", name+" x", rawValue("1"))
	add("long-name", canaryText(65, 43), rawValue("1"))
	add("kind", "kind", textValue(canaryText(9, 44)))
	for _, pr := range s.props {
		copied := rawValue("null")
		if v := cur.member(pr.name); v != nil {
			copied = v
		}
		add("upper-case", strings.ToUpper(pr.name), copied)
		add("title-case", strings.ToUpper(pr.name[:1])+pr.name[1:], copied)
		add("camel-case", camel(pr.name), copied)
		add("full-width", full(pr.name), copied)
		add("space-after", pr.name+" ", copied)
		add("dash", strings.ReplaceAll(pr.name, "_", "-"), copied)
	}
	if p.within != nil {
		for _, pr := range p.within.props {
			add("outer", pr.name, rawValue("null"))
		}
	}
	return out
}

func (g *generator) matchesName(s *shape, name string) bool {
	for _, bp := range s.byPattern {
		if a, err := newAutomaton(bp.pattern); err == nil && a.matches(name) {
			return true
		}
	}
	return false
}

func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// full spells the first letter in its full-width form, which compatibility folding makes the same.
func full(name string) string {
	if name == "" || name[0] < '!' || name[0] > '~' {
		return name
	}
	return string(rune(name[0])-'!'+'！') + name[1:]
}

func (g *generator) memberCounts(p place, s *shape, cur *value) (out []mutation) {
	if s.minProps > 0 {
		few := cur
		for i := len(cur.names) - 1; i >= 0 && len(few.names) >= s.minProps; i-- {
			if j := few.index(cur.names[i]); s.spared(few, j) {
				few = few.without(j)
			}
		}
		if len(few.names) < s.minProps {
			out = append(out, mutation{op: "minProperties-under", keyword: "minProperties", value: few, want: invalid("minProperties", p.field)})
		} else {
			g.implied(p, "minProperties", "required")
		}
	}
	if !s.has("maxProperties") {
		return out
	}
	exact, ok := g.filled(s, cur, s.maxProps)
	if ok {
		out = append(out, mutation{op: "maxProperties-exact", keyword: "maxProperties", value: exact})
	}
	if many, ok := g.filled(s, cur, s.maxProps+1); ok && s.maxProps < g.limits.Members {
		out = append(out, mutation{op: "maxProperties-over", keyword: "maxProperties", value: many, want: invalid("maxProperties", p.field)})
	} else if !ok {
		g.implied(p, "maxProperties", "the declared members")
	}
	return out
}

// filled adds members until there are n.
func (g *generator) filled(s *shape, cur *value, n int) (*value, bool) {
	out, b := cur.clone(), g.builder(smallest)
	for _, pr := range s.props {
		if len(out.names) < n && out.index(pr.name) < 0 && b.further(s, out, pr.name, maxNesting) != nil {
			return nil, false
		}
	}
	for i := 0; len(out.names) < n && i < 4*n; i++ {
		if s.extra == nil && s.byPattern == nil {
			return nil, false
		}
		b.salt = i
		name, err := b.name(s, i)
		if err != nil {
			return nil, false
		}
		if out.index(name) < 0 && b.further(s, out, name, maxNesting) != nil {
			return nil, false
		}
	}
	if b.completed(s, out, maxNesting) != nil {
		return nil, false
	}
	for i := len(out.names) - 1; i >= 0 && len(out.names) > n; i-- {
		if s.spared(out, i) {
			out = out.without(i)
		}
	}
	return out, len(out.names) == n && len(out.bytes()) < g.limits.Bytes/2
}

// dependents are objects with a member and without what it needs.
func (g *generator) dependents(p place, s *shape, cur *value) (out []mutation) {
	for _, d := range s.needs {
		with, b := cur.clone(), g.builder(smallest)
		if with.index(d.name) < 0 && b.further(s, with, d.name, maxNesting) != nil {
			continue
		}
		if b.completed(s, with, maxNesting) != nil {
			continue
		}
		for i := len(with.names) - 1; i >= 0 && s.maxProps >= 0 && len(with.names) > s.maxProps; i-- {
			if with.names[i] != d.name && s.spared(with, i) {
				with = with.without(i)
			}
		}
		if s.maxProps >= 0 && len(with.names) > s.maxProps { // together they are too many: the member cannot be there at all
			g.aloneOf(p, s, d, cur, &out)
			continue
		}
		out = append(out, mutation{op: "dependentRequired-with-" + d.name, keyword: "dependentRequired", value: with})
		for _, need := range d.need {
			if slices.Contains(s.required, need) || with.index(need) < 0 {
				g.implied(p, "dependentRequired", "required")
				continue
			}
			alone := with.without(with.index(need))
			out = append(out, mutation{op: "dependentRequired-without-" + need, keyword: "dependentRequired", value: alone, want: invalid("dependentRequired", p.memberField(need))})
		}
	}
	return out
}

// aloneOf are objects with a member and all but one of what it needs, where all together are too many.
func (g *generator) aloneOf(p place, s *shape, d dependency, cur *value, out *[]mutation) {
	b := g.builder(smallest)
	for _, need := range d.need {
		alone := cur.clone()
		for i := len(alone.names) - 1; i >= 0; i-- {
			if !slices.Contains(s.required, alone.names[i]) {
				alone = alone.without(i)
			}
		}
		for _, name := range append([]string{d.name}, d.need...) {
			if name != need && alone.index(name) < 0 && b.further(s, alone, name, maxNesting) != nil {
				return
			}
		}
		if len(alone.names) <= s.maxProps && alone.index(need) < 0 {
			*out = append(*out, mutation{op: "dependentRequired-without-" + need, keyword: "dependentRequired", value: alone, want: invalid("dependentRequired", p.memberField(need))})
		}
	}
}

// spared reports whether the object may do without its member i: neither the shape nor another member needs it.
func (s *shape) spared(v *value, i int) bool {
	name := v.names[i]
	if slices.Contains(s.required, name) {
		return false
	}
	for _, d := range s.needs {
		if v.index(d.name) >= 0 && d.name != name && slices.Contains(d.need, name) {
			return false
		}
	}
	return true
}

// badNames are keys of a map that its propertyNames is against.
func (g *generator) badNames(p place, s *shape, cur *value) (out []mutation) {
	list, err := g.c.shapes(s.nameParts)
	if err != nil || len(list) == 0 {
		g.fail(p, err)
		return nil
	}
	key := list[0]
	b := g.builder(smallest)
	elem, err := b.within(s.memberParts("key_1"), maxNesting)
	if err != nil {
		return nil
	}
	if s.maxProps >= 0 && len(cur.names) >= s.maxProps {
		return nil
	}
	var names []string
	if len(key.patterns) > 0 {
		if a, err := g.c.automaton(key.patterns); err == nil {
			l := newBounds(key.minLen, key.maxLen)
			if short, err := a.shortest(l, 1); err == nil {
				for _, m := range a.misses(short, l) {
					names = append(names, m.text)
				}
			}
		}
	}
	if key.maxLen >= 0 {
		names = append(names, canaryText(key.maxLen+1, 51))
	}
	if key.allowed != nil {
		names = append(names, canaryText(12, 52))
	}
	if key.minLen > 0 {
		names = append(names, "")
	}
	for i, name := range names[:min(len(names), 8)] {
		if cur.index(name) < 0 {
			out = append(out, mutation{op: "propertyNames-" + strconv.Itoa(i), keyword: "propertyNames", value: cur.with(name, elem), want: invalid("propertyNames", p.memberField(name))})
		}
	}
	return out
}

// twice writes a member a second time: with the same value, with another, and with its name spelt in escapes.
func (g *generator) twice(p place, cur *value) (out []mutation) {
	if len(cur.names) == 0 {
		return nil
	}
	name := cur.names[0]
	want := Refusal{Code: envelope.DuplicateMember, Field: p.memberField(name)}
	body := string(cur.bytes())
	first := cur.elems[0]
	for _, t := range []struct{ op, member string }{
		{"same", textValue(name).raw + ":" + string(first.bytes())},
		{"null", textValue(name).raw + ":null"},
		{"escaped", escapedName(name) + ":" + string(first.bytes())},
	} {
		raw := "{" + t.member + "," + body[1:]
		out = append(out, mutation{op: "twice-" + t.op, keyword: "wire", value: &value{kind: '{', raw: raw}, want: want, form: true})
	}
	last := cur.names[len(cur.names)-1]
	raw := body[:len(body)-1] + "," + textValue(last).raw + ":" + string(cur.elems[len(cur.elems)-1].bytes()) + "}"
	return append(out, mutation{op: "twice-last", keyword: "wire", value: &value{kind: '{', raw: raw}, want: Refusal{Code: envelope.DuplicateMember, Field: p.memberField(last)}, form: true})
}

// escapedName spells the first character of a name as an escape.
func escapedName(name string) string {
	if name == "" || name[0] >= 0x80 {
		return textValue(name).raw
	}
	return `"\u00` + hexByte(name[0]) + textValue(name[1:]).raw[1:]
}
