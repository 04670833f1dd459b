package exporttest_test

import (
	"encoding/json/jsontext"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func chat(schema string) string {
	return `[{"type":"function","function":{"name":"a_v1","description":"A tool.","parameters":` + schema + `,"strict":true}}]`
}

func response(schema string) string {
	return `[{"type":"function","name":"a_v1","description":"A tool.","parameters":` + schema + `,"strict":true}]`
}

func block(schema string) string {
	return `[{"name":"a_v1","description":"A tool.","input_schema":` + schema + `,"strict":true}]`
}

func declaration(schema string) string {
	return `[{"functionDeclarations":[{"name":"a_v1","description":"A tool.","parametersJsonSchema":` + schema + `}]}]`
}

func value(schema string) string {
	return `{"type":"object","properties":{"v":` + schema + `},"required":["v"],"additionalProperties":false}`
}

func nested(n int) string {
	if n == 1 {
		return `{"type":"object","properties":{},"required":[],"additionalProperties":false}`
	}
	return value(nested(n - 1))
}

func listed(n, length int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf(`"%0*d"`, length, i)
	}
	return `{"type":"string","enum":[` + strings.Join(values, ",") + `]}`
}

// The documented subsets, rule by rule: what each document takes, and what it does not.
func TestSubsets(t *testing.T) {
	t.Parallel()
	const tree = `{"type":"object","properties":{"sub":{"type":"array","items":{"$ref":"#"}}},"required":["sub"],"additionalProperties":false}`
	for _, row := range []struct {
		rule              string
		tools             string
		openai, anthropic string // a word of the fault; empty: taken
		gemini            string
	}{
		{"a closed object", value(`{"type":"string"}`), "", "", ""},
		{"every basic type", value(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":"integer"},"d":{"type":"boolean"},"e":{"type":"array","items":{"type":"null"}}},"required":["a","b","c","d","e"],"additionalProperties":false}`), "", "", ""},
		{"a type and null", value(`{"type":["string","null"]}`), "", "", ""},
		{"two types", value(`{"type":["string","integer"]}`), "one type and null", "one type and null", "one type and null"},
		{"no such type", value(`{"type":"date"}`), "none of JSON's", "none of JSON's", "none of JSON's"},
		{"no type", value(`{"description":"x"}`), "no type", "no type", ""},
		{"an open object", `{"type":"object","properties":{}}`, "additionalProperties", "additionalProperties", ""},
		{"a map", value(`{"type":"object","additionalProperties":{"type":"string"}}`), "additionalProperties", "additionalProperties", ""},
		{"an optional member", `{"type":"object","properties":{"v":{"type":"string"}},"required":[],"additionalProperties":false}`, "must be required", "", ""},
		{"a required stranger", `{"type":"object","properties":{},"required":["v"],"additionalProperties":false}`, "not among", "not among", "not among"},
		{"required twice", `{"type":"object","properties":{"v":{"type":"string"}},"required":["v","v"],"additionalProperties":false}`, "twice", "twice", "twice"},
		{"a root that is no object", `{"type":"string"}`, "root must be an object", "root must be an object", "must describe an object"},
		{"anyOf at the root", `{"type":"object","properties":{},"required":[],"additionalProperties":false,"anyOf":[` + nested(1) + `]}`, "must not be anyOf", "top level", ""},
		{"anyOf", value(`{"anyOf":[{"type":"string"},{"type":"integer"}]}`), "", "", ""},
		{"oneOf", value(`{"oneOf":[{"type":"string"},{"type":"integer"}]}`), "oneOf", "oneOf", ""},
		{"allOf", value(`{"type":"string","allOf":[{"type":"string"}]}`), "allOf", "allOf", "allOf"},
		{"not", value(`{"type":"string","not":{"type":"null"}}`), "not", "not", "not"},
		{"if", value(`{"type":"string","if":{"type":"string"}}`), "if", "if", "if"},
		{"const", value(`{"type":"string","const":"a"}`), "", "", "const"},
		{"enum", value(`{"type":"string","enum":["a","b"]}`), "", "", ""},
		{"an enum of objects", value(`{"type":"object","properties":{},"required":[],"additionalProperties":false,"enum":[{}]}`), "", "complex types", "strings and numbers"},
		{"an enum of booleans", value(`{"type":"boolean","enum":[true]}`), "", "", "strings and numbers"},
		{"pattern", value(`{"type":"string","pattern":"^[a-z]{2}$"}`), "", "", "pattern"},
		{"a word boundary", value(`{"type":"string","pattern":"\\bx"}`), "", "word boundaries", "pattern"},
		{"a lookahead", value(`{"type":"string","pattern":"(?=x)"}`), "", "lookarounds", "pattern"},
		{"a large count", value(`{"type":"string","pattern":"^a{1,600}$"}`), "", "large range", "pattern"},
		{"minLength", value(`{"type":"string","minLength":1}`), "minLength", "minLength", "minLength"},
		{"maxLength", value(`{"type":"string","maxLength":1}`), "maxLength", "maxLength", "maxLength"},
		{"format date-time", value(`{"type":"string","format":"date-time"}`), "", "", ""},
		{"format uuid", value(`{"type":"string","format":"uuid"}`), "", "", "format"},
		{"format uri", value(`{"type":"string","format":"uri"}`), "format", "", "format"},
		{"format regex", value(`{"type":"string","format":"regex"}`), "format", "format", "format"},
		{"minimum", value(`{"type":"integer","minimum":1}`), "", "minimum", ""},
		{"exclusiveMinimum", value(`{"type":"integer","exclusiveMinimum":1}`), "", "exclusiveMinimum", "exclusiveMinimum"},
		{"multipleOf", value(`{"type":"integer","multipleOf":2}`), "", "multipleOf", "multipleOf"},
		{"minimum of a string", value(`{"type":"string","minimum":1}`), "does not bound", "minimum", "does not bound"},
		{"minItems 1", value(`{"type":"array","items":{"type":"string"},"minItems":1}`), "", "", ""},
		{"minItems 2", value(`{"type":"array","items":{"type":"string"},"minItems":2}`), "", "only 0 and 1", ""},
		{"maxItems", value(`{"type":"array","items":{"type":"string"},"maxItems":2}`), "", "maxItems", ""},
		{"uniqueItems", value(`{"type":"array","items":{"type":"string"},"uniqueItems":true}`), "uniqueItems", "uniqueItems", "uniqueItems"},
		{"items of no schema", value(`{"type":"array"}`), "must be an object", "", ""},
		{"prefixItems", value(`{"type":"array","items":{"type":"string"},"prefixItems":[{"type":"string"}]}`), "prefixItems", "prefixItems", ""},
		{"default", value(`{"type":"string","default":"a"}`), "default", "default", "default"},
		{"a reference", `{"type":"object","properties":{"v":{"$ref":"#/$defs/s"}},"required":["v"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`, "", "", ""},
		{"a reference to nothing", value(`{"$ref":"#/$defs/s"}`), "leads nowhere", "leads nowhere", "leads nowhere"},
		{"a reference elsewhere", value(`{"$ref":"https://example.com/s"}`), "leads nowhere", "leads nowhere", "leads nowhere"},
		{"beside a reference", `{"type":"object","properties":{"v":{"$ref":"#/$defs/s","description":"x"}},"required":["v"],"additionalProperties":false,"$defs":{"s":{"type":"string"}}}`, "description", "description", "description"},
		{"recursion", tree, "", "recursive", "cyclic"},
		{"recursion in an optional member", strings.Replace(tree, `["sub"]`, `[]`, 1), "must be required", "recursive", ""},
		{"10 levels", nested(10), "", "", ""},
		{"11 levels", nested(11), "11 levels", "", ""},
		{"1001 values", value(listed(1001, 4)), "1000 enum values", "", ""},
		{"251 long values", value(listed(251, 70)), "15000 characters", "", ""},
		{"119751 characters", value(listed(250, 479)), "", "", ""},
		{"120001 characters", value(listed(250, 480)), "120000 characters", "", ""},
		{"a member with a dash", `{"type":"object","properties":{"a-b":{"type":"string"}},"required":["a-b"],"additionalProperties":false}`, "", "", "name of a parameter"},
		{"a member with a space", `{"type":"object","properties":{"a b":{"type":"string"}},"required":["a b"],"additionalProperties":false}`, "", "property key", "name of a parameter"},
		{"propertyOrdering", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false,"propertyOrdering":["a"]}`, "propertyOrdering", "propertyOrdering", ""},
		{"a wrong propertyOrdering", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false,"propertyOrdering":["b"]}`, "propertyOrdering", "propertyOrdering", "each of the properties once"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			t.Parallel()
			for _, judge := range []struct {
				name, tools, want string
				faults            func(jsontext.Value) []string
			}{
				{"OpenAI", chat(row.tools), row.openai, exporttest.OpenAI},
				{"OpenAIResponses", response(row.tools), row.openai, exporttest.OpenAIResponses},
				{"Anthropic", block(row.tools), row.anthropic, exporttest.Anthropic},
				{"Gemini", declaration(row.tools), row.gemini, exporttest.Gemini},
			} {
				faults := strings.Join(judge.faults(jsontext.Value(judge.tools)), "\n")
				if judge.want == "" {
					require.Empty(t, faults, judge.name)
					continue
				}
				require.Contains(t, faults, judge.want, judge.name)
			}
		})
	}
}

func repeat(n int, f func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = f(i)
	}
	return "[" + strings.Join(list, ",") + "]"
}

// What stands around the schemas: forms, names, descriptions, and what a request may hold.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		judge  func(jsontext.Value) []string
		tools  string
		want   string
		before string // replaced
		after  string
	}{
		{name: "no list", judge: exporttest.OpenAI, tools: `{}`, want: "no JSON array"},
		{name: "an empty list", judge: exporttest.Gemini, tools: `[]`, want: "no tools"},
		{name: "another type", judge: exporttest.OpenAI, before: `"type":"function"`, after: `"type":"custom"`, want: "must be function"},
		{name: "a stranger", judge: exporttest.OpenAI, before: `"strict":true`, after: `"strict":true,"cache":1`, want: "cache is not among"},
		{name: "strict in words", judge: exporttest.OpenAI, before: `"strict":true`, after: `"strict":"yes"`, want: "true or false"},
		{name: "a name with a dot", judge: exporttest.OpenAI, before: `a_v1`, after: `a.v1`, want: "name: must match"},
		{name: "no description", judge: exporttest.OpenAI, before: `"A tool."`, after: `""`, want: "must be text"},
		{name: "a long description", judge: exporttest.OpenAI, before: `A tool.`, after: strings.Repeat("é", 1025), want: "more than 1024"},
		{name: "129 functions", judge: exporttest.OpenAI, tools: repeat(129, func(i int) string {
			return strings.Trim(strings.Replace(chat(nested(1)), "a_v1", fmt.Sprint("a", i), 1), "[]")
		}), want: "128"},
		{name: "a stranger", judge: exporttest.Anthropic, before: `"strict":true`, after: `"stric":true`, want: "stric is not among"},
		{name: "strict in words", judge: exporttest.Anthropic, before: `"strict":true`, after: `"strict":1`, want: "true or false"},
		{name: "21 strict tools", judge: exporttest.Anthropic, tools: repeat(21, func(i int) string {
			return strings.Trim(strings.Replace(block(`{"type":"object","properties":{},"additionalProperties":false}`), "a_v1", fmt.Sprint("a", i), 1), "[]")
		}), want: "20 strict"},
		{name: "25 optional members", judge: exporttest.Anthropic, tools: block(`{"type":"object","properties":{` + strings.Trim(repeat(25, func(i int) string { return fmt.Sprintf(`"m%d":{"type":"string"}`, i) }), "[]") + `},"additionalProperties":false}`), want: "24 optional"},
		{name: "17 unions", judge: exporttest.Anthropic, tools: block(value(`{"type":"object","properties":{` + strings.Trim(repeat(17, func(i int) string {
			return fmt.Sprintf(`"m%d":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"null"}]}}`, i)
		}), "[]") + `},"additionalProperties":false}`)), want: "16 parameters"},
		{name: "a name twice", judge: exporttest.Anthropic, tools: "[" + strings.Trim(block(nested(1)), "[]") + "," + strings.Trim(block(nested(1)), "[]") + "]", want: "stands twice"},
		{name: "a stranger", judge: exporttest.Gemini, before: `"parametersJsonSchema"`, after: `"parameters"`, want: "parameters is not among"},
		{name: "a name that begins with a digit", judge: exporttest.Gemini, before: `a_v1`, after: `1_v1`, want: "name: must match"},
		{name: "129 declarations", judge: exporttest.Gemini, tools: `[{"functionDeclarations":` + repeat(129, func(i int) string { return fmt.Sprintf(`{"name":"a%d","description":"A tool."}`, i) }) + `}]`, want: "128"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			tools := row.tools
			if tools == "" {
				for _, good := range []string{chat(nested(1)), block(nested(1)), declaration(nested(1))} {
					if len(row.judge(jsontext.Value(good))) == 0 {
						tools = good
					}
				}
				require.Contains(t, tools, row.before)
				tools = strings.Replace(tools, row.before, row.after, 1)
			}
			require.Contains(t, strings.Join(row.judge(jsontext.Value(tools)), "\n"), row.want)
		})
	}
}
