package validate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// TestCompatible goes through each keyword in both directions: what narrows an input breaks its callers, what widens an
// output breaks its readers.
func TestCompatible(t *testing.T) {
	t.Parallel()
	object := func(props, required string) string {
		return `{"type":"object","properties":{` + props + `},"required":[` + required + `],"additionalProperties":false}`
	}
	field := func(schema string) string { return object(`"f":`+schema, `"f"`) }
	for _, c := range []struct {
		name, before, after string
		narrows             []validate.Break // as an input
		widens              []validate.Break // as an output
	}{
		{"nothing", field(`{"type":"integer"}`), field(`{"description":"better words","type":"integer"}`), nil, nil},
		{
			"a new optional field", object(``, ``), object(`"f":{"type":"integer"}`, ``),
			nil,
			[]validate.Break{{Path: "f", Rule: "properties", Before: "not declared", After: "added"}},
		},
		{
			"a new required field", object(``, ``), object(`"f":{"type":"integer"}`, `"f"`),
			[]validate.Break{{Path: "f", Rule: "required", Before: "not declared", After: "required"}},
			[]validate.Break{{Path: "f", Rule: "properties", Before: "not declared", After: "added"}},
		},
		{
			"a removed field", object(`"f":{"type":"integer"}`, ``), object(``, ``),
			[]validate.Break{{Path: "f", Rule: "properties", Before: "declared", After: "removed"}},
			nil,
		},
		{
			"required now", object(`"f":{"type":"integer"}`, ``), object(`"f":{"type":"integer"}`, `"f"`),
			[]validate.Break{{Path: "f", Rule: "required", Before: "optional", After: "required"}},
			nil,
		},
		{
			"optional now", object(`"f":{"type":"integer"}`, `"f"`), object(`"f":{"type":"integer"}`, ``),
			nil,
			[]validate.Break{{Path: "f", Rule: "required", Before: "required", After: "optional"}},
		},
		{
			"a narrower enumeration", field(`{"enum":["a","b"]}`), field(`{"enum":["b"]}`),
			[]validate.Break{{Path: "f", Rule: "enum", Before: `"a", "b"`, After: `"b"`}},
			nil,
		},
		{
			"a wider enumeration", field(`{"enum":["a"]}`), field(`{"enum":["a","b"]}`),
			nil,
			[]validate.Break{{Path: "f", Rule: "enum", Before: `"a"`, After: `"a", "b"`}},
		},
		{
			"another constant", field(`{"const":1}`), field(`{"const":2}`),
			[]validate.Break{{Path: "f", Rule: "enum", Before: `1`, After: `2`}},
			[]validate.Break{{Path: "f", Rule: "enum", Before: `1`, After: `2`}},
		},
		{
			"a lower maximum", field(`{"type":"integer","maximum":10}`), field(`{"type":"integer","maximum":9}`),
			[]validate.Break{{Path: "f", Rule: "maximum", Before: "10", After: "9"}},
			nil,
		},
		{
			"a higher maximum", field(`{"type":"integer","maximum":9}`), field(`{"type":"integer","maximum":10}`),
			nil,
			[]validate.Break{{Path: "f", Rule: "maximum", Before: "9", After: "10"}},
		},
		{"the same maximum in other digits", field(`{"type":"integer","maximum":10}`), field(`{"type":"integer","maximum":1e1}`), nil, nil},
		{
			"a new minimum", field(`{"type":"integer"}`), field(`{"type":"integer","minimum":0}`),
			[]validate.Break{{Path: "f", Rule: "minimum", Before: "none", After: "0"}},
			nil,
		},
		{
			"no exclusive bound any more", field(`{"type":"number","exclusiveMaximum":1}`), field(`{"type":"number"}`),
			nil,
			[]validate.Break{{Path: "f", Rule: "exclusiveMaximum", Before: "1", After: "none"}},
		},
		{
			"a coarser step", field(`{"type":"integer","multipleOf":2}`), field(`{"type":"integer","multipleOf":4}`),
			[]validate.Break{{Path: "f", Rule: "multipleOf", Before: "2", After: "4"}},
			nil,
		},
		{
			"shorter", field(`{"type":"string","maxLength":10}`), field(`{"type":"string","maxLength":9}`),
			[]validate.Break{{Path: "f", Rule: "maxLength", Before: "10", After: "9"}},
			nil,
		},
		{
			"not empty", field(`{"type":"string","maxLength":10}`), field(`{"type":"string","maxLength":10,"minLength":1}`),
			[]validate.Break{{Path: "f", Rule: "minLength", Before: "0", After: "1"}},
			nil,
		},
		{
			"another pattern", field(`{"type":"string","pattern":"^a{1,2}$"}`), field(`{"type":"string","pattern":"^a{1,3}$"}`),
			[]validate.Break{{Path: "f", Rule: "pattern", Before: "^a{1,2}$", After: "^a{1,3}$"}},
			[]validate.Break{{Path: "f", Rule: "pattern", Before: "^a{1,2}$", After: "^a{1,3}$"}},
		},
		{
			"a format", field(`{"type":"string","maxLength":40}`), field(`{"type":"string","maxLength":40,"format":"uuid"}`),
			[]validate.Break{{Path: "f", Rule: "format", Before: "none", After: "uuid"}},
			nil,
		},
		{
			"another type", field(`{"type":"integer"}`), field(`{"type":"boolean"}`),
			[]validate.Break{{Path: "f", Rule: "type", Before: "integer", After: "boolean"}},
			[]validate.Break{{Path: "f", Rule: "type", Before: "integer", After: "boolean"}},
		},
		{
			"a wider type", field(`{"type":"integer"}`), field(`{"type":"number"}`),
			nil,
			[]validate.Break{{Path: "f", Rule: "type", Before: "integer", After: "number"}},
		},
		{
			"null too", field(`{"type":"integer"}`), field(`{"anyOf":[{"type":"integer"},{"type":"null"}]}`),
			nil,
			[]validate.Break{{Path: "f", Rule: "type", Before: "integer", After: "null|integer"}},
		},
		{
			"fewer items", field(`{"type":"array","items":{"type":"integer"},"maxItems":5}`), field(`{"type":"array","items":{"type":"integer"},"maxItems":4}`),
			[]validate.Break{{Path: "f", Rule: "maxItems", Before: "5", After: "4"}},
			nil,
		},
		{
			"unique items", field(`{"type":"array","items":{"type":"integer"},"maxItems":5}`), field(`{"type":"array","items":{"type":"integer"},"maxItems":5,"uniqueItems":true}`),
			[]validate.Break{{Path: "f", Rule: "uniqueItems", Before: "false", After: "true"}},
			nil,
		},
		{
			"within items", field(`{"type":"array","items":` + field(`{"enum":[1,2]}`) + `,"maxItems":5}`), field(`{"type":"array","items":` + field(`{"enum":[1]}`) + `,"maxItems":5}`),
			[]validate.Break{{Path: "f[].f", Rule: "enum", Before: "1, 2", After: "1"}},
			nil,
		},
		{
			"a map closed", field(`{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":3}`), field(`{"type":"object","additionalProperties":false,"maxProperties":3}`),
			[]validate.Break{{Path: "f", Rule: "additionalProperties", Before: "open to values of a schema", After: "closed"}},
			nil,
		},
		{
			"an object opened", field(`{"type":"object","additionalProperties":false,"maxProperties":3}`), field(`{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":3}`),
			nil,
			[]validate.Break{{Path: "f", Rule: "additionalProperties", Before: "closed", After: "open to values of a schema"}},
		},
		{
			"a branch removed", field(unionOf("a", "b")), field(unionOf("a")),
			[]validate.Break{{Path: "f<b>", Rule: "oneOf", Before: "a branch", After: "removed"}},
			nil,
		},
		{
			"a branch added", field(unionOf("a")), field(unionOf("a", "b")),
			nil,
			[]validate.Break{{Path: "f<b>", Rule: "oneOf", Before: "not a branch", After: "added"}},
		},
		{
			"a condition", field(`{"type":"integer"}`), field(`{"type":"integer","not":{"const":3}}`),
			[]validate.Break{{Path: "f", Rule: "not", Before: "none", After: `{"const":3}`}},
			nil,
		},
		{
			"a union no more", field(unionOf("a")), field(`{"type":"integer"}`),
			[]validate.Break{{Path: "f", Rule: "oneOf", Before: "a union of a", After: "integer"}},
			[]validate.Break{{Path: "f", Rule: "oneOf", Before: "a union of a", After: "integer"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.narrows, breaks(t, c.before, c.after), "as an input")
			require.Equal(t, c.widens, breaks(t, c.before, c.after, validate.Output()), "as an output")
			require.Empty(t, breaks(t, c.before, c.before))
			require.Empty(t, breaks(t, c.after, c.after, validate.Output()))
		})
	}
}

func unionOf(kinds ...string) string {
	doc := `{"oneOf":[`
	for i, k := range kinds {
		if i > 0 {
			doc += ","
		}
		doc += `{"type":"object","properties":{"kind":{"const":"` + k + `"}},"required":["kind"],"additionalProperties":false}`
	}
	return doc + `]}`
}

func breaks(t *testing.T, before, after string, opts ...validate.Option) []validate.Break {
	t.Helper()
	b, err := validate.Compile([]byte(before), opts...)
	require.NoError(t, err)
	a, err := validate.Compile([]byte(after), opts...)
	require.NoError(t, err)
	return validate.Compatible(b, a)
}

func TestCompatibleEndsOnRecursiveTypes(t *testing.T) {
	t.Parallel()
	s, err := validate.For[tree]()
	require.NoError(t, err)
	require.Empty(t, validate.Compatible(s, s))
	require.Equal(t, "the document: type: a → b", validate.Break{Rule: "type", Before: "a", After: "b"}.String())
}

// TestCompatibleLooksEverywhere: what a reader from outside found missed, or reported without need.
func TestCompatibleLooksEverywhere(t *testing.T) {
	t.Parallel()
	in := func(schema, defs string) string {
		return `{"type":"object","properties":{"f":` + schema + `},"required":["f"],"additionalProperties":false,"$defs":{` + defs + `}}`
	}
	for _, c := range []struct {
		name, before, after string
		narrows, widens     []string // the paths and rules of the breaks
	}{
		{
			"beside a reference", in(`{"$ref":"#/$defs/n"}`, `"n":{"type":"integer"}`), in(`{"$ref":"#/$defs/n","maximum":5}`, `"n":{"type":"integer"}`),
			[]string{"f maximum"},
			nil,
		},
		{
			"behind a reference in anyOf", in(`{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}`, `"n":{"type":"integer","maximum":9}`),
			in(`{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}`, `"n":{"type":"integer","maximum":5}`),
			[]string{"f maximum"},
			nil,
		},
		{
			"behind a reference in allOf", in(`{"type":"integer","allOf":[{"$ref":"#/$defs/n"}],"unevaluatedProperties":false}`, `"n":{"maximum":9,"type":"integer"}`),
			in(`{"type":"integer","allOf":[{"$ref":"#/$defs/n"}],"unevaluatedProperties":false}`, `"n":{"maximum":5,"type":"integer"}`),
			[]string{"f maximum"},
			nil,
		},
		{
			"behind a reference in patternProperties",
			in(`{"type":"object","patternProperties":{"^a":{"$ref":"#/$defs/n"}},"additionalProperties":false,"maxProperties":3}`, `"n":{"type":"integer","maximum":9}`),
			in(`{"type":"object","patternProperties":{"^a":{"$ref":"#/$defs/n"}},"additionalProperties":false,"maxProperties":3}`, `"n":{"type":"integer","maximum":5}`),
			[]string{"f{} maximum"},
			nil,
		},
		{
			"beside a nullable", in(`{"anyOf":[{"type":"integer"},{"type":"null"}]}`, ``), in(`{"anyOf":[{"type":"integer"},{"type":"null"}],"minimum":3}`, ``),
			[]string{"f minimum"},
			nil,
		},
		{
			"beside a union", in(unionOf("a"), ``), in(strings.TrimSuffix(unionOf("a"), "}")+`,"maxProperties":0}`, ``),
			[]string{"f<a> maxProperties"},
			nil,
		},
		{
			"a property added to a map", in(`{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":3}`, ``),
			in(`{"type":"object","properties":{"a":{"type":"string","maxLength":3}},"additionalProperties":{"type":"integer"},"maxProperties":3}`, ``),
			[]string{"f.a type"},
			[]string{"f.a type"},
		},
		{
			"patternProperties added to a map", in(`{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":3}`, ``),
			in(`{"type":"object","patternProperties":{"^a":{"type":"integer","maximum":5}},"additionalProperties":{"type":"integer"},"maxProperties":3}`, ``),
			[]string{"f{} maximum"},
			nil,
		},
		{
			"an undeclared member required", in(`{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":3}`, ``),
			in(`{"type":"object","additionalProperties":{"type":"integer"},"required":["a"],"maxProperties":3}`, ``),
			[]string{"f.a required"},
			nil,
		},
		{
			"an undeclared member no longer required", in(`{"type":"object","additionalProperties":{"type":"integer"},"required":["a"],"maxProperties":3}`, ``),
			in(`{"type":"object","additionalProperties":{"type":"integer"},"maxProperties":3}`, ``),
			nil,
			[]string{"f.a required"},
		},
		{
			"a property that became false", in(`{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}`, ``),
			in(`{"type":"object","properties":{"a":false},"additionalProperties":false}`, ``),
			[]string{"f.a properties"},
			nil,
		},
		{
			"a shared definition", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"}},"additionalProperties":false,"$defs":{"n":{"type":"integer","maximum":9}}}`,
			`{"type":"object","properties":{"a":{"$ref":"#/$defs/n"},"b":{"$ref":"#/$defs/n"}},"additionalProperties":false,"$defs":{"n":{"type":"integer","maximum":5}}}`,
			[]string{"a maximum", "b maximum"},
			nil,
		},
		{
			"an optional property dropped", in(`{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}`, ``),
			in(`{"type":"object","properties":{},"additionalProperties":false}`, ``),
			[]string{"f.a properties"},
			nil,
		},
		{
			"null in another form", in(`{"type":["string","null"],"maxLength":5}`, ``), in(`{"anyOf":[{"type":"string","maxLength":5},{"type":"null"}]}`, ``), nil, nil,
		},
		{
			"a reference written out", in(`{"$ref":"#/$defs/n"}`, `"n":{"type":"integer"}`), in(`{"type":"integer"}`, ``), nil, nil,
		},
		{
			"an enumeration as constants", in(`{"enum":["a","b"]}`, ``), in(`{"anyOf":[{"const":"a"},{"const":"b"}]}`, ``), nil, nil,
		},
		{
			"composed and written out",
			in(`{"type":"object","allOf":[{"properties":{"a":{"type":"null"}}},{"properties":{"b":{"type":"null"}},"required":["b"]}],"unevaluatedProperties":false}`, ``),
			in(`{"type":"object","properties":{"b":{"type":"null"},"a":{"type":"null"}},"required":["b"],"additionalProperties":false}`, ``), nil, nil,
		},
		{
			"names of a list taken out", in(`{"type":"object","propertyNames":{"enum":["a","b"]},"additionalProperties":{"type":"null"},"maxProperties":3}`, ``),
			in(`{"type":"object","propertyNames":{"enum":["a"]},"additionalProperties":{"type":"null"},"maxProperties":3}`, ``),
			[]string{"f propertyNames"},
			nil,
		},
		{
			"something to be found in a list", in(`{"type":"array","items":{"type":"integer"},"maxItems":3}`, ``),
			in(`{"type":"array","items":{"type":"integer"},"maxItems":3,"contains":{"const":1}}`, ``),
			[]string{"f contains"},
			nil,
		},
		{
			"more to be found in a list", in(`{"type":"array","items":{"type":"integer"},"maxItems":3,"contains":{"enum":[1,2]},"minContains":2}`, ``),
			in(`{"type":"array","items":{"type":"integer"},"maxItems":3,"contains":{"enum":[1,2,3]}}`, ``),
			nil,
			[]string{"f contains"},
		},
		{
			"no more than to be found in a list", in(`{"type":"array","items":{"type":"integer"},"maxItems":9,"contains":{"enum":[1,2]},"maxContains":2}`, ``),
			in(`{"type":"array","items":{"type":"integer"},"maxItems":9,"contains":{"const":1},"minContains":0,"maxContains":3}`, ``),
			nil,
			[]string{"f contains"},
		},
		{
			"a member that asks for another", in(`{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"additionalProperties":false}`, ``),
			in(`{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"additionalProperties":false,"dependentRequired":{"a":["b"]}}`, ``),
			[]string{"f dependentRequired"},
			nil,
		},
		{
			"a branch that looks at every member",
			in(`{"type":"object","anyOf":[{"additionalProperties":{"type":"integer"}},{"properties":{"a":{"type":"string","maxLength":3}}}],"unevaluatedProperties":false,"maxProperties":3}`, ``),
			in(`{"type":"object","properties":{"a":{"type":"string","maxLength":3}},"additionalProperties":false,"maxProperties":3}`, ``),
			[]string{"f.a type", "f additionalProperties", "f additionalProperties"},
			nil,
		},
		{
			"a branch that looks at every item",
			in(`{"type":"array","anyOf":[{"items":{"type":"integer"}},{"prefixItems":[{"type":"string","maxLength":3}]}],"unevaluatedItems":false,"maxItems":3}`, ``),
			in(`{"type":"array","prefixItems":[{"type":"string","maxLength":3}],"items":false,"maxItems":3}`, ``),
			[]string{"f[0] type", "f items", "f items"},
			nil,
		},
		{
			"two branches of which one must hold", in(`{"type":"integer","minimum":0}`, ``),
			in(`{"oneOf":[{"type":"integer","minimum":0},{"type":"integer","minimum":5}]}`, ``),
			[]string{"f oneOf"},
			nil,
		},
		{
			"two branches of which one does hold", in(`{"type":"integer","minimum":5,"maximum":9}`, ``),
			in(`{"oneOf":[{"type":"integer","maximum":4},{"type":"integer","minimum":5,"maximum":9}]}`, ``),
			nil,
			[]string{"f minimum"},
		},
		{
			"a kind that is not among the branches", in(unionOf("a", "b"), ``), in(unionOf("b", "c"), ``),
			[]string{"f<a> oneOf"},
			[]string{"f<c> oneOf"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.narrows, rules(breaks(t, c.before, c.after)), "as an input")
			require.Equal(t, c.widens, rules(breaks(t, c.before, c.after, validate.Output())), "as an output")
		})
	}
}

func rules(list []validate.Break) (out []string) {
	for _, b := range list {
		out = append(out, b.Path+" "+b.Rule)
	}
	return out
}

// TestCompatibleSeesWhatGoTypesAdd: an int takes no 1.0, a document's integer does; floats lose digits that integers have.
func TestCompatibleSeesWhatGoTypesAdd(t *testing.T) {
	t.Parallel()
	type pair struct {
		name   string
		schema *validate.Schema
	}
	var list []pair
	add := func(name string, s *validate.Schema, err error) {
		require.NoError(t, err, name)
		list = append(list, pair{name, s})
	}
	document := func(doc string) {
		s, err := validate.Compile([]byte(doc))
		add(doc, s, err)
	}
	one, err := validate.For[int8]()
	add("int8", one, err)
	one, err = validate.For[int]()
	add("int", one, err)
	one, err = validate.For[uint8]()
	add("uint8", one, err)
	one, err = validate.For[uint64]()
	add("uint64", one, err)
	one, err = validate.For[float32]()
	add("float32", one, err)
	one, err = validate.For[float64]()
	add("float64", one, err)
	document(`{"type":"integer"}`)
	document(`{"type":"number"}`)
	document(`{"type":"integer","minimum":0,"maximum":255}`)
	document(`{"enum":[1,2]}`)
	texts := []string{"0", "-0", "1", "2", "1.0", "1e1", "-1", "0.5", "0.1", "255", "300", "16777217", "9007199254740993", "18446744073709551615", "1e39", "1e400", "1e-400", "3.4028235e38"}
	proved := 0
	for _, before := range list {
		for _, after := range list {
			if len(validate.Compatible(before.schema, after.schema)) > 0 {
				continue
			}
			proved++
			for _, text := range texts {
				if before.schema.Check([]byte(text), validate.Limits{}) == nil {
					require.NoError(t, after.schema.Check([]byte(text), validate.Limits{}), "%s to %s: %s", before.name, after.name, text)
				}
			}
		}
	}
	require.Greater(t, proved, 20, "each with itself, and more")
	require.Equal(t, []string{" type"}, rules(validate.Compatible(list[8].schema, list[2].schema)), "an integer of a document to a uint8")
	require.Empty(t, validate.Compatible(list[0].schema, list[5].schema), "int8 to float64")
}

// TestCompatibleForgetsAssumptionsThatFailed: what held only if a comparison under way came out well does not hold when it
// has not, though another branch of a choice asks the same again.
func TestCompatibleForgetsAssumptionsThatFailed(t *testing.T) {
	t.Parallel()
	object := func(props string) string {
		return `{"type":"object","properties":{` + props + `},"additionalProperties":false}`
	}
	ref := func(name string) string { return `{"$ref":"#/$defs/` + name + `"}` }
	with := func(z string) string { // the members of bp and one more
		return `{"type":"object","allOf":[` + ref("bp") + `],"properties":{"z":{"type":"` + z + `"}},"unevaluatedProperties":false}`
	}
	defs := `"$defs":{"s":` + object(`"a":`+ref("a")) + `,"a":` + object(`"s":`+ref("s")+`,"z":{"type":"integer"}`) +
		`,"w":` + object(`"a":`+ref("b")) + `,"b":` + with("boolean") + `,"bp":{"properties":{"s":` + ref("w") + `}}}`
	document := func(f string) string {
		return `{"type":"object","properties":{"f":` + f + `},"additionalProperties":false,` + defs + `}`
	}
	before := document(object(`"p":` + ref("s") + `,"r":` + ref("a")))
	after := document(`{"anyOf":[` + object(`"p":`+ref("w")+`,"r":`+ref("a")) + `,` + object(`"p":`+ref("s")+`,"r":`+with("integer")) + `]}`)
	require.Equal(t, []string{"f anyOf"}, rules(breaks(t, before, after)))
}
