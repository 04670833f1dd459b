package contracttest

import (
	"slices"
	"strconv"

	"github.com/toolcontract/toolcontract/envelope"
)

// ofShape makes the cases of one way to be valid at a place.
func (g *generator) ofShape(p place, at int, s *shape) {
	g.apply(p, at, s, func(cur *value) []mutation { return []mutation{{op: "valid", keyword: "valid", value: cur}} })
	switch {
	case s.allowed != nil:
		g.members(p, at, s)
		return
	case s.types == nil && !s.implies("object") && !s.implies("array") && !s.implies("string") && !s.implies("number"):
		return
	}
	if s.is("string") {
		g.texts(p, at, s)
	}
	if s.is("number") || s.is("integer") {
		g.numbers(p, at, s)
	}
	if s.is("array") {
		g.arrays(p, at, s)
	}
	if s.is("object") {
		g.objects(p, at, s)
	}
	if s.is("boolean") {
		g.apply(p, at, s, func(*value) []mutation {
			return []mutation{{op: "true", keyword: "valid", value: rawValue("true")}, {op: "false", keyword: "valid", value: rawValue("false")}}
		})
	}
	g.forbidden(p, at, s)
}

// forbidden are values that a "not" is against and nothing else.
func (g *generator) forbidden(p place, at int, s *shape) {
	for _, r := range s.rules {
		if r.keyword != "not" {
			continue
		}
		list, err := g.c.apply(clones([]*shape{s}), part{r.arg, "not"})
		if err != nil || len(list) == 0 {
			g.fail(p, err)
			continue
		}
		g.apply(p, at, s, func(*value) []mutation {
			list[0].nots = nil // this is the one that is broken
			v, err := g.builder(smallest).deep(list[0])
			if err != nil {
				g.fail(p, err)
				return nil
			}
			return []mutation{{op: "not", keyword: "not", value: v, want: invalid("not", p.field)}}
		})
	}
}

// union swaps the branches of a tagged union, and mixes them.
func (g *generator) union(p place, list []*shape) {
	for i, s := range list {
		if s.tagged == nil {
			continue
		}
		g.apply(p, i, s, func(cur *value) []mutation { return g.mixed(p, s, cur) })
	}
}

func (g *generator) mixed(p place, s *shape, cur *value) (out []mutation) {
	own := cur.member("kind")
	for i, sub := range s.tagged.elems {
		branch := g.c.follow(sub)
		tag := tagOf(branch)
		if own == nil || tag == own.text {
			continue
		}
		n := strconv.Itoa(i)
		if want, ok := g.retagged(p, branch, cur); ok {
			out = append(out, mutation{op: "retagged-" + n, keyword: "oneOf", value: cur.replaced(cur.index("kind"), textValue(tag)), want: want})
		}
		if name, v, ok := g.foreign(branch, cur, s); ok {
			want := Refusal{Code: envelope.UnknownField, Field: p.memberField(name), Rule: "additionalProperties"}
			out = append(out, mutation{op: "mixed-" + n, keyword: "oneOf", value: cur.with(name, v), want: want})
			out = append(out, mutation{op: "mixed-null-" + n, keyword: "oneOf", value: cur.with(name, rawValue("null")), want: want})
		}
		body := string(cur.bytes())
		twice := &value{kind: '{', raw: body[:len(body)-1] + `,"kind":` + textValue(tag).raw + "}"}
		out = append(out, mutation{op: "tag-twice-" + n, keyword: "wire", value: twice, want: Refusal{Code: envelope.DuplicateMember, Field: p.memberField("kind")}, form: true})
	}
	if own != nil {
		g.row(p, "oneOf").Invalid += len(out)
	}
	return out
}

// retagged says what is wrong with a value under the tag of another branch: its first member that the branch does not
// declare, or the first that the branch misses.
func (g *generator) retagged(p place, branch, cur *value) (Refusal, bool) {
	props, required := branch.member("properties"), branch.member("required")
	for _, name := range cur.names {
		if props.member(name) == nil {
			return Refusal{Code: envelope.UnknownField, Field: p.memberField(name), Rule: "additionalProperties"}, true
		}
	}
	if required != nil {
		for _, e := range required.elems {
			if cur.index(e.text) < 0 {
				return invalid("required", p.memberField(e.text)), true
			}
		}
	}
	return Refusal{}, false
}

// foreign returns a member that only the other branch declares.
func (g *generator) foreign(branch, cur *value, s *shape) (string, *value, bool) {
	props := branch.member("properties")
	i := slices.IndexFunc(props.names, func(name string) bool { return s.prop(name) == nil && cur.index(name) < 0 })
	if i < 0 {
		return "", nil, false
	}
	v, err := g.builder(smallest).build([]part{{schema: props.elems[i]}})
	return props.names[i], v, err == nil
}
