package contracttest

import (
	"encoding/json/jsontext"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// kinds sends each other kind of value to a place, and the right value in the wrong form.
func (g *generator) kinds(p place, list []*shape) {
	if len(list) == 0 {
		return
	}
	admits := func(t string) bool {
		return slices.ContainsFunc(list, func(s *shape) bool {
			return s.is(t) || t == "integer" && s.is("number") || s.types == nil && s.allowed == nil && !s.typed()
		})
	}
	want := g.kindRefusal(p, list)
	keyword := want.Rule
	if slices.ContainsFunc(list, (*shape).typed) {
		keyword = "type"
	}
	g.apply(p, 0, nil, func(cur *value) []mutation {
		var out []mutation
		add := func(op string, v *value, t string) {
			if !admits(t) {
				m := mutation{op: op, keyword: keyword, value: v, want: want}
				if t == "string" {
					m.canary = []string{v.text}
				}
				out = append(out, m)
			}
		}
		add("type-null", rawValue("null"), "null")
		add("type-boolean", rawValue("true"), "boolean")
		add("type-integer", numberValue("7351942"), "integer")
		add("type-number", numberValue("73519.25"), "number")
		add("type-string", textValue(canaryText(16, 3)), "string")
		add("type-array", arrayValue(), "array")
		add("type-object", objectValue(), "object")
		add("type-wrapped", arrayValue(cur), "array")
		if cur.kind != '"' {
			add("type-quoted", textValue(string(cur.bytes())), "string")
			add("type-empty-text", textValue(""), "string")
		}
		if cur.kind == '[' && len(cur.elems) > 0 {
			add("type-bare", cur.elems[0], typeOf(cur.elems[0]))
		}
		if admits("boolean") {
			add("type-zero", numberValue("0"), "integer")
			add("type-one", numberValue("1"), "integer")
			add("type-true-text", textValue("true"), "string")
		}
		return append(out, g.fractions(list, want)...)
	})
}

// kindRefusal is what a wrong kind is answered with.
func (g *generator) kindRefusal(p place, list []*shape) Refusal {
	s := list[0]
	switch {
	case s.captures("type"):
		return invalid(s.captured, p.field)
	case s.tagged != nil || s.typed():
		return invalid("type", p.field)
	case s.allowed != nil:
		return invalid(s.allowedBy, p.field)
	}
	return invalid("type", p.field)
}

func (s *shape) typed() bool { return s.types != nil }

// fractions sends a number between two whole ones to an integer.
func (g *generator) fractions(list []*shape, want Refusal) []mutation {
	s := list[0]
	if !s.integer() || s.allowed != nil && len(s.allowed) == 0 {
		return nil
	}
	half := big.NewRat(1, 2)
	from := ratOf(7)
	switch {
	case s.hi != nil:
		from = new(big.Rat).Sub(s.hi, ratOf(1))
	case s.lo != nil:
		from = new(big.Rat).Add(s.lo, ratOf(1))
	}
	at := new(big.Rat).Add(floorTo(from, ratOf(1)), half)
	if s.lo != nil && at.Cmp(s.lo) < 0 {
		at.Add(ratOf(0), new(big.Rat).Add(floorTo(s.lo, ratOf(1)), half))
	}
	out := []mutation{{op: "type-fraction", keyword: want.Rule, value: numberValue(spell(at)), want: want}}
	if s.allowed != nil {
		out[0].keyword, out[0].want.Rule = "type", "type"
	}
	return out
}

// members sends every declared value of an enum or const, and values that are almost one.
func (g *generator) members(p place, at int, s *shape) {
	keyword := s.allowedBy
	g.apply(p, at, s, func(*value) []mutation {
		var out []mutation
		for i, v := range s.allowed {
			if slices.ContainsFunc([]string{typeOf(v)}, s.is) {
				out = append(out, mutation{op: keyword + "-member-" + strconv.Itoa(i), keyword: keyword, value: v})
			}
		}
		return append(out, g.strangers(p, s)...)
	})
}

// strangers are values of an admitted type that are not declared.
func (g *generator) strangers(p place, s *shape) (out []mutation) {
	seen := map[string]bool{}
	others := g.otherTags(p)
	add := func(op string, v *value) {
		raw := string(v.bytes())
		if seen[raw] || slices.ContainsFunc(s.allowed, func(a *value) bool { return sameValue(a, v) }) || slices.Contains(others, v.text) && v.kind == '"' {
			return
		}
		if s.types != nil && !slices.Contains(s.types, typeOf(v)) && !(typeOf(v) == "integer" && slices.Contains(s.types, "number")) {
			return
		}
		seen[raw] = true
		m := mutation{op: s.allowedBy + "-" + op, keyword: s.allowedBy, value: v, want: invalid(s.allowedBy, p.field)}
		if v.kind == '"' {
			m.canary = []string{v.text}
		}
		out = append(out, m)
	}
	for i, v := range s.allowed {
		n := strconv.Itoa(i)
		switch v.kind {
		case '"':
			if i == 0 {
				add("unknown", textValue(canaryText(12, 5)))
				add("empty", textValue(""))
			}
			if i > 3 && i < len(s.allowed)-1 {
				continue // the first and the last tell the rest
			}
			add("upper-"+n, textValue(strings.ToUpper(v.text)))
			add("lower-"+n, textValue(strings.ToLower(v.text)))
			rs := []rune(v.text)
			if len(rs) > 1 {
				add("prefix-"+n, textValue(string(rs[:len(rs)-1])))
				add("suffix-"+n, textValue(string(rs[1:])))
			}
			add("longer-"+n, textValue(v.text+"x"))
			add("space-before-"+n, textValue(" "+v.text))
			add("space-after-"+n, textValue(v.text+" "))
			add("newline-after-"+n, textValue(v.text+"\n"))
		case '0':
			if r := rational(v.raw); r != nil {
				add("above-"+n, numberValue(spell(new(big.Rat).Add(r, ratOf(1)))))
				add("below-"+n, numberValue(spell(new(big.Rat).Sub(r, ratOf(1)))))
			}
		case 't', 'f':
			add("other-"+n, rawValue(map[jsontext.Kind]string{'t': "false", 'f': "true"}[v.kind]))
		}
	}
	return out
}

// otherTags are the discriminators of the branches beside the one that the place is in.
func (g *generator) otherTags(p place) (tags []string) {
	if p.within == nil || p.within.tagged == nil || len(p.steps) == 0 || p.steps[len(p.steps)-1].name != "kind" {
		return nil
	}
	for _, sub := range p.within.tagged.elems {
		tags = append(tags, tagOf(g.c.follow(sub)))
	}
	return tags
}

func tagOf(branch *value) string {
	if props := branch.member("properties"); props != nil {
		if kind := props.member("kind"); kind != nil && kind.member("const") != nil {
			return kind.member("const").text
		}
	}
	return ""
}
