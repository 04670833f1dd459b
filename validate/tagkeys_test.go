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
