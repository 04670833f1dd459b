package validate_test

import (
	"math"
	"testing"
	"time"
	"uuid"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

type label string

type base struct {
	ID uuid.UUID `json:"id"`
}

type order struct {
	base
	Total    int64            `json:"total"`
	Tags     []label          `json:"tags" jsonschema:"enum=a,enum=b,uniqueItems=true"`
	Counts   map[string]uint8 `json:"counts"`
	Note     *string          `json:"note" jsonschema:"nullable"`
	Replaces *order           `json:"replaces,omitzero"`
	At       time.Time        `json:"at"`
	Ratio    float64          `json:"ratio,omitzero"`
}

func TestForDerivesAClosedBoundedDocument(t *testing.T) {
	t.Parallel()
	s, err := validate.For[order]()
	require.NoError(t, err)
	require.JSONEq(t, `{
		"type":"object",
		"properties":{
			"id":{"type":"string","format":"uuid"},
			"total":{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807},
			"tags":{"type":"array","items":{"type":"string","enum":["a","b"]},"maxItems":100,"uniqueItems":true},
			"counts":{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":255},"maxProperties":64},
			"note":{"anyOf":[{"type":"string","maxLength":1024},{"type":"null"}]},
			"replaces":{"$ref":"#"},
			"at":{"type":"string","format":"date-time","maxLength":35},
			"ratio":{"type":"number"}
		},
		"required":["id","total","tags","counts","note","at"],
		"additionalProperties":false
	}`, string(s.JSON()))
	require.True(t, s.Compiled())
	require.Regexp(t, `^sha256:[0-9a-f]{64}$`, s.Digest())
}

func TestIntegersStayExact(t *testing.T) {
	t.Parallel()
	type numbers struct {
		A int64  `json:"a"`
		B uint64 `json:"b"`
	}
	s, err := validate.For[numbers]()
	require.NoError(t, err)
	for _, doc := range []string{
		`{"a":9007199254740993,"b":18446744073709551615}`,
		`{"a":9223372036854775807,"b":0}`,
		`{"a":-9223372036854775808,"b":9007199254740993}`,
	} {
		v, err := s.Decode[numbers]([]byte(doc), validate.Limits{})
		require.NoError(t, err)
		out, err := s.Encode(v, validate.Limits{})
		require.NoError(t, err)
		require.Equal(t, doc, string(out))
	}
}

func TestEncodeWritesEmptyForNilAndRefusesWhatBreaksTheContract(t *testing.T) {
	t.Parallel()
	type answer struct {
		Items  []string       `json:"items"`
		Counts map[string]int `json:"counts"`
		State  string         `json:"state" jsonschema:"enum=open,enum=shut"`
		Ratio  float64        `json:"ratio"`
	}
	s, err := validate.For[answer](validate.Output())
	require.NoError(t, err)
	out, err := s.Encode(answer{State: "open"}, validate.Limits{})
	require.NoError(t, err)
	require.Equal(t, `{"items":[],"counts":{},"state":"open","ratio":0}`, string(out))

	_, err = s.Encode(answer{State: "ajar"}, validate.Limits{})
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, envelope.OutputInvalid, e.Code)
	require.Equal(t, "state", e.Field)
	require.Equal(t, "enum", e.Rule)

	_, err = s.Encode(answer{State: "open", Ratio: math.NaN()}, validate.Limits{})
	require.Equal(t, envelope.OutputInvalid, codeOf(t, err))

	_, err = s.Encode(answer{State: "open", Counts: map[string]int{"customer_7": 1, "x": math.MaxInt}}, validate.Limits{Exponent: 1, NumberDigits: 18})
	require.ErrorAs(t, err, &e)
	require.Equal(t, "counts", e.Field, "a map's key is no declared name")
	require.Equal(t, "limit", e.Rule)
}

func TestViolationsAreCompleteAndInOrder(t *testing.T) {
	t.Parallel()
	type inner struct {
		C string `json:"c" jsonschema:"maxLength=2"`
		D int8   `json:"d"`
	}
	type outer struct {
		A     int     `json:"a"`
		B     bool    `json:"b"`
		Inner []inner `json:"inner"`
	}
	s, err := validate.For[outer]()
	require.NoError(t, err)
	err = s.Check([]byte(`{"inner":[{"d":1000,"x":1,"c":"long\u0000"}],"b":"no","z":1,"not showable":2}`), validate.Limits{})
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, envelope.UnknownField, e.Code)
	require.Equal(t, []envelope.Violation{
		{Field: "z", Rule: "additionalProperties"},
		{Field: "", Rule: "additionalProperties"},
		{Field: "a", Rule: "required"},
		{Field: "inner[0].x", Rule: "additionalProperties"},
		{Field: "inner[0].d", Rule: "maximum"},
		{Field: "inner[0].c", Rule: "nul"},
		{Field: "inner[0].c", Rule: "maxLength"},
		{Field: "b", Rule: "type"},
	}, e.Violations)
	require.Equal(t, "inner[0]", s.Declared("inner[0].x"))
	require.Equal(t, "inner[0].d", s.Declared("inner[0].d"))
	for _, made := range []string{"inner[ada].d", "inner[].d", "inner[0", "inner[-1].d", "inner[0x1].d"} {
		require.Equal(t, "inner", s.Declared(made), made)
	}
}

func TestDecodeAsksForTheTypeOfTheSchema(t *testing.T) {
	t.Parallel()
	s, err := validate.For[order]()
	require.NoError(t, err)
	_, err = s.Decode[base]([]byte(`{}`), validate.Limits{})
	require.ErrorIs(t, err, validate.ErrType)
	_, err = s.Encode(base{}, validate.Limits{})
	require.ErrorIs(t, err, validate.ErrType)
}

func TestForReportsEveryFaultWithItsField(t *testing.T) {
	t.Parallel()
	type nested struct {
		Y any `json:"y"`
	}
	type bad struct {
		X any           `json:"x"`
		B []byte        `json:"b"`
		D time.Duration `json:"d"`
		E string        `json:"e" jsonschema:"maxLenght=3"`
		F *int          `json:"f"`
		G bool          `json:"g" jsonschema:"enum=true"`
		H int           `json:"h,string"`
		S string        `json:"s" redact:"hidden"`
		U int8          `json:"u" jsonschema:"maximum=128"`
		L []nested      `json:"l"`
	}
	_, err := validate.For[bad]()
	require.Error(t, err)
	for _, field := range []string{"x", "b", "d", "e", "f", "g", "h", "s", "u", "l[].y"} {
		require.Regexp(t, `(?m)^`+regexpQuote(field)+`: `, err.Error())
	}
}

func TestOutputRefusesWhatMustNotCross(t *testing.T) {
	t.Parallel()
	type answer struct {
		Token string `json:"token" redact:"secret"`
		Score int    `json:"score" redact:"internal"`
		Name  string `json:"name" redact:"personal"`
		Kind  string `json:"kind" redact:"trusted"`
	}
	_, err := validate.For[answer]()
	require.NoError(t, err)
	_, err = validate.For[answer](validate.Output())
	require.ErrorContains(t, err, "token: ")
	require.ErrorContains(t, err, "score: ")
	require.NotContains(t, err.Error(), "name: ")
}

func TestUntrustedListsFreeText(t *testing.T) {
	t.Parallel()
	type line struct {
		Name string `json:"name"`
		SKU  string `json:"sku" jsonschema:"pattern=^[A-Z]{3}$"`
	}
	type answer struct {
		Lines  []line            `json:"lines"`
		Notes  []string          `json:"notes"`
		Labels map[string]string `json:"labels"`
		Title  string            `json:"title" redact:"trusted"`
		At     time.Time         `json:"at"`
	}
	s, err := validate.For[answer](validate.Output())
	require.NoError(t, err)
	require.Equal(t, []string{"lines[].name", "notes[]", "labels", "labels{}"}, s.Untrusted())
}
