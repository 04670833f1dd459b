package validate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// TestHostileListsAndNamesAreCheap: what is compared with what came before it, or asked of several schemas, takes time in
// proportion to the document all the same.
func TestHostileListsAndNamesAreCheap(t *testing.T) {
	t.Parallel()
	for name, c := range hostileLists(t) {
		doc := []byte(c.doc)
		require.LessOrEqual(t, len(doc), validate.Defaults().Bytes, name)
		require.Less(t, fastest(func() { _ = c.schema.Check(doc, validate.Limits{}) }), 10*time.Millisecond, name)
	}
}

func TestASchemaThatAsksTooOftenOfTheGeneralValidatorIsRefused(t *testing.T) {
	t.Parallel()
	for why, doc := range map[string]string{
		"two conditions ask the same of a member": `{"type":"object","properties":{"a":{"$ref":"#"}},"allOf":[{"properties":{"a":{"$ref":"#"}}}],"not":{"required":["b"]},"unevaluatedProperties":false}`,
		"two patterns that match the same names":  `{"type":"object","patternProperties":{"^a":{"$ref":"#"},"b":{"$ref":"#"}},"not":{"required":["b"]},"additionalProperties":false,"maxProperties":9}`,
		"items that are looked for":               `{"type":"array","items":{"$ref":"#"},"contains":{"$ref":"#"},"minContains":0,"maxItems":3}`,
	} {
		_, err := validate.Compile([]byte(doc))
		require.ErrorContains(t, err, "applies itself so often", why)
	}
	_, err := validate.Compile([]byte(`{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"not":{"required":["b"]},"additionalProperties":false}`))
	require.NoError(t, err, "a tree")
}

type hostile struct {
	schema *validate.Schema
	doc    string
}

func hostileLists(t *testing.T) map[string]hostile {
	t.Helper()
	compile := func(doc string) *validate.Schema {
		s, err := validate.Compile([]byte(doc))
		require.NoError(t, err)
		return s
	}
	join := func(n int, item func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(item(i))
		}
		return b.String()
	}
	long := func(i int) string { return fmt.Sprintf("%d.%034d", 1+i%9, i) }
	lists := compile(`{"type":"array","uniqueItems":true,"maxItems":1000,"items":{"type":"array","uniqueItems":true,"maxItems":1000,"items":{"type":"number"}}}`)
	nested := compile(`{"$ref":"#/$defs/n","$defs":{"n":{"type":["array","number"],"uniqueItems":true,"maxItems":1000,"items":{"$ref":"#/$defs/n"}}}}`)
	deep := "1"
	for i := 0; len(deep) < 20000 && i < 30; i++ {
		deep = "[" + deep + "," + strings.Replace(deep, "1", "1.00", 1) + "]"
	}
	wide := deep
	pat := compile(`{"type":"object","patternProperties":{"^m":{"$ref":"#"},"x":{"$ref":"#"}},"propertyNames":{"pattern":"^(a|m|x)*[0-9]*$"},"additionalProperties":false,"maxProperties":256}`)
	patFlat := compile(`{"type":"object","patternProperties":{"^m":{"type":"object","patternProperties":{"^[a-z]+[0-9]*$":{"type":"integer"}},"additionalProperties":false,"maxProperties":256}},"propertyNames":{"maxLength":20,"pattern":"^[a-z]+[0-9]*$"},"additionalProperties":false,"maxProperties":256}`)
	inner := func(n int) string {
		return "{" + join(n, func(i int) string { return fmt.Sprintf(`"a%d":1`, i) }) + "}"
	}
	patGeneral := compile(`{"type":"object","properties":{"id":{"type":"integer"}},"patternProperties":{"^m":{"type":"object","patternProperties":{"^[a-z]+[0-9]*$":{"type":"integer"},"^b":{"maximum":4,"type":"integer"}},"additionalProperties":false,"maxProperties":256}},"propertyNames":{"maxLength":20,"pattern":"^[a-z]+[0-9]*$"},"additionalProperties":false,"maxProperties":256}`)
	enum := compile(`{"type":"array","maxItems":1000,"items":{"enum":[` + join(100, func(i int) string { return long(i) }) + `,null]}}`)
	contains := compile(`{"type":"array","maxItems":1000,"items":{"type":"number"},"contains":{"const":5},"maxContains":3}`)
	objects := compile(`{"type":"array","uniqueItems":true,"maxItems":1000,"items":{"type":"object","additionalProperties":{"type":"number"},"maxProperties":256}}`)
	return map[string]hostile{
		"lists of long numbers, equal but the last": {lists, "[" + join(40, func(i int) string {
			return "[" + join(40, func(k int) string {
				if k == 39 {
					return long(i)
				}
				return long(k + 100)
			}) + "]"
		}) + "]"},
		"long numbers":                          {lists, "[[" + join(1000, long) + "]]"},
		"nested":                                {nested, "[" + wide + "]"},
		"short lists":                           {lists, "[" + join(1000, func(i int) string { return fmt.Sprintf("[1,%d]", i) }) + "]"},
		"pattern properties within one another": {pat, strings.Repeat(`{"mx":`, 31) + "{}" + strings.Repeat("}", 31)},
		"pattern properties, many":              {patFlat, "{" + join(30, func(i int) string { return fmt.Sprintf(`"m%d":%s`, i, inner(250)) }) + "}"},
		"pattern properties beside others":      {patGeneral, "{" + join(30, func(i int) string { return fmt.Sprintf(`"m%d":%s`, i, inner(250)) }) + "}"},
		"numbers of a list":                     {enum, "[" + join(1000, func(i int) string { return long(i + 200) }) + "]"},
		"contains":                              {contains, "[" + join(1000, long) + "]"},
		"objects": {objects, "[" + join(200, func(i int) string {
			return "{" + join(20, func(k int) string { return fmt.Sprintf(`"%c":%d`, 'a'+(k+i)%26, k) }) + "}"
		}) + "]"},
	}
}
