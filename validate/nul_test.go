package validate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// TestTheNulCharacterIsNamedOnceInItsPlace also where schemas that only refer or compose stand around it.
func TestTheNulCharacterIsNamedOnceInItsPlace(t *testing.T) {
	t.Parallel()
	unions, err := validate.For[drawing]()
	require.NoError(t, err)
	compile := func(doc string) *validate.Schema {
		s, err := validate.Compile([]byte(doc))
		require.NoError(t, err)
		return s
	}
	recursive := compile(`{"type":"object","properties":{"s":{"type":"string","maxLength":9},"next":{"$ref":"#"},"l":{"type":"array","items":{"$ref":"#"},"maxItems":3}},"additionalProperties":false}`)
	composed := compile(`{"type":"object","allOf":[{"properties":{"a":{"type":"object","properties":{"s":{"type":"string","maxLength":9}},"additionalProperties":false}}},{"properties":{"b":{"type":"integer"}}}],"unevaluatedProperties":false}`)
	names := compile(`{"type":"object","additionalProperties":{"type":"array","items":{"type":"string","maxLength":9},"maxItems":9},"maxProperties":9}`)
	for _, c := range []struct {
		name   string
		schema *validate.Schema
		doc    string
		field  string
	}{
		{"a union within a union", unions, `{"main":{"kind":"group","name":"a","shapes":[{"kind":"group","name":"a\u0000","shapes":[]}]},"more":[]}`, "main.shapes[0].name"},
		{"behind references", recursive, `{"next":{"l":[{"s":"\u0000"}]}}`, "next.l[0].s"},
		{"composed", composed, `{"a":{"s":"\u0000"},"b":1}`, "a.s"},
		{"a name", names, `{"a\u0000":["x"]}`, ""},
		{"below a name that cannot be shown", names, `{"a b":["\u0000"],"c":[]}`, ""},
		{"in a map", names, `{"a":["x","\u0000"]}`, "a[1]"},
	} {
		err := c.schema.Check([]byte(c.doc), validate.Limits{})
		var e *envelope.Error
		require.ErrorAs(t, err, &e, c.name)
		requireRule(t, err, c.field, "nul")
		require.Empty(t, e.Violations, c.name)
	}
}
