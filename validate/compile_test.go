package validate_test

import (
	"encoding/json/jsontext"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

func TestCompileRefusesWhatAContractMustNotLeaveOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, doc, fault string }{
		{"no JSON", `{`, "the document"},
		{"a name twice", `{"type":"null","type":"null"}`, "the document"},
		{"a number for a schema", `1`, "an object or a boolean"},
		{"anything", `true`, "admits anything"},
		{"nothing said", `{}`, "no type"},
		{"an unknown keyword", `{"type":"null","maxLenght":1}`, `"maxLenght"`},
		{"an extension", `{"type":"null","x-note":1}`, `"x-note"`},
		{"another draft", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"null"}`, "$schema"},
		{"an open object", `{"type":"object","properties":{}}`, "open object"},
		{"an open object within", `{"type":"object","properties":{"a":{"type":"object"}},"additionalProperties":false}`, "a: an open object"},
		{"an object open to anything", `{"type":"object","additionalProperties":true}`, "admits anything"},
		{"a map without a bound", `{"type":"object","additionalProperties":{"type":"null"}}`, "maxProperties"},
		{"an unbounded string", `{"type":"string"}`, "without a bound"},
		{"a pattern that does not end", `{"type":"string","pattern":"^a+$"}`, "without a bound"},
		{"a format without a bound", `{"type":"string","format":"uri"}`, "without a bound"},
		{"an unbounded array", `{"type":"array","items":{"type":"null"}}`, "maxItems"},
		{"an array of anything", `{"type":"array","maxItems":1}`, "items"},
		{"a string in a list of types", `{"type":["null","string"]}`, "without a bound"},
		{"a branch without a type", `{"anyOf":[{"type":"null"},{"minimum":1}]}`, "no type"},
		{"allOf left open", `{"allOf":[{"type":"object","properties":{},"additionalProperties":false}]}`, "unevaluatedProperties"},
		{"a remote reference", `{"$ref":"https://example.com/schema.json"}`, "same document"},
		{"a relative reference", `{"$ref":"other.json"}`, "same document"},
		{"an anchor", `{"$ref":"#here"}`, "JSON pointer"},
		{"a reference to nothing", `{"$ref":"#/$defs/x"}`, "nothing at"},
		{"a reference to itself", `{"$ref":"#"}`, "leads back"},
		{"references in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}}`, "leads back"},
		{"a dynamic reference", `{"$dynamicRef":"#a"}`, `"$dynamicRef"`},
		{"an id within", `{"type":"array","maxItems":1,"items":{"$id":"a","type":"null"}}`, "$id"},
		{"an empty enumeration", `{"enum":[]}`, "enum"},
		{"an enumeration with a value twice", `{"enum":[1,1.0]}`, "twice"},
		{"an unknown type", `{"type":"int"}`, "type"},
		{"no types", `{"type":[]}`, "type"},
		{"a negative length", `{"type":"string","maxLength":-1}`, "maxLength"},
		{"a length with a fraction", `{"type":"string","maxLength":1.5}`, "maxLength"},
		{"a step of zero", `{"type":"integer","multipleOf":0}`, "multipleOf"},
		{"a bound that is text", `{"type":"integer","maximum":"5"}`, "maximum"},
		{"a required member twice", `{"type":"object","properties":{"a":{"type":"null"}},"required":["a","a"],"additionalProperties":false}`, "required"},
		{"a required member that is not declared", `{"type":"object","properties":{},"required":["a"],"additionalProperties":false}`, "nothing can satisfy"},
		{"a name that cannot be shown", `{"type":"object","properties":{"a b":{"type":"null"}},"additionalProperties":false}`, "member name"},
		{"content", `{"type":"string","maxLength":5,"contentEncoding":"base64"}`, `"contentEncoding"`},
		{"a map by patterns without a bound", `{"type":"object","patternProperties":{"":{"type":"null"}},"additionalProperties":false}`, "map without a bound"},
		{"a map by a pattern of everything", `{"type":"object","patternProperties":{".*":{"type":"null"}},"additionalProperties":false}`, "map without a bound"},
		{"a map by patterns, unevaluated", `{"type":"object","patternProperties":{"^a":{"type":"null"}},"unevaluatedProperties":false}`, "map without a bound"},
		{"a branch that opens", `{"type":"object","anyOf":[{"properties":{"a":{"type":"null"}}},{"additionalProperties":{"type":"null"}}],"unevaluatedProperties":false}`, "map without a bound"},
		{"a branch that opens by patterns", `{"type":"object","allOf":[{"patternProperties":{"^a":{"type":"null"}}}],"unevaluatedProperties":false}`, "map without a bound"},
		{"a branch that opens behind a reference", `{"type":"object","oneOf":[{"$ref":"#/$defs/a"}],"unevaluatedProperties":false,"$defs":{"a":{"allOf":[{"unevaluatedProperties":{"type":"null"}}]}}}`, "map without a bound"},
		{"a condition that opens", `{"type":"object","if":{"additionalProperties":{"type":"null"}},"unevaluatedProperties":false}`, "map without a bound"},
		{"items that contains looks at", `{"type":"array","contains":{"type":"null"},"unevaluatedItems":false}`, "maxItems"},
		{"items that leave nothing unevaluated", `{"type":"array","items":{"type":"null"},"unevaluatedItems":false}`, "maxItems"},
		{"items that a branch looks at", `{"type":"array","allOf":[{"items":{"type":"null"}}],"unevaluatedItems":false}`, "maxItems"},
		{"a moment of any length", `{"type":"string","format":"date-time"}`, "without a bound"},
		{"a time of any length", `{"type":"string","format":"time"}`, "without a bound"},
		{"a reference into an enumeration", `{"type":"object","properties":{"a":{"enum":[{"type":"null"}]},"b":{"$ref":"#/properties/a/enum/0"}},"additionalProperties":false}`, "no schema"},
		{"a reference to the properties", `{"type":"object","properties":{"type":{"type":"null"},"b":{"$ref":"#/properties"}},"additionalProperties":false}`, "no schema"},
		{"bounds that exclude one another", `{"type":"number","exclusiveMinimum":5,"maximum":5}`, "nothing can satisfy both"},
		{"no whole number within", `{"type":"integer","minimum":0.5,"maximum":0.7}`, "no whole number"},
		{"no multiple within", `{"type":"number","multipleOf":0.5,"exclusiveMinimum":1,"exclusiveMaximum":1.5}`, "no multiple"},
		{"no whole multiple within", `{"type":"integer","multipleOf":1.5,"minimum":1,"maximum":2}`, "no whole number"},
		{"lengths that exclude one another", `{"type":"string","minLength":3,"maxLength":2}`, "no text"},
		{"a pattern too long", `{"type":"string","maxLength":2,"pattern":"a{3}"}`, "no text"},
		{"a format too long", `{"type":"string","maxLength":9,"format":"date"}`, "no text"},
		{"a format too short", `{"type":"string","minLength":11,"format":"date"}`, "no text"},
		{"a pattern that nothing matches", `{"type":"string","maxLength":2,"pattern":"a^b"}`, "no text"},
		{"counts that exclude one another", `{"type":"array","items":{"type":"null"},"minItems":3,"maxItems":2}`, "minItems"},
		{"more items than positions", `{"type":"array","prefixItems":[{"type":"null"}],"items":false,"minItems":2}`, "minItems"},
		{"more members than declared", `{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false,"minProperties":2}`, "minProperties"},
		{"more required than admitted", `{"type":"object","properties":{"a":{"type":"null"},"b":{"type":"null"}},"required":["a","b"],"additionalProperties":false,"maxProperties":1}`, "required"},
		{"more to be found than admitted", `{"type":"array","items":{"type":"null"},"maxItems":1,"contains":{"type":"null"},"minContains":2}`, "minContains"},
		{"nothing to be found", `{"type":"array","items":{"type":"null"},"maxItems":1,"contains":{"type":"null"},"maxContains":0}`, "minContains"},
		{"a listed value that is refused", `{"type":"string","enum":["a",null]}`, "does not obey"},
		{"a constant that is refused", `{"const":5,"maximum":4}`, "does not obey"},
		{"names that are numbers", `{"type":"object","propertyNames":{"type":"integer"},"additionalProperties":{"type":"null"},"maxProperties":1}`, "propertyNames"},
		{"an empty allOf", `{"type":"null","allOf":[]}`, "allOf"},
		{"properties that are a list", `{"type":"object","properties":[],"additionalProperties":false}`, "properties"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := validate.Compile(jsontext.Value(c.doc))
			require.ErrorContains(t, err, c.fault)
		})
	}
}

func TestCompileTakesWhatIsBoundedAllTheSame(t *testing.T) {
	t.Parallel()
	for why, doc := range map[string]string{
		"a map by patterns":         `{"type":"object","patternProperties":{"":{"type":"null"}},"additionalProperties":false,"maxProperties":3}`,
		"a pattern that refuses":    `{"type":"object","patternProperties":{"^x":false},"additionalProperties":false}`,
		"a bounded branch":          `{"type":"object","anyOf":[{"properties":{"a":{"type":"null"}}},{"additionalProperties":{"type":"null"},"maxProperties":3}],"unevaluatedProperties":false}`,
		"a bound around a branch":   `{"type":"object","maxProperties":3,"anyOf":[{"additionalProperties":{"type":"null"}}],"unevaluatedProperties":false}`,
		"a negation, which looks":   `{"type":"object","not":{"additionalProperties":{"type":"null"}},"properties":{"a":{"type":"null"}},"unevaluatedProperties":false}`,
		"contains with a bound":     `{"type":"array","contains":{"type":"null"},"unevaluatedItems":false,"maxItems":3}`,
		"positions alone":           `{"type":"array","prefixItems":[{"type":"null"}],"unevaluatedItems":false}`,
		"a moment with a bound":     `{"type":"string","format":"date-time","maxLength":40}`,
		"a date":                    `{"type":"string","format":"date"}`,
		"one number":                `{"type":"number","minimum":5,"maximum":5}`,
		"one whole number":          `{"type":"integer","exclusiveMinimum":4.5,"exclusiveMaximum":5.5}`,
		"one multiple":              `{"type":"integer","multipleOf":1.5,"minimum":-3,"exclusiveMaximum":0}`,
		"a reference to a member":   `{"type":"object","properties":{"a":{"type":"null"},"b":{"$ref":"#/properties/a"}},"additionalProperties":false}`,
		"nothing needs to be found": `{"type":"array","items":{"type":"null"},"maxItems":1,"contains":{"type":"null"},"minContains":0,"maxContains":0}`,
	} {
		_, err := validate.Compile([]byte(doc))
		require.NoError(t, err, why)
	}
}

func TestWhatStandsBesideAUnionIsChecked(t *testing.T) {
	t.Parallel()
	s, err := validate.Compile([]byte(`{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"n":{"type":"integer"},"m":{"type":"integer"}},"required":["kind"],"additionalProperties":false}],
		"maxProperties":2,"required":["n"],"properties":{"n":{"type":"integer","maximum":5}}}`))
	require.NoError(t, err)
	require.True(t, s.Explains([]byte(`{"kind":"a","n":5}`), validate.Limits{}))
	requireRule(t, s.Check([]byte(`{"kind":"a","n":6}`), validate.Limits{}), "n", "maximum")
	requireRule(t, s.Check([]byte(`{"kind":"a"}`), validate.Limits{}), "n", "required")
	requireRule(t, s.Check([]byte(`{"kind":"a","n":5,"m":1}`), validate.Limits{}), "", "maxProperties")
	requireRefusal(t, s.Check([]byte(`{"kind":"a","n":5,"x":1}`), validate.Limits{}), "UNKNOWN_FIELD", "x", "additionalProperties")
}

func TestCompileReportsAllFaults(t *testing.T) {
	t.Parallel()
	_, err := validate.Compile([]byte(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"object"}},"c":{"maximum":1}},"additionalProperties":false}`))
	require.Error(t, err)
	for _, fault := range []string{"a: a string without", "b: an array without", "b[]: an open object", "c: no type"} {
		require.ErrorContains(t, err, fault)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok, "the faults are joined")
	require.NotEmpty(t, joined.Unwrap())
}

func TestCompiledSchemasAreReadAsDocuments(t *testing.T) {
	t.Parallel()
	doc := []byte(`{ "type": "integer", "maximum": 9007199254740993 }`)
	s, err := validate.Compile(doc)
	require.NoError(t, err)
	for i := range doc {
		doc[i] = 'x' // the caller's bytes are the caller's
	}
	require.Equal(t, `{"type":"integer","maximum":9007199254740993}`, string(s.JSON()))
	v, err := s.Decode[jsontext.Value]([]byte(`9007199254740993`), validate.Limits{})
	require.NoError(t, err)
	require.Equal(t, `9007199254740993`, string(v))
	_, err = s.Decode[jsontext.Value]([]byte(`9007199254740994`), validate.Limits{})
	requireRule(t, err, "", "maximum")
	require.NoError(t, s.Check([]byte(`1e1`), validate.Limits{}), "an integer to JSON Schema")
	out, err := s.Encode(jsontext.Value(` 5 `), validate.Limits{})
	require.NoError(t, err)
	require.Equal(t, "5", string(out))
	_, err = s.Decode[int]([]byte(`5`), validate.Limits{})
	require.ErrorIs(t, err, validate.ErrType)
	got := s.JSON()
	got[0] = 'x'
	require.Equal(t, byte('{'), s.JSON()[0], "a copy")
}

func TestDigestIsOfTheMeaning(t *testing.T) {
	t.Parallel()
	digest := func(doc string) string {
		s, err := validate.Compile([]byte(doc))
		require.NoError(t, err)
		return s.Digest()
	}
	a := digest(`{"type":"string","maxLength":5,"description":"é"}`)
	require.Equal(t, a, digest(` { "description" : "\u00e9", "maxLength":5, "type":"string" } `))
	require.NotEqual(t, a, digest(`{"type":"string","maxLength":6,"description":"é"}`))
	require.NotEqual(t, a, digest(`{"type":"string","maxLength":5,"description":"e"}`), "a description is shown to the model: it is pinned too")
}

func TestUndeclaredNamesAreShownToTheirSenderAlone(t *testing.T) {
	t.Parallel()
	s, err := validate.Compile([]byte(`{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"},"maxItems":3},"maxProperties":5}},"additionalProperties":false}`))
	require.NoError(t, err)
	for _, c := range []struct{ doc, field, declared string }{
		{`{"m":{"secret_name":[1,"x"]}}`, "m.secret_name[1]", "m"},
		{`{"m":{"not showable":[1,"x"]}}`, "m", "m"},
		{`{"` + strings.Repeat("a", 64) + `":1}`, strings.Repeat("a", 64), ""},
		{`{"` + strings.Repeat("a", 65) + `":1}`, "", ""},
		{`{"m":1}`, "m", "m"},
		{`{"m":{"a\u0000b":[]}}`, "m", "m"},
	} {
		err := s.Check([]byte(c.doc), validate.Limits{})
		require.Error(t, err)
		e := s.Broken(err, "INVALID_RESPONSE")
		require.Equal(t, c.declared, e.Field)
		require.ErrorIs(t, e, err, "the original is the cause")
		require.NotContains(t, e.Error(), "secret")
		require.Equal(t, c.field, fieldOf(t, err))
	}
}

func TestTheGeneralValidatorDecidesBesideOurs(t *testing.T) {
	t.Parallel()
	s, err := validate.Compile([]byte(`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string","maxLength":3}},"if":{"required":["a"]},"then":{"required":["b"]},"additionalProperties":false}`))
	require.NoError(t, err)
	require.False(t, s.Compiled())
	require.NoError(t, s.Check([]byte(`{"b":"x"}`), validate.Limits{}))
	requireRule(t, s.Check([]byte(`{"a":1}`), validate.Limits{}), "b", "required")
	requireRule(t, s.Check([]byte(`{"a":1,"b":"\u0000"}`), validate.Limits{}), "b", "nul")
	requireRefusal(t, s.Check([]byte(`{"a":1,"a":1}`), validate.Limits{}), "DUPLICATE_MEMBER", "a", "")
	requireRefusal(t, s.Check([]byte(`{"c":1}`), validate.Limits{}), "UNKNOWN_FIELD", "c", "additionalProperties")
}

// TestTheGeneralValidatorReadsTheDotAsBothDialectsDo: what the two disagree about would be refused without a reason.
func TestTheGeneralValidatorReadsTheDotAsBothDialectsDo(t *testing.T) {
	t.Parallel()
	texts, err := validate.Compile([]byte(`{"type":"string","maxLength":9,"not":{"pattern":"^.$"}}`))
	require.NoError(t, err)
	names, err := validate.Compile([]byte(`{"type":"object","patternProperties":{"^.$":{"type":"null"}},"additionalProperties":{"type":"integer"},"maxProperties":3,"not":{"required":["b"]}}`))
	require.NoError(t, err)
	for _, terminator := range []string{`\u2028`, `\u2029`, `\r`, `\n`} {
		require.NoError(t, texts.Check([]byte(`"`+terminator+`"`), validate.Limits{}), terminator)
		require.NoError(t, names.Check([]byte(`{"`+terminator+`":1,"a":null}`), validate.Limits{}), terminator)
	}
	requireRule(t, texts.Check([]byte(`"x"`), validate.Limits{}), "", "not")
}
