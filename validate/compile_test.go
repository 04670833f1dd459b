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
