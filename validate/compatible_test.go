package validate_test

import (
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
			[]validate.Break{{Path: "f", Rule: "properties", Before: "declared", After: "removed"}},
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
			[]validate.Break{{Path: "f", Rule: "anyOf", Before: "not null", After: "may be null"}},
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
			[]validate.Break{{Path: "f", Rule: "not", Before: "none", After: `{"const":3}`}},
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
