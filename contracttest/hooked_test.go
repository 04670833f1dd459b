package contracttest

import (
	"encoding/json/jsontext"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// TestSchemasOfHooksAgreeWithTheBoundary: what no Go type says, a hook can.
func TestSchemasOfHooksAgreeWithTheBoundary(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"needs-more-than-fits": `{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"},"c":{"type":"boolean"}},"dependentRequired":{"a":["b","c"]},"maxProperties":2,"additionalProperties":false}`,
		"needs-what-fits":      `{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"},"c":{"type":"boolean"},"d":{"type":"boolean"}},"dependentRequired":{"a":["b"]},"minProperties":1,"maxProperties":2,"additionalProperties":false}`,
		"anyOf-closed":         `{"type":"object","anyOf":[{"properties":{"a":{"type":"string","maxLength":5}},"required":["a"]},{"properties":{"b":{"type":"string","maxLength":5}},"required":["b"]}],"unevaluatedProperties":false}`,
		"allOf-closed":         `{"type":"object","allOf":[{"properties":{"a":{"type":"string","maxLength":5}},"required":["a"]},{"properties":{"b":{"type":"integer","minimum":1,"maximum":9}}}],"properties":{"c":{"type":"boolean"}},"unevaluatedProperties":false}`,
		"if-closed":            `{"type":"object","properties":{"k":{"type":"string","enum":["x","y"]}},"required":["k"],"if":{"properties":{"k":{"const":"x"}}},"then":{"properties":{"n":{"type":"integer","minimum":0,"maximum":3}},"required":["n"]},"unevaluatedProperties":false}`,
		"contains-unique":      `{"type":"array","items":{"type":"integer","minimum":0,"maximum":3},"contains":{"const":2},"uniqueItems":true,"maxItems":4}`,
	} {
		for _, at := range []string{"root", "member"} {
			if at == "root" && name == "contains-unique" {
				continue // arguments are an object
			}
			t.Run(name+"-"+at, func(t *testing.T) {
				t.Parallel()
				doc := schema
				if at == "member" {
					doc = `{"type":"object","properties":{"v":` + schema + `},"required":["v"],"additionalProperties":false}`
				}
				agree(t, doc)
			})
		}
	}
}

func agree(t *testing.T, schema string) {
	t.Helper()
	g, err := newGenerator("input", "t_v1", []byte(schema), validate.Limits{})
	require.NoError(t, err)
	cases, err := g.run()
	require.NoError(t, err)
	s, err := validate.Compile(jsontext.Value(schema))
	require.NoError(t, err)
	for _, c := range cases {
		err := s.Check(c.Raw, validate.Limits{})
		if c.Valid {
			require.NoError(t, err, "%s %s", c.Name, c.Raw)
			continue
		}
		var e *envelope.Error
		require.ErrorAs(t, err, &e, "%s %s", c.Name, c.Raw)
		require.True(t, c.refusedBy(e), "%s %s: want %v, got %v at %q, rule %s", c.Name, c.Raw, c.Want, e.Code, e.Field, e.Rule)
	}
}
