package validate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

func TestTagsThatWouldBePassedOver(t *testing.T) {
	t.Parallel()
	type foreign struct {
		A string `db:"a" json:"a" yaml:"a" bson:"a" jsonapi:"attr,a"`
	}
	_, err := validate.For[foreign]()
	require.NoError(t, err, "other packages' keys are theirs")
	type misspelt struct {
		A string `json:"a" Redact:"secret"`
		B string `json:"b" jsonShema:"maxLength=3"`
		C string `jsn:"c"`
		D string `json:"d" jsonschma:"maxLength=3"`
		E string `json:"e" redact:""`
		F string `json:"f" lnt:"x"`
	}
	_, err = validate.For[misspelt]()
	for _, want := range []string{`"Redact"`, `"jsonShema"`, `"jsn"`, `"jsonschma"`, "redact tag", `"lnt"`} {
		require.ErrorContains(t, err, want)
	}
	type impossible struct {
		A string   `json:"a" jsonschema:"minLength=5,maxLength=2"`
		B []string `json:"b" jsonschema:"minItems=5,maxItems=3"`
		C float64  `json:"c" jsonschema:"minimum=0.5,maximum=0.25"`
		D int      `json:"d" jsonschema:"minimum=3,maximum=3"`
	}
	_, err = validate.For[impossible]()
	for _, want := range []string{"a: minLength", "b: minItems", "c: minimum"} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "d:")
}

func TestStructsThatWouldNotBeLookedInto(t *testing.T) {
	t.Parallel()
	type nested struct {
		A struct {
			S string `json:"s" redact:"secert" jsonschema:"maxLength=9"`
		} `json:"a"`
		B []struct {
			S string `json:"s" jsonschema:"maxLength=9,minLenght=3"`
		} `json:"b"`
		C map[string]struct {
			S string `json:"s" jsonschema:"maxLength=9"`
		} `json:"c"`
		D *struct {
			S int8 `json:"s"`
		} `json:"d,omitzero"`
	}
	_, err := validate.For[nested]()
	for _, want := range []string{"a: a struct type without a name", "b[]: ", "c{}: ", "d: "} {
		require.ErrorContains(t, err, want)
	}
	_, err = validate.For[struct{}]()
	require.NoError(t, err, "no arguments at all")
	type array struct {
		A [3]int `json:"a" jsonschema:"minItems=1,maxItems=2"`
	}
	_, err = validate.For[array]()
	require.ErrorContains(t, err, "the length of its type")
}

type pick interface{ pick() }

type one struct {
	A int `json:"a"`
}

func (one) pick() {}

type picks struct{}

func (picks) Cases() []validate.Case[pick] {
	return []validate.Case[pick]{validate.Of[pick, one]("one")}
}

type embedsUnion struct {
	validate.OneOf[pick, picks]
	Z int `json:"z"`
}

func TestEmbeddedUnionIsRefused(t *testing.T) {
	t.Parallel()
	_, err := validate.For[embedsUnion]()
	require.ErrorContains(t, err, "embeds a union")
	type holder struct {
		E embedsUnion `json:"e"`
	}
	_, err = validate.For[holder]()
	require.ErrorContains(t, err, "embeds a union")
	type fine struct {
		U validate.OneOf[pick, picks] `json:"u"`
	}
	_, err = validate.For[fine]()
	require.NoError(t, err)
}
