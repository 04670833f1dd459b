package export_test

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

// exporter is one provider: how tools are exported, judged and called.
type exporter struct {
	name   string
	export func(tools []tool.Published) (*export.Export, error)
	judge  func(tools jsontext.Value) []string
	schema func(t *testing.T, definitions jsontext.Value) (schema jsontext.Value, strict bool) // of the first tool
	call   func(name string, arguments jsontext.Value) jsontext.Value
}

func exporters() []exporter {
	return []exporter{
		{"OpenAI", export.OpenAI, exporttest.OpenAI, func(t *testing.T, definitions jsontext.Value) (jsontext.Value, bool) {
			t.Helper()
			var list []struct {
				Function struct {
					Parameters jsontext.Value `json:"parameters"`
					Strict     bool           `json:"strict"`
				} `json:"function"`
			}
			require.NoError(t, json.Unmarshal(definitions, &list))
			return list[0].Function.Parameters, list[0].Function.Strict
		}, func(name string, arguments jsontext.Value) jsontext.Value {
			return message(`{"tool_calls":[{"id":"c1","type":"function","function":{"name":`, name, `,"arguments":`, string(arguments), `}}]}`)
		}},
		{"Anthropic", export.Anthropic, exporttest.Anthropic, func(t *testing.T, definitions jsontext.Value) (jsontext.Value, bool) {
			t.Helper()
			var list []struct {
				Schema jsontext.Value `json:"input_schema"`
				Strict bool           `json:"strict"`
			}
			require.NoError(t, json.Unmarshal(definitions, &list))
			return list[0].Schema, list[0].Strict
		}, func(name string, arguments jsontext.Value) jsontext.Value {
			return jsontext.Value(`{"content":[{"type":"tool_use","id":"c1","name":` + quote(name) + `,"input":` + string(arguments) + `}]}`)
		}},
		{"Gemini", export.Gemini, exporttest.Gemini, func(t *testing.T, definitions jsontext.Value) (jsontext.Value, bool) {
			t.Helper()
			var list []struct {
				Functions []struct {
					Schema jsontext.Value `json:"parametersJsonSchema"`
				} `json:"functionDeclarations"`
			}
			require.NoError(t, json.Unmarshal(definitions, &list))
			schema := list[0].Functions[0].Schema
			if schema == nil {
				schema = jsontext.Value(`{"type":"object"}`)
			}
			return schema, false
		}, func(name string, arguments jsontext.Value) jsontext.Value {
			return jsontext.Value(`{"parts":[{"functionCall":{"name":` + quote(name) + `,"args":` + string(arguments) + `}}]}`)
		}},
	}
}

func quote(text string) string {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func message(before, name, between, arguments, after string) jsontext.Value {
	return jsontext.Value(before + quote(name) + between + quote(arguments) + after)
}

type suiteGroup struct {
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`
	Tests       []struct {
		Data  jsontext.Value `json:"data"`
		Valid bool           `json:"valid"`
	} `json:"tests"`
}

// suite reads the official suite from the module cache, where kaptinlin/jsonschema ships it.
func suite(t *testing.T) map[string][]suiteGroup {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/kaptinlin/jsonschema").Output()
	require.NoError(t, err)
	dir := filepath.Join(strings.TrimSpace(string(out)), "testdata", "JSON-Schema-Test-Suite", "tests", "draft2020-12")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the module github.com/kaptinlin/jsonschema came without its test suite (a vendored copy?)")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	groups := map[string][]suiteGroup{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		var list []suiteGroup
		require.NoError(t, json.Unmarshal(text, &list))
		groups[strings.TrimSuffix(filepath.Base(f), ".json")] = list
	}
	require.NotEmpty(t, groups)
	return groups
}

// wrapped puts a schema of the suite into the place of a member, required or optional, of a closed object. Its definitions
// move to the root, where a tool's stand.
func wrapped(schema jsontext.Value, required bool) (jsontext.Value, bool) {
	var defs jsontext.Value
	var members map[string]jsontext.Value
	if json.Unmarshal(schema, &members) == nil {
		defs = members["$defs"]
	}
	if bytes.Contains(schema, []byte(`"#"`)) || bytes.Contains(schema, []byte(`"$id"`)) || bytes.Contains(schema, []byte(`"$anchor"`)) ||
		bytes.Contains(schema, []byte(`"$dynamic`)) || bytes.Contains(schema, []byte(`"#/properties`)) {
		return nil, false // it speaks of its own root, which it is no more
	}
	text := `{"type":"object","properties":{"first":{"type":"string"},"value":` + string(schema) + `,"last":{"type":"integer"}},"required":["first"`
	if required {
		text += `,"value"`
	}
	text += `],"additionalProperties":false`
	if defs != nil {
		text += `,"$defs":` + string(defs)
	}
	return jsontext.Value(text + "}"), true
}

// Every schema of the official suite, as the arguments themselves where they are an object and as a member of them, is
// exported in a form that the provider's documents admit. Whatever the contract admits stays sayable: an instance that is
// valid by the contract, written as the provider's model has to write it, is valid by the exported schema, and comes back
// from its call byte for byte as the contract has it.
func TestOfficialSuite(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	reached := map[string]int{}
	t.Cleanup(func() { t.Logf("%v", reached) })
	for name, groups := range suite(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, g := range groups {
				inputs := map[string]jsontext.Value{}
				if s, ok := wrapped(g.Schema, true); ok {
					inputs["required"] = s
				}
				if s, ok := wrapped(g.Schema, false); ok {
					inputs["optional"] = s
				}
				var root struct {
					Type jsontext.Value `json:"type"`
				}
				if json.Unmarshal(g.Schema, &root) == nil && string(root.Type) == `"object"` {
					inputs["root"] = g.Schema
				}
				if s, ok := wrapped(closed(t, g.Schema), false); ok {
					inputs["closed"] = s
				}
				for as, input := range inputs {
					for _, e := range exporters() {
						what, sent := carries(t, e, g, as, input)
						mu.Lock()
						reached[e.name+" "+what]++
						reached[e.name+" instances"] += sent
						mu.Unlock()
					}
				}
			}
		})
	}
}

// carries says what became of a schema, and how many instances were sent by it.
func carries(t *testing.T, e exporter, g suiteGroup, as string, input jsontext.Value) (what string, sent int) {
	t.Helper()
	where := e.name + ": " + g.Description + ": " + as
	x, err := e.export([]tool.Published{{Name: "t_v1", Description: "A tool.", Input: input}})
	if err != nil {
		require.True(t, strings.Contains(err.Error(), "must match") || strings.Contains(err.Error(), "at the root"), "%s: %v", where, err)
		return "refused", 0 // a name that the provider does not take
	}
	require.Empty(t, e.judge(x.Tools()), where)
	schema, strict := e.schema(t, x.Tools())
	what = "loose"
	if strict || e.name == "Gemini" {
		what = "carried"
	}
	contract, err := compile(input)
	if err != nil {
		return what, 0 // it refers to what is not here
	}
	exported, err := compile(schema)
	require.NoError(t, err, where)
	for _, test := range g.Tests {
		arguments := test.Data.Clone()
		if as != "root" {
			arguments = jsontext.Value(`{"first":"a","value":` + string(test.Data) + `}`)
		}
		if !valid(t, contract, arguments) || !arguments.IsValid() || arguments.Kind() != '{' {
			continue
		}
		require.NoError(t, arguments.Compact())
		written := arguments
		if strict && e.name == "OpenAI" {
			written = filled(t, schema, arguments)
		}
		require.True(t, valid(t, exported, written), "%s: %s is valid by the contract, %s is not by %s", where, arguments, written, schema)
		calls, err := x.Calls(e.call("t_v1", written))
		require.NoError(t, err, where)
		require.Equal(t, string(arguments), string(calls[0].Arguments), "%s: sent %s by %s", where, written, schema)
		sent++
	}
	return what, sent
}

func compile(schema jsontext.Value) (*santhosh.Schema, error) {
	doc, err := santhosh.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := santhosh.NewCompiler()
	c.DefaultDraft(santhosh.Draft2020)
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///schema.json")
}

func valid(t *testing.T, s *santhosh.Schema, doc jsontext.Value) bool {
	t.Helper()
	v, err := santhosh.UnmarshalJSON(bytes.NewReader(doc))
	require.NoError(t, err)
	return s.Validate(v) == nil
}

// filled writes arguments as a model in OpenAI's strict mode has to: with null in the place of what is left out. It knows
// nothing of the exporter: it adds to every object the members that the exported schema requires.
func filled(t *testing.T, schema, arguments jsontext.Value) jsontext.Value {
	t.Helper()
	var root any
	require.NoError(t, json.Unmarshal(schema, &root))
	out := filler{root}.value(root, arguments, 0)
	require.NoError(t, out.Compact())
	return out
}

type filler struct{ root any }

// value fills one value by its schema. Of a union it takes the first variant that has the value's own members.
func (f filler) value(schema any, doc jsontext.Value, depth int) jsontext.Value {
	s, ok := schema.(map[string]any)
	if !ok || depth > 40 {
		return doc
	}
	if ref, ok := s["$ref"].(string); ok {
		if ref == "#" {
			return f.value(f.root, doc, depth+1)
		}
		defs, _ := f.root.(map[string]any)["$defs"].(map[string]any)
		return f.value(defs[strings.TrimPrefix(ref, "#/$defs/")], doc, depth+1)
	}
	if variants, ok := s["anyOf"].([]any); ok {
		for _, v := range variants {
			out := f.value(v, doc, depth+1)
			if ref, ok := v.(map[string]any); ok && ref["$ref"] == "#" {
				v = f.root
			}
			part, err := json.Marshal(withDefs(v, f.root))
			if err != nil {
				continue
			}
			c, err := compile(part)
			if err == nil && accepts(c, out) {
				return out
			}
		}
		return doc
	}
	switch doc.Kind() {
	case '[':
		var items []jsontext.Value
		if json.Unmarshal(doc, &items) != nil {
			return doc
		}
		for i := range items {
			items[i] = f.value(s["items"], items[i], depth+1)
		}
		out, _ := json.Marshal(items)
		return out
	case '{':
		return f.object(s, doc, depth)
	}
	return doc
}

func accepts(c *santhosh.Schema, doc jsontext.Value) bool {
	v, err := santhosh.UnmarshalJSON(bytes.NewReader(doc))
	return err == nil && c.Validate(v) == nil
}

func withDefs(schema, root any) any {
	s, ok := schema.(map[string]any)
	r, _ := root.(map[string]any)
	defs := r["$defs"]
	if !ok || defs == nil {
		return schema
	}
	out := map[string]any{"$defs": defs}
	for k, v := range s {
		out[k] = v
	}
	return out
}

func (f filler) object(s map[string]any, doc jsontext.Value, depth int) jsontext.Value {
	members, _ := s["properties"].(map[string]any)
	var out []byte
	var seen []string
	dec := jsontext.NewDecoder(bytes.NewReader(doc))
	_, _ = dec.ReadToken()
	out = append(out, '{')
	for dec.PeekKind() == '"' {
		name, _ := dec.ReadToken()
		n := name.String()
		v, _ := dec.ReadValue()
		seen = append(seen, n)
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(n)...), ':'), f.value(members[n], v.Clone(), depth+1)...)
	}
	required, _ := s["required"].([]any)
	for _, r := range required {
		if n, _ := r.(string); !slices.Contains(seen, n) {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(out, quote(n)...), ":null"...)
		}
	}
	return append(out, '}')
}

// closed makes a schema of the suite one that strict modes can take: it says the type that its keywords bound, and closes
// its objects.
func closed(t *testing.T, schema jsontext.Value) jsontext.Value {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(schema, &v))
	out, err := json.Marshal(closedValue(v), json.Deterministic(true))
	require.NoError(t, err)
	return out
}

func closedValue(v any) any {
	s, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if s["type"] == nil && s["enum"] == nil && s["const"] == nil && s["$ref"] == nil && s["anyOf"] == nil && s["oneOf"] == nil {
		for _, guess := range []struct{ keywords, typ string }{
			{"properties required minProperties maxProperties dependentRequired propertyNames", "object"},
			{"items minItems maxItems uniqueItems contains", "array"},
			{"minLength maxLength pattern format", "string"},
			{"minimum maximum exclusiveMinimum exclusiveMaximum multipleOf", "number"},
		} {
			for _, k := range strings.Fields(guess.keywords) {
				if s[k] != nil {
					s["type"] = guess.typ
				}
			}
		}
	}
	switch s["type"] {
	case "object":
		if s["additionalProperties"] == nil && s["patternProperties"] == nil {
			s["additionalProperties"] = false
		}
	case "array":
		if s["items"] == nil && s["prefixItems"] == nil {
			s["items"] = map[string]any{"type": "integer"}
		}
	}
	for _, k := range []string{"properties", "$defs"} {
		if members, ok := s[k].(map[string]any); ok {
			for name, m := range members {
				members[name] = closedValue(m)
			}
		}
	}
	for _, k := range []string{"anyOf", "oneOf"} {
		if list, ok := s[k].([]any); ok {
			for i := range list {
				list[i] = closedValue(list[i])
			}
		}
	}
	if s["items"] != nil {
		s["items"] = closedValue(s["items"])
	}
	return s
}
