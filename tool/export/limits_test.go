package export_test

import (
	"encoding/json/jsontext"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
)

func one(name, description, input string) []tool.Published {
	return []tool.Published{{Name: name, Description: description, Input: jsontext.Value(input)}}
}

const empty = `{"type":"object","properties":{},"additionalProperties":false}`

// member is the schema of arguments with one required member.
func withMember(schema string) string {
	return `{"type":"object","properties":{"value":` + schema + `},"required":["value"],"additionalProperties":false}`
}

func many(n int) []tool.Published {
	tools := make([]tool.Published, 0, n)
	for i := range n {
		tools = append(tools, one("t"+strconv.Itoa(i)+"_v1", "A tool.", empty)...)
	}
	return tools
}

func TestWhatAProviderWouldRefuseIsAnError(t *testing.T) {
	t.Parallel()
	dashed := withMember(`{"type":"object","properties":{"two-words":{"type":"string"}},"additionalProperties":false}`)
	for _, row := range []struct {
		name, want string
		export     func([]tool.Published) (*export.Export, error)
		tools      []tool.Published
	}{
		{"no tools", "there are no tools", export.OpenAI, nil},
		{"a name with a dot", `tool "a.b": name: must match`, export.OpenAI, one("a.b", "A tool.", empty)},
		{"a long name", "name: must match", export.Anthropic, one(strings.Repeat("a", 65), "A tool.", empty)},
		{"a name that begins with a digit", "name: must match", export.Gemini, one("1a", "A tool.", empty)},
		{"a name twice", "name: stands twice", export.Anthropic, append(one("a_v1", "A tool.", empty), one("a_v1", "A tool.", empty)...)},
		{"a long description", "description: has 1025 characters; 1024 are taken", export.OpenAI, one("a_v1", strings.Repeat("é", 1025), empty)},
		{"129 functions", "129 tools; a request takes 128", export.OpenAIResponses, many(129)},
		{"129 declarations", "129 tools; a request takes 128", export.Gemini, many(129)},
		{"a member with a dash", `member "two-words": must match`, export.Gemini, one("a_v1", "A tool.", dashed)},
		{"a member with a space", `member "two words": must match`, export.Anthropic, one("a_v1", "A tool.", strings.Replace(dashed, "-", " ", 1))},
		{"a union at the root", "input: anyOf at the root", export.Anthropic, one("a_v1", "A tool.", `{"type":"object","anyOf":[`+empty+`]}`)},
		{"arguments that are no object", "must be an object", export.OpenAI, one("a_v1", "A tool.", `{"type":"string"}`)},
		{"arguments of no type", "must be an object", export.Gemini, one("a_v1", "A tool.", `{}`)},
		{"no document", "is no JSON Schema document", export.OpenAI, one("a_v1", "A tool.", `{"type":"object"`)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := row.export(row.tools)
			require.ErrorContains(t, err, row.want)
		})
	}
	_, err := export.OpenAI(append(one("a.b", "A tool.", empty), one("c d", "A tool.", `{"type":"string"}`)...))
	require.ErrorContains(t, err, `tool "a.b"`)
	require.ErrorContains(t, err, `tool "c d": name`)
	require.ErrorContains(t, err, `tool "c d": the arguments must be an object`, "all faults at once")
}

// nested is a schema of n objects within one another.
func nested(n int) string {
	if n == 1 {
		return empty
	}
	return withMember(nested(n - 1))
}

func enum(n, length int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf("%q", fmt.Sprintf("%0*d", length, i))
	}
	return `{"type":"string","enum":[` + strings.Join(values, ",") + `]}`
}

func members(n int, schema string, required bool) string {
	m, r := make([]string, 0, n), make([]string, 0, n)
	for i := range n {
		m = append(m, fmt.Sprintf(`"m%d":%s`, i, schema))
		r = append(r, fmt.Sprintf(`"m%d"`, i))
	}
	if !required {
		r = nil
	}
	return `{"type":"object","properties":{` + strings.Join(m, ",") + `},"required":[` + strings.Join(r, ",") + `],"additionalProperties":false}`
}

const (
	text     = `{"type":"string"}`
	textList = `{"anyOf":[{"type":"string"},{"type":"integer"}]}`
	tree     = `{"type":"object","properties":{"name":{"type":"string"},"sub":{"type":"array","items":{"$ref":"#"}}},"required":["name"],"additionalProperties":false}`
)

// What strict mode cannot take is sent without it, whole, and said.
func TestStrictModeEndsWhereTheDocumentsEndIt(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		export func([]tool.Published) (*export.Export, error)
		input  string
		why    string // empty: strict
	}{
		{"10 levels", export.OpenAI, nested(10), ""},
		{"11 levels", export.OpenAI, nested(11), "more than 10 levels of nesting"},
		{"1000 values", export.OpenAI, withMember(enum(1000, 5)), ""},
		{"1001 values", export.OpenAI, withMember(enum(1001, 5)), "more than 1000 enum values"},
		{"251 long values", export.OpenAI, withMember(enum(251, 70)), "more than 15000 characters of an enum of more than 250 values"},
		{"250 long values", export.OpenAI, withMember(enum(250, 70)), ""},
		{"120000 characters", export.OpenAI, withMember(enum(250, 500)), "more than 120000 characters of names and enum values"},
		{"5000 members", export.OpenAI, members(5000, text, true), ""},
		{"5001 members", export.OpenAI, members(5001, text, true), "more than 5000 properties"},
		{"a tree", export.OpenAI, tree, ""},
		{"a map", export.OpenAI, withMember(`{"type":"object","additionalProperties":{"type":"string"},"maxProperties":8}`), "value: an object that is not closed: its members may have other names"},
		{"a tuple", export.OpenAI, withMember(`{"type":"array","prefixItems":[{"type":"string"}],"items":false}`), "value: an array whose items have schemas of their own"},
		{"anything", export.OpenAI, withMember(`{}`), "value: a value of any type"},
		{"allOf", export.OpenAI, `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}}],"unevaluatedProperties":false}`, "an object that is not closed: its members may have other names"},
		{"a tree", export.Anthropic, tree, "sub[]: a type that contains itself"},
		{"24 optional members", export.Anthropic, members(24, text, false), ""},
		{"25 optional members", export.Anthropic, members(25, text, false), "more than 24 optional members in a request"},
		{"16 unions", export.Anthropic, members(16, textList, true), ""},
		{"17 unions", export.Anthropic, members(17, textList, true), "more than 16 members of several types in a request"},
		{"a map", export.Anthropic, withMember(`{"type":"object","additionalProperties":{"type":"string"},"maxProperties":8}`), "value: an object that is not closed: its members may have other names"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			x, err := row.export(one("a_v1", "A tool.", row.input))
			require.NoError(t, err)
			strict := strings.Contains(string(x.Tools()), `"strict":true`)
			require.Equal(t, row.why == "", strict, "%v", x.Losses())
			if row.why != "" {
				require.Equal(t, []export.Loss{{Tool: "a_v1", Keyword: "strict", Text: row.why}}, x.Losses())
				require.Contains(t, string(x.Tools()), row.input, "the whole schema, as it is")
			}
		})
	}
}

func TestAnthropicsBudgetIsTheRequests(t *testing.T) {
	t.Parallel()
	x, err := export.Anthropic(many(22))
	require.NoError(t, err)
	require.Equal(t, []export.Loss{
		{Tool: "t20_v1", Keyword: "strict", Text: "more than 20 strict tools in a request"},
		{Tool: "t21_v1", Keyword: "strict", Text: "more than 20 strict tools in a request"},
	}, x.Losses())
	tools := make([]tool.Published, 0, 3)
	for i, n := range []int{12, 13, 12} {
		tools = append(tools, one(fmt.Sprintf("t%d_v1", i), "A tool.", members(n, text, false))...)
	}
	x, err = export.Anthropic(tools)
	require.NoError(t, err)
	require.Equal(t, []export.Loss{{Tool: "t1_v1", Keyword: "strict", Text: "more than 24 optional members in a request"}}, x.Losses(), "a smaller one still fits")
}

// Each keyword that a provider does not take stands in the description, and in the list.
func TestEveryLossIsInTheDescription(t *testing.T) {
	t.Parallel()
	const rich = `{"description":"What it is","type":"string","minLength":1,"maxLength":9,"pattern":"^a+$","format":"uri","default":"a","examples":["a"],"title":"T"}`
	for _, row := range []struct {
		export func([]tool.Published) (*export.Export, error)
		schema string
		want   string // in the definitions
		lost   []string
	}{
		{export.OpenAI, rich, `"value":{"description":"What it is. At least 1 character; at most 9 characters; in the format uri; left out it is \"a\"; for example [\"a\"]; T.","type":"string","pattern":"^a+$"}`, []string{"minLength", "maxLength", "format", "default", "examples", "title"}},
		{export.Anthropic, rich, `"value":{"description":"What it is. At least 1 character; at most 9 characters; left out it is \"a\"; for example [\"a\"]; T.","type":"string","pattern":"^a+$","format":"uri"}`, []string{"minLength", "maxLength", "default", "examples", "title"}},
		{export.Gemini, rich, `"value":{"description":"What it is. At least 1 character; at most 9 characters; matches the regular expression ^a+$; in the format uri; left out it is \"a\"; for example [\"a\"]; T.","type":"string"}`, []string{"minLength", "maxLength", "pattern", "format", "default", "examples", "title"}},
		{export.Anthropic, `{"type":"integer","minimum":1,"exclusiveMaximum":9,"multipleOf":2}`, `"value":{"description":"At least 1; less than 9; a multiple of 2.","type":"integer"}`, []string{"minimum", "exclusiveMaximum", "multipleOf"}},
		{export.Gemini, `{"type":"integer","minimum":1,"exclusiveMaximum":9,"multipleOf":2}`, `"value":{"description":"Less than 9; a multiple of 2.","type":"integer","minimum":1}`, []string{"exclusiveMaximum", "multipleOf"}},
		{export.Anthropic, `{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":1,"uniqueItems":true}`, `"value":{"description":"At least 2 items; at most 1 item; no item twice.","type":"array","items":{"type":"string"}}`, []string{"minItems", "maxItems", "uniqueItems"}},
		{export.OpenAI, `{"type":"array","items":{"type":"string"},"contains":{"const":"a"}}`, `"description":"JSON Schema contains: {\"const\":\"a\"}."`, []string{"contains"}},
		{export.Gemini, `{"type":"boolean","const":true}`, `"value":{"description":"Always true.","type":"boolean"}`, []string{"const"}},
		{export.Gemini, `{"type":"object","properties":{"a":false,"b":{"type":"string"}},"maxProperties":3}`, `"value":{"description":"No member a; at most 3 members.","type":"object","properties":{"b":{"type":"string"}}}`, []string{"properties", "maxProperties"}},
		{export.Gemini, `{"type":"object","additionalProperties":{"type":"string"},"maxProperties":3}`, `"value":{"description":"At most 3 members.","type":"object","additionalProperties":{"type":"string"}}`, []string{"maxProperties"}},
		{export.OpenAI, `{"const":7}`, `"value":{"type":"integer","enum":[7]}`, nil},
		{export.OpenAI, `{"enum":["a",1,null]}`, `"value":{"anyOf":[{"type":"string","enum":["a"]},{"type":"integer","enum":[1]},{"type":"null"}]}`, nil},
		{export.Anthropic, `{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `"value":{"description":"Exactly one of the forms.","anyOf":[{"type":"string"},{"type":"integer"}]}`, []string{"oneOf"}},
		{export.Anthropic, `{"type":"string","pattern":"\\bx"}`, `"description":"Matches the regular expression \\bx."`, []string{"pattern"}},
		{export.Anthropic, `{"type":"string","pattern":"^a{101}$"}`, `"description":"Matches the regular expression ^a{101}$."`, []string{"pattern"}},
	} {
		x, err := row.export(one("a_v1", "A tool.", withMember(row.schema)))
		require.NoError(t, err)
		require.Contains(t, string(x.Tools()), row.want)
		lost := make([]string, 0, len(row.lost))
		for _, l := range x.Losses() {
			require.Equal(t, "value", l.Path)
			lost = append(lost, l.Keyword)
		}
		require.Equal(t, append([]string{}, row.lost...), lost, row.schema)
	}
}

// A reference with words beside it becomes what it refers to, with those words; within itself it stays a reference.
func TestReferences(t *testing.T) {
	t.Parallel()
	const point = `{"type":"object","description":"A place.","properties":{"x":{"type":"integer"}},"required":["x"],"additionalProperties":false}`
	input := `{"type":"object","properties":{"from":{"$ref":"#/$defs/p"},"to":{"$ref":"#/$defs/p","description":"Where to"}},"required":["from"],"additionalProperties":false,"$defs":{"p":` + point + `}}`
	for _, row := range []struct {
		export func([]tool.Published) (*export.Export, error)
		input  string
		want   string
	}{
		{export.OpenAI, input, `"from":{"$ref":"#/$defs/p"},"to":{"description":"Where to. Null leaves it out.","anyOf":[{"type":"object",`},
		{export.Anthropic, input, `"from":{"$ref":"#/$defs/p"},"to":{"description":"Where to","type":"object",`},
		{export.Gemini, input, `"from":{"$ref":"#/$defs/p"},"to":{"description":"Where to","type":"object",`},
		{export.OpenAI, tree, `"items":{"$ref":"#"}`},
		{export.Gemini, tree, `"items":{"$ref":"#"}`},
		{export.Gemini, strings.Replace(tree, `"required":["name"]`, `"required":["name","sub"]`, 1), `"items":{"type":"object","description":"Of the same form as #."}`},
		{
			export.OpenAI, `{"type":"object","properties":{"t":{"$ref":"#/$defs/t","description":"The top"}},"required":["t"],"additionalProperties":false,"$defs":{"t":{"type":"object","properties":{"n":{"$ref":"#/$defs/t","description":"The next"}},"additionalProperties":false}}}`,
			`"n":{"description":"The next. Null leaves it out.","anyOf":[{"$ref":"#/$defs/t"},{"type":"null"}]}`,
		},
	} {
		x, err := row.export(one("a_v1", "A tool.", row.input))
		require.NoError(t, err)
		require.Contains(t, string(x.Tools()), row.want)
		for _, e := range exporters() {
			x, err := e.export(one("a_v1", "A tool.", row.input))
			require.NoError(t, err)
			require.Empty(t, e.judge(x.Tools()), e.name)
		}
	}
}
