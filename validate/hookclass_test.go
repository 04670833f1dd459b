package validate_test

import (
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/validate"
)

type hookedFields struct {
	Token  redact.Secret[string] `json:"token"`
	Margin string                `json:"margin" redact:"internal"`
	Name   string                `json:"name" redact:"pers"`
	Inner  struct {
		Key string `json:"key" redact:"secret"`
	} `json:"inner"`
	Kept string `json:"-" redact:"secret"`
}

func (hookedFields) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "boolean"} }

// A type that says its own schema cannot carry past the boundary what its fields' tags keep behind it.
func TestClassesBehindATypesOwnSchema(t *testing.T) {
	t.Parallel()
	type out struct {
		List []map[string]hookedFields `json:"list"`
	}
	_, err := validate.For[out](validate.Output())
	for _, want := range []string{
		"list[]{}.token: the class secret", "list[]{}.margin: the class internal", "list[]{}.name: redact: field class", "list[]{}.inner.key: the class secret",
	} {
		require.ErrorContains(t, err, want)
	}
	require.NotContains(t, err.Error(), "Kept", "never written")
}

type classedInner struct {
	Text string `json:"text"`
}

// A class on an embedded field would bind none of the members that are written.
func TestEmbeddedFieldsHaveNoClass(t *testing.T) {
	t.Parallel()
	const want = "classedInner: an embedded field has no redact tag"
	_, err := validate.For[struct {
		classedInner `redact:"secret"`
	}]()
	require.ErrorContains(t, err, want)
	_, err = validate.For[struct {
		classedInner `redact:"misspelt"`
	}]()
	require.ErrorContains(t, err, want)
	_, err = validate.For[struct{ classedInner }]()
	require.NoError(t, err)
}
