package contracttest

import (
	"strconv"
)

// arrays sends arrays at and beyond each bound.
func (g *generator) arrays(p place, at int, s *shape) {
	g.apply(p, at, s, func(cur *value) []mutation {
		var out []mutation
		if s.minItems > 0 {
			out = append(out, g.fewer(p, s)...)
		}
		if s.has("maxItems") {
			out = append(out, g.more(p, s)...)
		}
		if s.itemsClosed && (s.maxItems < 0 || s.maxItems > len(s.prefix)) {
			if list, ok := g.elementsOf(s, len(s.prefix)); ok {
				over := arrayValue(append(list.elems, rawValue("true"))...)
				out = append(out, mutation{op: "items-further", keyword: "items", value: over, want: invalid("items", p.indexed(len(s.prefix)))})
			}
		}
		if s.unique {
			out = append(out, g.repeated(p, s)...)
		}
		if s.contains != nil {
			out = append(out, g.containing(p, s)...)
		}
		out = append(out, g.badAt(p, s)...)
		if !g.once["items"] {
			g.once["items"] = true
			many := arrayValue()
			for range g.limits.Items + 1 {
				many.elems = append(many.elems, rawValue("0"))
			}
			out = append(out, mutation{op: "items-over-limit", keyword: "limits", value: many, want: tooLarge(p.field), form: true})
		}
		if s.minItems == 0 && s.contains == nil && len(cur.elems) > 0 {
			out = append(out, mutation{op: "empty", keyword: "valid", value: arrayValue()})
		}
		return out
	})
}

func (p place) indexed(i int) string {
	if p.hidden {
		return p.field
	}
	return p.field + "[" + strconv.Itoa(i) + "]"
}

// elementsOf builds an array of n valid elements, all different where they must be.
func (g *generator) elementsOf(s *shape, n int) (*value, bool) {
	b := g.builder(smallest)
	out := arrayValue()
	for i := range n {
		e, err := b.element(s, i, maxNesting)
		if err != nil {
			return nil, false
		}
		if s.unique {
			for _, had := range out.elems {
				if sameValue(had, e) {
					return nil, false
				}
			}
		}
		out.elems = append(out.elems, e)
	}
	return out, len(out.bytes()) < g.limits.Bytes/2
}

func (g *generator) fewer(p place, s *shape) (out []mutation) {
	if list, ok := g.elementsOf(s, s.minItems); ok {
		out = append(out, mutation{op: "minItems-exact", keyword: "minItems", value: list})
	}
	if list, ok := g.elementsOf(s, s.minItems-1); ok {
		out = append(out, mutation{op: "minItems-under", keyword: "minItems", value: list, want: invalid("minItems", p.field)})
	}
	if s.minItems > 1 {
		out = append(out, mutation{op: "minItems-empty", keyword: "minItems", value: arrayValue(), want: invalid("minItems", p.field)})
	}
	return out
}

func (g *generator) more(p place, s *shape) (out []mutation) {
	if list, ok := g.elementsOf(s, s.maxItems); ok && s.maxContains < 0 {
		out = append(out, mutation{op: "maxItems-exact", keyword: "maxItems", value: list})
	}
	over := s.maxItems + 1
	if s.itemsClosed && over > len(s.prefix) {
		g.implied(p, "maxItems", "items: false")
		return out
	}
	if list, ok := g.elementsOf(s, over); ok && over <= g.limits.Items {
		out = append(out, mutation{op: "maxItems-over", keyword: "maxItems", value: list, want: invalid("maxItems", p.field)})
	} else {
		g.implied(p, "maxItems", "uniqueItems or the limits")
	}
	if far := s.maxItems * 4; far > over && far <= g.limits.Items {
		if list, ok := g.elementsOf(s, far); ok {
			out = append(out, mutation{op: "maxItems-far-over", keyword: "maxItems", value: list, want: invalid("maxItems", p.field)})
		}
	}
	return out
}

// repeated are arrays in which one value stands twice, in one spelling or two.
func (g *generator) repeated(p place, s *shape) (out []mutation) {
	n := max(2, s.minItems)
	if s.maxItems >= 0 {
		n = min(max(n, min(3, s.maxItems)), s.maxItems)
	}
	want := invalid("uniqueItems", p.field)
	list, ok := g.elementsOf(s, n)
	if n < 2 {
		g.implied(p, "uniqueItems", "maxItems")
		return nil
	}
	if !ok {
		if list, ok = g.elementsOf(s, 1); !ok {
			return nil
		}
		for len(list.elems) < n {
			list.elems = append(list.elems, list.elems[0])
		}
		return []mutation{{op: "uniqueItems-all", keyword: "uniqueItems", value: list, want: want}}
	}
	first, last := list.elems[0], n-1
	out = append(out, mutation{op: "uniqueItems-distinct", keyword: "uniqueItems", value: list})
	out = append(out, mutation{op: "uniqueItems-first-last", keyword: "uniqueItems", value: list.replaced(last, first), want: want})
	if n > 2 {
		out = append(out, mutation{op: "uniqueItems-neighbours", keyword: "uniqueItems", value: list.replaced(1, first), want: want})
	}
	if first.kind == '{' && len(first.names) > 1 {
		turned := objectValue()
		for i := len(first.names) - 1; i >= 0; i-- {
			turned.names, turned.elems = append(turned.names, first.names[i]), append(turned.elems, first.elems[i])
		}
		out = append(out, mutation{op: "uniqueItems-other-order", keyword: "uniqueItems", value: list.replaced(last, turned), want: want})
	}
	if first.kind == '"' && len(first.text) > 0 && first.text[0] < 0x80 {
		escaped := `"\u00` + hexByte(first.text[0]) + textValue(first.text[1:]).raw[1:]
		out = append(out, mutation{op: "uniqueItems-escaped", keyword: "uniqueItems", value: list.replaced(last, &value{kind: '"', raw: escaped, text: first.text}), want: want})
	}
	return out
}

func hexByte(c byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[c>>4], digits[c&15]})
}

// containing are arrays with too few or too many of what they must contain.
func (g *generator) containing(p place, s *shape) (out []mutation) {
	plain := s.clone()
	plain.contains = nil
	least := 1
	if s.minContains >= 0 {
		least = s.minContains
	}
	keyword := "contains"
	if s.minContains >= 0 {
		keyword = "minContains"
		g.implied(p, "contains", keyword)
	}
	if n := max(s.minItems, 1); least > 0 {
		if list, ok := g.elementsOf(plain, n); ok && g.counts(s, list) < least {
			out = append(out, mutation{op: keyword + "-under", keyword: keyword, value: list, want: invalid(keyword, p.field)})
		} else {
			g.implied(p, "contains", "items")
		}
	} else {
		g.implied(p, "contains", "minContains: 0")
	}
	if s.maxContains >= 0 {
		some := s.clone()
		some.minContains = s.maxContains + 1
		if list, ok := g.elementsOf(some, max(s.minItems, s.maxContains+1)); ok && (s.maxItems < 0 || len(list.elems) <= s.maxItems) {
			out = append(out, mutation{op: "maxContains-over", keyword: "maxContains", value: list, want: invalid("maxContains", p.field)})
		} else {
			g.implied(p, "maxContains", "maxItems")
		}
	}
	return out
}

// counts says how many elements the judge takes for what the array must contain.
func (g *generator) counts(s *shape, list *value) (n int) {
	j, err := newJudge(s.contains[0].schema.bytes(), g.limits)
	if err != nil {
		return 0
	}
	for _, e := range list.elems {
		if j.schemaVerdict(e).valid() {
			n++
		}
	}
	return n
}

// badAt puts a wrong value at the second place and at the last.
func (g *generator) badAt(p place, s *shape) (out []mutation) {
	if s.items == nil || s.maxItems >= 0 && s.maxItems < 3 {
		return nil
	}
	list, err := g.c.shapes(s.items)
	if err != nil || len(list) == 0 || list[0].is("null") || len(list) > 1 && list[len(list)-1].is("null") {
		return nil
	}
	n := max(s.minItems, 3, len(s.prefix)+s.counted()+2)
	if s.maxItems >= 0 && n > s.maxItems {
		return nil
	}
	all, ok := g.elementsOf(s, n)
	if !ok {
		return nil
	}
	for _, t := range []struct {
		op string
		i  int
	}{{"second", len(s.prefix) + s.counted() + 1}, {"last", n - 1}} {
		at := p
		at.field = p.indexed(t.i)
		want := g.kindRefusal(at, list)
		out = append(out, mutation{op: "items-" + t.op, keyword: want.Rule, value: all.replaced(t.i, rawValue("null")), want: want})
	}
	return out
}
