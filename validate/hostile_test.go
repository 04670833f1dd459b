package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// TestHostileListsAndNamesAreCheap: what is compared with what came before it, or asked of several schemas, takes time in
// proportion to the document all the same.
func TestHostileListsAndNamesAreCheap(t *testing.T) {
	t.Parallel()
	for name, c := range hostileLists(t) {
		doc := []byte(c.doc)
		require.LessOrEqual(t, len(doc), validate.Defaults().Bytes, name)
		requireCheap(t, func() { _ = c.schema.Check(doc, validate.Limits{}) }, name)
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

// TestWorkIsBounded: what would ask too many schemas about its values is refused as too large, whether it is valid or
// not; what is wrong before is named.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	lists := hostileLists(t)
	for name, valid := range map[string]bool{
		"900 bounds": false, "ten bounds": true, "one bound, said 900 times": true, "references that double": true,
		"a choice of two": true, "a choice of two, of many": true, "a negation around all": true, "a choice, again within": true,
	} {
		err := lists[name].schema.Check([]byte(lists[name].doc), validate.Limits{})
		if valid {
			require.NoError(t, err, name)
			continue
		}
		requireRefusal(t, err, envelope.PayloadTooLarge, "", "limit")
	}
	few := lists["900 bounds"].schema
	require.NoError(t, few.Check([]byte(`[1,2,3]`), validate.Limits{}))
	requireRule(t, few.Check([]byte(`[-1,`+lists["900 bounds"].doc[3:]), validate.Limits{}), "[0]", "minimum")
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
	ones := "[" + join(1000, func(int) string { return "1" }) + "]"
	within := func(keywords string, defs ...string) *validate.Schema {
		return compile(`{"type":"array","maxItems":1000,"items":{"type":"number",` + keywords + `},"$defs":{` + strings.Join(defs, ",") + `}}`)
	}
	doubling := func(levels int, link string) string {
		return join(levels, func(i int) string { return fmt.Sprintf(`"l%d":`+link, i, i+1) }) + fmt.Sprintf(`,"l%d":{"minimum":0}`, levels)
	}
	choice := compile(`{"type":"array","maxItems":1000,"items":{"type":"array","maxItems":1000,"items":{"anyOf":[{"type":"string","maxLength":4},{"type":"integer","minimum":5}]}}}`)
	again := compile(`{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"array","maxItems":1000,"items":{"$ref":"#/$defs/n"}},{"type":"object","maxProperties":200,"additionalProperties":{"$ref":"#/$defs/n"}},{"type":["number","null"]},{"type":"string","maxLength":10000}]}}}`)
	negation := compile(`{"type":"array","maxItems":1000,"items":{"type":"array","maxItems":1000,"items":{"type":"integer"}},"not":{"maxItems":0}}`)
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
		"one bound, said 900 times":             {within(`"allOf":[` + join(900, func(int) string { return `{"minimum":0}` }) + `]`), ones},
		"900 bounds":                            {within(`"allOf":[` + join(900, func(i int) string { return fmt.Sprintf(`{"minimum":-%d}`, i) }) + `]`), ones},
		"ten bounds":                            {within(`"allOf":[` + join(10, func(i int) string { return fmt.Sprintf(`{"minimum":-%d}`, i) }) + `]`), ones},
		"references that double":                {within(`"$ref":"#/$defs/l0"`, doubling(7, `{"allOf":[{"$ref":"#/$defs/l%[2]d"},{"$ref":"#/$defs/l%[2]d"}]}`)), ones},
		"references that double, apart":         {within(`"$ref":"#/$defs/l0"`, doubling(7, `{"allOf":[{"$ref":"#/$defs/l%[2]d"},{"title":"b","$ref":"#/$defs/l%[2]d"}]}`)), ones},
		"a choice of two":                       {within(`"anyOf":[{"minimum":5},{"maximum":4}]`), ones},
		"a choice of two, of many":              {choice, "[" + join(250, func(int) string { return "[" + join(60, func(int) string { return "7" }) + "]" }) + "]"},
		"a choice, again within":                {again, "[" + join(250, func(int) string { return "[" + join(60, func(int) string { return "1" }) + "]" }) + "]"},
		"a negation around all":                 {negation, "[" + join(250, func(int) string { return "[" + join(60, func(int) string { return "7" }) + "]" }) + "]"},
		"objects": {objects, "[" + join(200, func(i int) string {
			return "{" + join(20, func(k int) string { return fmt.Sprintf(`"%c":%d`, 'a'+(k+i)%26, k) }) + "}"
		}) + "]"},
	}
}
