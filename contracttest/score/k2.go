package main

import (
	"encoding/json" //nolint:depguard // numbers of schemas keep their digits as json.Number, which the judge reads
	"encoding/json/jsontext"
	"fmt"
	"maps"
	"math/big"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
)

// k2 changes one keyword of a schema at a time. An adapter that checks the changed schema must fail a case.
func k2(verbose bool) (line string, details []string, met bool) {
	subjects, err := samples.Schemas()
	if err != nil {
		return "K2 void: " + err.Error(), nil, false
	}
	dead, total, equivalent := 0, 0, 0
	for _, s := range subjects {
		cases, err := contracttest.Cases(s.Catalog, s.Wire)
		if err != nil {
			return "K2 void: " + s.Wire + ": " + err.Error(), nil, false
		}
		for _, m := range mutants(s.Document) {
			if why := same(s.Document, m); why != "" {
				equivalent++
				if verbose {
					details = append(details, s.Wire+": "+m.name+": equivalent: "+why)
				}
				continue
			}
			total++
			if m.dies(cases) {
				dead++
				continue
			}
			details = append(details, s.Wire+": "+m.name+": survives")
		}
	}
	share := 100 * float64(dead) / float64(max(total, 1))
	return fmt.Sprintf("K2 schema mutants killed: %d of %d in %d schemas, %.1f %%, %d proved equivalent (goal: 98 %%)", dead, total, len(subjects), share, equivalent), details, share >= 98
}

// mutant is a schema with one keyword changed.
type mutant struct {
	name, keyword, path string
	doc                 any
}

// mutants changes each occurrence of each keyword.
func mutants(doc jsontext.Value) (out []mutant) {
	var walk func(v any, where string)
	walk = func(v any, where string) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if where == "" || !strings.HasSuffix(where, "/properties") && !strings.HasSuffix(where, "/$defs") {
					for how, change := range changes(key, v[key]) {
						out = append(out, mutated(doc, where, key, how, change))
					}
				}
				walk(v[key], where+"/"+key)
			}
		case []any:
			for i, e := range v {
				walk(e, where+"/"+strconv.Itoa(i))
			}
		}
	}
	walk(read(doc), "")
	slices.SortFunc(out, func(a, b mutant) int { return strings.Compare(a.name, b.name) })
	return out
}

func read(doc []byte) any {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(doc)))
	if err != nil {
		return nil
	}
	return v
}

// dropped stands for a keyword that is taken away.
type dropped struct{}

// changes are the ways in which a keyword is dropped, shifted and widened.
func changes(key string, arg any) map[string]any {
	switch key {
	case "type", "format", "additionalProperties", "const", "uniqueItems", "anyOf", "oneOf", "not", "items", "propertyNames", "contains":
		out := map[string]any{"dropped": dropped{}}
		if list, ok := arg.([]any); ok && len(list) > 1 {
			out["first-branch-dropped"] = list[1:]
		}
		if key == "type" && arg == "integer" {
			out["number"] = "number"
		}
		if key == "const" {
			out["shifted"] = fmt.Sprint(arg) + "x"
		}
		return out
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return map[string]any{"dropped": dropped{}, "up": shifted(arg, 1, false), "down": shifted(arg, -1, false)}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return map[string]any{"dropped": dropped{}, "up": shifted(arg, 1, true), "down": shifted(arg, -1, true)}
	case "multipleOf":
		return map[string]any{"dropped": dropped{}, "halved": scaled(arg)}
	case "pattern":
		return patternChanges(arg)
	case "enum", "required":
		list, ok := arg.([]any)
		if !ok {
			return nil
		}
		out := map[string]any{"dropped": dropped{}}
		for i := range list {
			if len(list) > 1 {
				out["without-"+strconv.Itoa(i)] = slices.Delete(slices.Clone(list), i, i+1)
			}
		}
		if key == "enum" {
			out["widened"] = append(slices.Clone(list), strings.ToUpper(fmt.Sprint(list[0])))
		}
		return out
	}
	return nil
}

func shifted(arg any, by int64, count bool) any {
	n, ok := arg.(json.Number)
	if !ok {
		return dropped{}
	}
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil && (by < 0 || i < 9223372036854775807) && (by > 0 || i > -9223372036854775808) {
		if i+by < 0 && count {
			return arg
		}
		return json.Number(strconv.FormatInt(i+by, 10))
	}
	return dropped{}
}

func scaled(arg any) any {
	n, ok := arg.(json.Number)
	if !ok {
		return dropped{}
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return dropped{}
	}
	return json.Number(strconv.FormatFloat(f/2, 'f', -1, 64))
}

// patternChanges drops anchors, and widens each quantifier and class.
func patternChanges(arg any) map[string]any {
	p, ok := arg.(string)
	if !ok {
		return nil
	}
	out := map[string]any{"dropped": dropped{}, "open-at-the-end": strings.TrimSuffix(p, "$"), "open-at-the-beginning": strings.TrimPrefix(p, "^"), "case-blind": "(?i)" + p}
	tree, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		return out
	}
	n := 0
	var walk func(at *syntax.Regexp)
	walk = func(at *syntax.Regexp) {
		saved := *at
		put := func(how string, r syntax.Regexp) {
			*at = r
			out[how+"-"+strconv.Itoa(n)] = tree.String()
			*at = saved
			n++
		}
		if at.Op == syntax.OpRepeat {
			more, fewer, less := saved, saved, saved
			if more.Max >= 0 {
				more.Max++
				put("quantifier-more", more)
			}
			if fewer.Min > 0 {
				fewer.Min--
				put("quantifier-fewer", fewer)
			}
			if less.Max > less.Min {
				less.Max--
				put("quantifier-less", less)
			}
		}
		if saved.Op == syntax.OpCharClass {
			wide := saved
			wide.Rune = slices.Clone(saved.Rune)
			wide.Rune[len(wide.Rune)-1]++
			put("class-wider", wide)
			low := saved
			low.Rune = slices.Clone(saved.Rune)
			low.Rune[0]--
			put("class-lower", low)
			if saved.Rune[0] < saved.Rune[1] {
				tight := saved
				tight.Rune = slices.Clone(saved.Rune)
				tight.Rune[0]++
				put("class-tighter", tight)
			}
		}
		for _, sub := range at.Sub {
			walk(sub)
		}
	}
	walk(tree)
	return out
}

// mutated makes the document with one change.
func mutated(doc []byte, where, key, how string, change any) mutant {
	root := read(doc)
	at := root
	for _, token := range strings.Split(where, "/")[1:] {
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil {
				return mutant{}
			}
			at = v[i]
		}
	}
	if in, ok := at.(map[string]any); ok {
		if _, drop := change.(dropped); drop {
			delete(in, key)
		} else {
			in[key] = change
		}
	}
	return mutant{name: where + "/" + key + "/" + how, keyword: key, path: where, doc: root}
}

// dies reports whether a case is labelled otherwise by the changed schema. One that no longer is a schema is dead.
func (m mutant) dies(cases []contracttest.Case) bool {
	s, err := compile(m.doc)
	if err != nil {
		return true
	}
	for _, c := range cases {
		v, ok := formal(c)
		if ok && (s.Validate(v) == nil) != c.Valid {
			return true
		}
	}
	return false
}

// formal leaves out what is refused before any schema.
func formal(c contracttest.Case) (any, bool) {
	if !c.Valid && c.Want.Code != "INVALID_ARGUMENT" && c.Want.Code != "UNKNOWN_FIELD" || c.Want.Rule == "nul" {
		return nil, false
	}
	v := read(c.Raw)
	return v, v != nil || string(c.Raw) == "null"
}

func compile(doc any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource("mem:///m.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///m.json")
}

// same says why a change changes nothing, where that is proved from the schema around it; empty where it is not.
func same(doc []byte, m mutant) string {
	before, err := json.Marshal(read(doc))
	if err != nil {
		return ""
	}
	after, err := json.Marshal(m.doc)
	if err == nil && string(before) == string(after) {
		return "the same document"
	}
	in := lookUp(read(doc), m.path)
	if in == nil {
		return ""
	}
	changed := lookUp(m.doc, m.path)
	switch m.keyword {
	case "type":
		if _, has := changed["type"]; has {
			return sameNumbers(in, changed)
		}
		for _, k := range []string{"const", "enum"} {
			if in[k] != nil {
				return "type is implied by " + k
			}
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return sameNumbers(in, changed)
	case "maxItems":
		return sameSets(in, changed)
	case "pattern":
		return samePattern(in["pattern"], changed["pattern"])
	case "required":
		if in["oneOf"] != nil {
			return ""
		}
	case "minItems", "minLength", "minProperties":
		if n, ok := in[m.keyword].(json.Number); ok && n == "0" && (changed[m.keyword] == nil || changed[m.keyword] == json.Number("0")) {
			return "zero is no bound"
		}
	}
	return ""
}

// sameSets: of different values of which there are only so many no array is longer.
func sameSets(in, changed map[string]any) string {
	items, ok := in["items"].(map[string]any)
	if !ok || in["uniqueItems"] != true {
		return ""
	}
	list, ok := items["enum"].([]any)
	if !ok {
		return ""
	}
	bound := func(s map[string]any) int {
		if n, ok := s["maxItems"].(json.Number); ok {
			if i, err := strconv.Atoi(string(n)); err == nil {
				return min(i, len(list))
			}
		}
		return len(list)
	}
	if bound(in) == bound(changed) {
		return "there are no more different items"
	}
	return ""
}

// sameNumbers compares the numbers that two schemas admit: the first, the last, and the step from one to the next.
func sameNumbers(in, changed map[string]any) string {
	a, okA := gridOf(in)
	b, okB := gridOf(changed)
	if okA && okB && a == b {
		return "the same numbers"
	}
	return ""
}

// grid is a set of numbers: multiples of a step between two of them.
type grid struct{ first, last, step string }

func gridOf(s map[string]any) (grid, bool) {
	num := func(key string) *big.Rat {
		n, ok := s[key].(json.Number)
		if !ok {
			return nil
		}
		r, _ := new(big.Rat).SetString(string(n))
		return r
	}
	step := num("multipleOf")
	if s["type"] == "integer" {
		if step == nil {
			step = big.NewRat(1, 1)
		}
		step = new(big.Rat).SetInt(step.Num()) // the whole multiples of a/b are those of a
	}
	if step == nil {
		return grid{}, false
	}
	at := func(bound *big.Rat, up, open bool) string {
		if bound == nil {
			return ""
		}
		q := new(big.Rat).Quo(bound, step)
		n := new(big.Int).Div(q.Num(), q.Denom())
		switch whole := q.IsInt(); {
		case up && (!whole || open):
			n.Add(n, big.NewInt(1))
		case !up && whole && open:
			n.Sub(n, big.NewInt(1))
		}
		return n.String()
	}
	return grid{
		at(num("minimum"), true, false) + "|" + at(num("exclusiveMinimum"), true, true), at(num("maximum"), false, false) + "|" + at(num("exclusiveMaximum"), false, true), step.RatString(),
	}, true
}

// samePattern compares two expressions in normal form.
func samePattern(a, b any) string {
	p, okP := a.(string)
	q, okQ := b.(string)
	if !okP || !okQ {
		return ""
	}
	x, errX := syntax.Parse(p, syntax.Perl)
	y, errY := syntax.Parse(q, syntax.Perl)
	if errX == nil && errY == nil && x.Simplify().String() == y.Simplify().String() {
		return "the same expression"
	}
	if strings.HasPrefix(q, "(?i)") && !lettered(x) {
		return "there is no letter"
	}
	return ""
}

// lettered reports whether any literal or class holds a letter.
func lettered(x *syntax.Regexp) bool {
	for _, r := range x.Rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return true
		}
	}
	return slices.ContainsFunc(x.Sub, lettered)
}

func lookUp(at any, where string) map[string]any {
	for _, token := range strings.Split(where, "/")[1:] {
		switch v := at.(type) {
		case map[string]any:
			at = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(v) {
				return nil
			}
			at = v[i]
		}
	}
	in, ok := at.(map[string]any)
	if !ok {
		return nil
	}
	return in
}
