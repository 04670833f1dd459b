package contracttest

import (
	"encoding/json/jsontext"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// TestEveryKeywordHasAnOperator compares operator, judge and boundary on keywords that structs do not make.
func TestEveryKeywordHasAnOperator(t *testing.T) {
	t.Parallel()
	wrap := func(member string) string {
		return `{"type":"object","properties":{"v":` + member + `},"required":["v"],"additionalProperties":false}`
	}
	for _, tt := range []struct{ name, schema string }{
		{"prefixItems", wrap(`{"type":"array","prefixItems":[{"type":"string","maxLength":9},{"type":"integer","minimum":0,"maximum":9}],"items":false}`)},
		{"prefix-and-items", wrap(`{"type":"array","prefixItems":[{"type":"string","maxLength":9}],"items":{"type":"boolean"},"maxItems":4,"minItems":2}`)},
		{"contains", wrap(`{"type":"array","items":{"type":"integer","minimum":0,"maximum":100},"contains":{"type":"integer","minimum":50},"maxItems":6}`)},
		{"minContains", wrap(`{"type":"array","items":{"type":"integer","minimum":0,"maximum":100},"contains":{"type":"integer","minimum":50},"minContains":2,"maxContains":3,"maxItems":6}`)},
		{"dependentRequired", `{"type":"object","properties":{"a":{"type":"string","maxLength":9},"b":{"type":"string","maxLength":9}},"dependentRequired":{"a":["b"]},"additionalProperties":false}`},
		{"if-then-else", `{"type":"object","properties":{"how":{"type":"string","enum":["post","mail"]},"street":{"type":"string","maxLength":20},"email":{"type":"string","maxLength":20}},"required":["how"],"additionalProperties":false,
			"if":{"properties":{"how":{"const":"post"}},"required":["how"]},"then":{"required":["street"]},"else":{"required":["email"]}}`},
		{"not", wrap(`{"type":"string","maxLength":12,"not":{"const":"forbidden"}}`)},
		{"anyOf", wrap(`{"anyOf":[{"type":"string","maxLength":8},{"type":"integer","minimum":1,"maximum":5}]}`)},
		{"oneOf", wrap(`{"oneOf":[{"type":"string","maxLength":8},{"type":"integer","minimum":1,"maximum":5}]}`)},
		{"propertyNames", wrap(`{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":9},"propertyNames":{"pattern":"^[a-z]{2,4}$","maxLength":4},"maxProperties":3}`)},
		{"patternProperties", wrap(`{"type":"object","patternProperties":{"^x_[a-z]+$":{"type":"integer","minimum":0,"maximum":9}},"additionalProperties":false,"maxProperties":3,"minProperties":1}`)},
		{"types", wrap(`{"type":["string","null"],"maxLength":5}`)},
		{"enum-of-numbers", wrap(`{"type":"integer","enum":[1,5,9]}`)},
		{"minProperties", wrap(`{"type":"object","properties":{"a":{"type":"boolean"},"b":{"type":"boolean"},"c":{"type":"boolean"}},"minProperties":2,"maxProperties":2,"additionalProperties":false}`)},
		{"implied-length", wrap(`{"type":"string","pattern":"^[A-Z]{3}$","minLength":1,"maxLength":30}`)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := validate.Compile(jsontext.Value(tt.schema))
			require.NoError(t, err)
			g, err := newGenerator("input", "t_v1", []byte(tt.schema), validate.Limits{})
			require.NoError(t, err)
			cases, err := g.run()
			require.NoError(t, err)
			for _, c := range cases {
				agrees(t, s, c)
			}
		})
	}
}

func agrees(t *testing.T, s *validate.Schema, c Case) {
	t.Helper()
	err := s.Check(c.Raw, validate.Limits{})
	if c.Valid {
		require.NoError(t, err, "%s %s", c.Name, c.Raw)
		return
	}
	var e *envelope.Error
	require.ErrorAs(t, err, &e, "%s %s", c.Name, c.Raw)
	require.Equal(t, c.Want.Code, e.Code, "%s %s", c.Name, c.Raw)
	require.Equal(t, c.Want.Field, e.Field, "%s %s", c.Name, c.Raw)
	if c.Want.Rule != "" {
		require.Equal(t, c.Want.Rule, e.Rule, "%s %s", c.Name, c.Raw)
	}
}

func TestAKeywordWithoutAnOperatorIsAnError(t *testing.T) {
	t.Parallel()
	g, err := newGenerator("input", "t_v1", []byte(`{"type":"object","properties":{"v":{"type":"string","maxLength":4,"contentEncoding":"base64"}},"additionalProperties":false}`), validate.Limits{})
	require.NoError(t, err)
	_, err = g.run()
	var unknown *keywordError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "contentEncoding", unknown.keyword)
}

func TestABoundThatAnotherImpliesIsReported(t *testing.T) {
	t.Parallel()
	g, err := newGenerator("input", "t_v1", []byte(`{"type":"object","properties":{"v":{"type":"string","pattern":"^[A-Z]{3}$","maxLength":30}},"required":["v"],"additionalProperties":false}`), validate.Limits{})
	require.NoError(t, err)
	_, err = g.run()
	require.NoError(t, err)
	require.NotEmpty(t, g.rows[rowKey{"v", "maxLength"}].Implied)
	require.Empty(t, g.rows[rowKey{"v", "pattern"}].Implied)
}

func TestADisagreementIsTheGeneratorsFault(t *testing.T) {
	t.Parallel()
	g, err := newGenerator("input", "t_v1", []byte(`{"type":"object","properties":{"v":{"type":"integer","minimum":0,"maximum":9}},"required":["v"],"additionalProperties":false}`), validate.Limits{})
	require.NoError(t, err)
	g.keep(Case{Name: "n", Tool: "t_v1", Raw: []byte(`{"v":3}`), Want: invalid("maximum", "v")})
	g.keep(Case{Name: "m", Tool: "t_v1", Raw: []byte(`{"v":30}`), Valid: true})
	g.keep(Case{Name: "o", Tool: "t_v1", Raw: []byte(`{"v":31}`), Want: invalid("minimum", "v")})
	require.Len(t, g.errs, 3)
	for _, err := range g.errs {
		require.ErrorContains(t, err, "a fault of the generator")
	}
}
