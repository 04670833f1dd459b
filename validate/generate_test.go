package validate_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// generator writes documents for a schema: mostly valid ones, with a fault here and there when asked for, in every
// spelling that JSON allows.
type generator struct {
	*rand.Rand
	root   map[string]any
	faults bool
}

func newGenerator(seed uint64, schema []byte, faults bool) *generator {
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		root = map[string]any{}
	}
	return &generator{Rand: rand.New(rand.NewPCG(seed, 1)), root: root, faults: faults}
}

func (g *generator) document() []byte {
	doc := g.value(g.root, 0)
	if g.faults && g.IntN(20) == 0 && len(doc) > 2 {
		i := g.IntN(len(doc))
		switch g.IntN(3) {
		case 0:
			return []byte(doc[:i])
		case 1:
			return []byte(doc[:i] + string("{}[]\",:0e.-\\ut\x00 "[g.IntN(16)]) + doc[i+1:])
		default:
			return []byte(doc[:i] + doc[i+1:])
		}
	}
	return []byte(doc)
}

func (g *generator) fault() bool { return g.faults && g.IntN(40) == 0 }

func (g *generator) space() string {
	if g.IntN(6) > 0 {
		return ""
	}
	return []string{" ", "\n\t", "\r\n  ", "  "}[g.IntN(4)]
}

func (g *generator) resolve(s map[string]any) map[string]any {
	for {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		s = g.root
		for _, token := range strings.Split(ref, "/")[1:] {
			s, _ = s[token].(map[string]any)
		}
	}
}

func (g *generator) value(s map[string]any, depth int) string {
	s = g.resolve(s)
	if depth > 12 { // a type that requires itself has no document
		return "null"
	}
	if g.fault() {
		return g.anything(depth)
	}
	if c, ok := s["const"]; ok {
		return g.write(c)
	}
	if list, ok := s["enum"].([]any); ok {
		return g.write(list[g.IntN(len(list))])
	}
	for _, k := range []string{"oneOf", "anyOf"} {
		if list, ok := s[k].([]any); ok {
			sub, _ := list[g.IntN(len(list))].(map[string]any)
			if depth > 6 {
				sub, _ = list[len(list)-1].(map[string]any)
			}
			return g.value(sub, depth)
		}
	}
	if list, ok := s["allOf"].([]any); ok {
		return g.object(g.flat(s, list), depth)
	}
	t := s["type"]
	if list, ok := t.([]any); ok {
		t = list[g.IntN(len(list))]
	}
	switch t {
	case "null":
		return "null"
	case "boolean":
		return []string{"true", "false"}[g.IntN(2)]
	case "integer", "number":
		return g.number(s, t == "integer")
	case "string":
		return g.text(g.witness(s))
	case "array":
		return g.array(s, depth)
	case "object":
		return g.object(s, depth)
	}
	return g.anything(depth)
}

func (g *generator) flat(s map[string]any, list []any) map[string]any {
	props, required := map[string]any{}, []any{}
	for _, sub := range append([]any{s}, list...) {
		part, _ := sub.(map[string]any)
		part = g.resolve(part)
		own, _ := part["properties"].(map[string]any)
		for k, v := range own {
			props[k] = v
		}
		names, _ := part["required"].([]any)
		required = append(required, names...)
	}
	return map[string]any{"properties": props, "required": required, "additionalProperties": false}
}

func (g *generator) anything(depth int) string {
	if depth > 5 {
		return "1"
	}
	switch g.IntN(9) {
	case 0:
		return "null"
	case 1:
		return "true"
	case 2:
		return g.text("")
	case 3:
		return g.text("a")
	case 4:
		return []string{"0", "-0", "1", "1.0", "1e1", "-1", "0.5", "9223372036854775808", "1e400", "-1e-400", "123456789012345678901234567890123456789012", "1E+2", "300"}[g.IntN(13)]
	case 5:
		return "[]"
	case 6:
		return "{}"
	case 7:
		return "[" + g.anything(depth+1) + "," + g.anything(depth+1) + "]"
	}
	return `{"a":` + g.anything(depth+1) + `,"kind":` + g.anything(depth+1) + "}"
}

func (g *generator) number(s map[string]any, integer bool) string {
	low, high := 0.0, 1e6
	if v, ok := s["minimum"].(float64); ok {
		low = v
	}
	if v, ok := s["maximum"].(float64); ok {
		high = v
	}
	if high > 1e15 {
		high = 1e15
	}
	if low < -1e15 {
		low = -1e15
	}
	if !integer { // what a float32 holds digit for digit
		low, high = max(low, -1e6), min(high, 1e6)
	}
	v := low + float64(g.Int64N(int64(high-low)+1))
	if m, ok := s["multipleOf"].(float64); ok && !g.fault() {
		if m >= 1 {
			v = m * float64(int(v/m))
		} else {
			return fmt.Sprintf("%.2f", float64(g.IntN(1000))*m)
		}
	}
	if g.fault() {
		return []string{fmt.Sprintf("%.0f", high+1), fmt.Sprintf("%.0f", low-1), "12345678901234567890", "1e2", "3.0", "-0"}[g.IntN(6)]
	}
	if !integer && g.IntN(2) == 0 {
		return fmt.Sprintf("%g", v/2)
	}
	return fmt.Sprintf("%.0f", v)
}

// witness returns a text for the patterns and formats that the schemas of these tests use.
func (g *generator) witness(s map[string]any) string {
	if g.fault() {
		return []string{"", "x", "\u00e9", "a\nb", "2026-02-30", "\x00", strings.Repeat("y", 2000), "ABC\n"}[g.IntN(8)]
	}
	known := map[string][]string{
		"date": {"2024-02-29"}, "date-time": {"2024-02-29T12:00:00Z", "2024-12-31T23:59:59.123456789+05:30"}, "time": {"12:00:00Z"},
		"duration": {"P1D", "PT5M"}, "email": {"a@example.com"}, "hostname": {"example.com"}, "ipv4": {"10.0.0.1"}, "ipv6": {"::1"},
		"uri": {"https://example.com/a?b#c"}, "uuid": {"123e4567-e89b-12d3-a456-426614174000"},
		"^[A-Z]{3}$": {"EUR", "ABC"}, "^ord_[A-Za-z0-9]{8}$": {"ord_A1b2C3d4"}, "^[a-z]+(-[a-z]+)*$": {"a", "foo-bar-baz"}, "^\\p{Lu}.*$": {"\u00c4h", "Abc"}, "b+": {"abbc"},
	}
	for _, k := range []string{"format", "pattern"} {
		if name, ok := s[k].(string); ok {
			if list := known[name]; list != nil {
				return list[g.IntN(len(list))]
			}
		}
	}
	n := g.IntN(12)
	if v, ok := s["minLength"].(float64); ok {
		n = max(n, int(v))
	}
	if v, ok := s["maxLength"].(float64); ok {
		n = min(n, int(v))
	}
	out := make([]rune, n)
	for i := range out {
		out[i] = []rune("abcXYZ019 _-\"\\/\u00e9\u4eac\U0001f600\n\x7f")[g.IntN(19)]
	}
	return string(out)
}

// text spells a string: plainly, or with escapes.
func (g *generator) text(s string) string {
	if g.IntN(5) == 0 {
		var b strings.Builder
		b.WriteByte('"')
		for _, r := range s {
			switch {
			case r > 0xffff:
				r -= 0x10000
				fmt.Fprintf(&b, `\u%04x\u%04X`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			case g.IntN(2) == 0 || r < 0x20 || r == '"' || r == '\\':
				fmt.Fprintf(&b, `\u%04x`, r)
			default:
				b.WriteRune(r)
			}
		}
		b.WriteByte('"')
		return b.String()
	}
	q, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""`
	}
	return string(q)
}

func (g *generator) array(s map[string]any, depth int) string {
	low, high := 0, 4
	if v, ok := s["minItems"].(float64); ok {
		low = int(v)
	}
	if v, ok := s["maxItems"].(float64); ok {
		high = int(v)
	}
	if s["uniqueItems"] == true && g.IntN(4) > 0 {
		high = min(high, 2)
	}
	if high > low && depth < 6 {
		low += g.IntN(min(high-low, 30) + 1)
	}
	if g.fault() {
		low += 3
	}
	prefix, _ := s["prefixItems"].([]any)
	items, _ := s["items"].(map[string]any)
	var parts []string
	for i := range low {
		if i < len(prefix) {
			sub, _ := prefix[i].(map[string]any)
			parts = append(parts, g.value(sub, depth+1))
			continue
		}
		if items == nil {
			break
		}
		parts = append(parts, g.value(items, depth+1))
	}
	return "[" + g.space() + strings.Join(parts, g.space()+","+g.space()) + g.space() + "]"
}

func (g *generator) object(s map[string]any, depth int) string {
	props, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	names := make([]string, 0, len(props))
	for _, name := range slices.Sorted(maps.Keys(props)) { // the same seed, the same document
		if slices.Contains(required, any(name)) && !g.fault() || depth < 7 && g.IntN(2) == 0 {
			names = append(names, name)
		}
	}
	if g.IntN(2) == 0 {
		g.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
	}
	var parts []string
	add := func(name, value string) {
		parts = append(parts, g.text(name)+g.space()+":"+g.space()+value)
	}
	for _, name := range names {
		sub, _ := props[name].(map[string]any)
		add(name, g.value(sub, depth+1))
	}
	if sub, ok := s["additionalProperties"].(map[string]any); ok && depth < 6 {
		for _, name := range g.names(s) {
			if _, declared := props[name]; !declared {
				add(name, g.value(sub, depth+1))
			}
		}
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for _, source := range slices.Sorted(maps.Keys(patterns)) {
		name := strings.TrimRight(strings.TrimLeft(source, "^"), "[]0-9+*?$")
		if sub, ok := patterns[source].(map[string]any); ok && depth < 6 && g.IntN(2) == 0 {
			add(name+[]string{"", "1", "2"}[g.IntN(3)], g.value(sub, depth+1))
		}
	}
	if g.fault() {
		add([]string{"x", "kind", "KIND", "", "a b"}[g.IntN(5)], g.anything(depth+1))
	}
	return "{" + g.space() + strings.Join(parts, g.space()+","+g.space()) + g.space() + "}"
}

// names returns a few different names for the members of a map.
func (g *generator) names(s map[string]any) (names []string) {
	form := "k%d\u00e9"
	if rule, ok := s["propertyNames"].(map[string]any); ok && !g.fault() {
		if list, ok := rule["enum"].([]any); ok {
			for _, name := range list {
				if text, ok := name.(string); ok && g.IntN(2) == 0 {
					names = append(names, text)
				}
			}
			return names
		}
		form = "k%d"
	}
	for i := range g.IntN(24) {
		names = append(names, fmt.Sprintf(form, i*7%23))
	}
	return names
}

func (g *generator) write(v any) string {
	switch v := v.(type) {
	case string:
		return g.text(v)
	default:
		b, err := json.Marshal(v)
		if err != nil {
			return "null"
		}
		return string(b)
	}
}
