package validate_test

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// author writes schema documents, and changes them a little, with every keyword that contracts may have.
type author struct{ *rand.Rand }

func (a author) one(list ...any) any { return list[a.IntN(len(list))] }

func (a author) maybe(s map[string]any, keyword string, value any) {
	if a.IntN(3) == 0 {
		s[keyword] = value
	}
}

func (a author) schema(depth int) map[string]any {
	n := 15
	if depth <= 0 {
		n = 7
	}
	switch a.IntN(n) {
	case 0:
		return a.number("integer")
	case 1:
		return a.number("number")
	case 2, 3:
		return a.text()
	case 4:
		return map[string]any{"type": a.one("boolean", "null", []any{"boolean", "null"})}
	case 5:
		return map[string]any{"enum": a.values()}
	case 6:
		return map[string]any{"const": a.one("a", 1, 2.5, true, nil)}
	case 7:
		return a.array(depth - 1)
	case 8:
		return map[string]any{"anyOf": []any{a.schema(depth - 1), a.one(map[string]any{"type": "null"}, a.schema(depth-1))}}
	case 9:
		return map[string]any{"$ref": a.one("#/$defs/d0", "#/$defs/d1")}
	case 10:
		return a.union(depth - 1)
	case 11:
		return a.composed(depth - 1)
	case 12:
		s := a.schema(depth - 1)
		s["not"] = a.schema(0)
		return s
	case 13:
		s := a.text()
		s["type"] = []any{"string", a.one("null", "integer", "boolean")}
		return s
	default:
		return a.object(depth - 1)
	}
}

func (a author) values() []any {
	pool := []any{"a", "b", "ab", "n1", 0, 1, 2, 3, 1.5, true, false, nil}
	a.Shuffle(len(pool), func(i, k int) { pool[i], pool[k] = pool[k], pool[i] })
	return pool[:1+a.IntN(5)]
}

func (a author) number(t string) map[string]any {
	s := map[string]any{"type": t}
	a.maybe(s, "minimum", a.IntN(4)-2)
	a.maybe(s, "maximum", a.IntN(4)+2)
	a.maybe(s, "exclusiveMinimum", a.one(-3, -1, 0.5))
	a.maybe(s, "exclusiveMaximum", a.one(3, 5, 6.5))
	a.maybe(s, "multipleOf", a.one(1, 2, 0.5))
	return s
}

func (a author) text() map[string]any {
	s := map[string]any{"type": "string", "maxLength": 1 + a.IntN(5)}
	a.maybe(s, "minLength", a.IntN(2))
	a.maybe(s, "pattern", a.one("^[a-z]+$", "^[a-z]{1,3}$", "a"))
	if a.IntN(8) == 0 {
		return map[string]any{"type": "string", "format": a.one("date", "uuid")}
	}
	return s
}

func (a author) array(depth int) map[string]any {
	s := map[string]any{"type": "array", "maxItems": 1 + a.IntN(4), "items": a.schema(depth)}
	a.maybe(s, "minItems", a.IntN(2))
	a.maybe(s, "uniqueItems", true)
	a.maybe(s, "prefixItems", []any{a.schema(depth)})
	if a.IntN(5) == 0 {
		s["contains"] = a.schema(0)
		a.maybe(s, "minContains", a.IntN(2))
		a.maybe(s, "maxContains", 1+a.IntN(3))
	}
	if a.IntN(5) == 0 {
		delete(s, "items")
		s["prefixItems"] = []any{a.schema(depth)}
		s["unevaluatedItems"] = a.one(false, a.schema(0))
	}
	return s
}

var memberNames = []string{"a", "b", "ab", "n1"}

func (a author) properties(depth int) map[string]any {
	props := map[string]any{}
	for _, name := range memberNames {
		if a.IntN(2) == 0 {
			props[name] = a.schema(depth)
		}
	}
	if a.IntN(8) == 0 {
		props["a"] = false
	}
	return props
}

func (a author) names(props map[string]any) []any {
	list := []any{}
	for _, name := range memberNames {
		if _, ok := props[name]; ok && a.IntN(2) == 0 {
			list = append(list, name)
		}
	}
	return list
}

func (a author) object(depth int) map[string]any {
	props := a.properties(depth)
	s := map[string]any{"type": "object", "properties": props, "required": a.names(props), "additionalProperties": false}
	if a.IntN(3) == 0 {
		s["additionalProperties"] = a.schema(depth)
		s["maxProperties"] = 2 + a.IntN(3)
	}
	if a.IntN(4) == 0 {
		s["patternProperties"] = map[string]any{[]string{"^a", "^n", "b"}[a.IntN(3)]: a.schema(depth)}
		s["maxProperties"] = 2 + a.IntN(3)
	}
	a.maybe(s, "minProperties", a.IntN(2))
	if a.IntN(5) == 0 {
		s["propertyNames"] = a.one(map[string]any{"enum": []any{"a", "b", "n1"}}, map[string]any{"enum": []any{"a", "b"}}, map[string]any{"maxLength": 1}, map[string]any{"pattern": "^[a-z]+$"})
	}
	if a.IntN(6) == 0 {
		s["dependentRequired"] = map[string]any{"a": []any{a.one("b", "ab")}}
	}
	if a.IntN(6) == 0 {
		s["dependentSchemas"] = map[string]any{"a": map[string]any{"required": []any{a.one("b", "n1")}}}
	}
	if a.IntN(6) == 0 {
		s["if"] = map[string]any{"required": []any{a.one("a", "b")}}
		s["then"] = map[string]any{"required": []any{a.one("b", "ab")}}
		a.maybe(s, "else", map[string]any{"maxProperties": 1 + a.IntN(2)})
	}
	return s
}

func (a author) union(depth int) map[string]any {
	var list []any
	for _, kind := range []string{"a", "b", "c"} {
		if len(list) > 0 && a.IntN(2) == 0 {
			continue
		}
		s := a.object(depth)
		props := map[string]any{"kind": map[string]any{"const": kind}}
		own, _ := s["properties"].(map[string]any)
		maps.Copy(props, own)
		required, _ := s["required"].([]any)
		list = append(list, map[string]any{"type": "object", "properties": props, "required": append([]any{"kind"}, required...), "additionalProperties": false})
	}
	return map[string]any{"oneOf": list}
}

func (a author) composed(depth int) map[string]any {
	part := func() any {
		props := a.properties(depth)
		return map[string]any{"properties": props, "required": a.names(props)}
	}
	s := map[string]any{"type": "object", "allOf": []any{part(), a.one(part(), map[string]any{"$ref": "#/$defs/part"})}, "unevaluatedProperties": false}
	if a.IntN(4) == 0 {
		s["anyOf"] = []any{part(), part()}
	}
	if a.IntN(4) == 0 {
		s["properties"] = a.properties(depth)
	}
	return s
}

func (a author) document() map[string]any {
	s := a.object(2)
	part := a.properties(0)
	s["$defs"] = map[string]any{
		"d0": a.schema(1), "d1": a.object(1),
		"part": map[string]any{"properties": part, "required": a.names(part)},
	}
	return s
}

// edit changes one schema within the document.
func (a author) edit(doc map[string]any) {
	var all []map[string]any
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			all = append(all, v)
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if k != "$defs" || a.IntN(3) == 0 { // most of them are not referred to
					walk(v[k])
				}
			}
		case []any:
			for _, sub := range v {
				walk(sub)
			}
		}
	}
	walk(doc)
	s := all[a.IntN(len(all))]
	var fresh map[string]any
	for range 20 {
		if fresh = a.schema(1); fmt.Sprint(fresh["type"]) == fmt.Sprint(s["type"]) {
			break
		}
	}
	keys := slices.Sorted(maps.Keys(s))
	switch a.IntN(6) {
	case 0:
		if len(keys) > 0 {
			delete(s, keys[a.IntN(len(keys))])
		}
	case 1, 2:
		if added := slices.Sorted(maps.Keys(fresh)); len(added) > 0 {
			k := added[a.IntN(len(added))]
			s[k] = fresh[k]
		}
	case 3:
		if len(keys) > 0 {
			if k := keys[a.IntN(len(keys))]; fresh[k] != nil {
				s[k] = fresh[k]
			}
		}
	case 4:
		if len(keys) > 0 {
			k := keys[a.IntN(len(keys))]
			if old, ok := s[k].(map[string]any); ok && k != "properties" && k != "$defs" {
				s[k] = map[string]any{"anyOf": []any{old, map[string]any{"type": "null"}}}
			}
		}
	case 5:
		for _, k := range keys {
			if n, ok := s[k].(float64); ok {
				s[k] = n + float64(a.IntN(3)-1)
			}
		}
	}
}

func clone(doc map[string]any) (out map[string]any) {
	b, err := json.Marshal(doc)
	if err != nil {
		return nil
	}
	if json.Unmarshal(b, &out) != nil {
		return nil
	}
	return out
}

func compiled(doc map[string]any, opts ...validate.Option) *validate.Schema {
	b, err := json.Marshal(doc, json.Deterministic(true))
	if err != nil {
		return nil
	}
	s, err := validate.Compile(b, opts...)
	if err != nil {
		return nil
	}
	return s
}

// refute looks for a document that one schema admits and the other does not.
func refute(seed uint64, sub, sup *validate.Schema, tries uint64) (doc []byte, admitted int) {
	for i := range tries {
		of := sub
		if i%3 == 2 {
			of = sup
		}
		doc := newGenerator(seed*1000+i, of.JSON(), i%2 == 1).document()
		if !sub.Explains(doc, validate.Limits{}) {
			continue
		}
		admitted++
		if !sup.Explains(doc, validate.Limits{}) {
			return doc, admitted
		}
	}
	return nil, admitted
}

// counted is what came of a run of pairs.
type counted struct{ pairs, compatible, proved, shown int }

func comparePair(t *testing.T, seed uint64, n *counted) {
	t.Helper()
	a := author{rand.New(rand.NewPCG(seed, 3))}
	doc := a.document()
	before := compiled(doc)
	if before == nil {
		return
	}
	changed := clone(doc)
	var after *validate.Schema
	for range 8 {
		next := clone(changed)
		a.edit(next)
		if s := compiled(next); s != nil {
			changed, after = next, s
			if a.IntN(2) == 0 {
				break
			}
		}
	}
	if after == nil || string(after.JSON()) == string(before.JSON()) {
		return
	}
	n.pairs++
	out := compiled(doc, validate.Output())
	require.Empty(t, validate.Compatible(before, before), "%s", before.JSON())
	require.Empty(t, validate.Compatible(out, out), "%s", before.JSON())
	for _, direction := range []struct {
		name     string
		breaks   []validate.Break
		sub, sup *validate.Schema
	}{
		{"input", validate.Compatible(before, after), before, after},
		{"output", validate.Compatible(out, after), after, before},
	} {
		found, admitted := refute(seed, direction.sub, direction.sup, 40)
		switch {
		case len(direction.breaks) > 0 && found != nil:
			n.shown++
		case len(direction.breaks) == 0:
			n.compatible++
			n.proved += admitted
			require.Empty(t, string(found), "as an %s nothing is said to break:\nbefore %s\nafter  %s", direction.name, before.JSON(), after.JSON())
		}
	}
}

// TestCompatibleIsAProof: where no break is listed, no document is found that one schema admits and the other does not.
func TestCompatibleIsAProof(t *testing.T) {
	t.Parallel()
	var n counted
	for seed := range uint64(800) {
		comparePair(t, seed, &n)
	}
	t.Logf("%d pairs; %d directions compatible, on %d documents; %d of the breaks shown by a document", n.pairs, n.compatible, n.proved, n.shown)
	require.Greater(t, n.pairs, 200)
	require.Greater(t, n.compatible, 50)
	require.Greater(t, n.proved, 500)
	require.Greater(t, n.shown, 50)
}

func FuzzCompatible(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { comparePair(t, seed, new(counted)) })
}
