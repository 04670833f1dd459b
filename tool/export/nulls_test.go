package export_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
)

// lines is a contract with every place at which a null can be ours, or cannot.
const lines = `{"type":"object","properties":{
	"id":{"type":"string"},
	"note":{"type":"string"},
	"count":{"type":"integer"},
	"state":{"type":"string","enum":["open","shut"]},
	"maybe":{"type":["string","null"]},
	"sure":{"type":["string","null"]},
	"lines":{"type":"array","items":{"$ref":"#/$defs/line"}},
	"to":{"oneOf":[
		{"type":"object","properties":{"kind":{"const":"saved"},"ref":{"type":"string"},"label":{"type":"string"}},"required":["kind","ref"],"additionalProperties":false},
		{"type":"object","properties":{"kind":{"const":"new"},"city":{"type":"string"},"label":{"type":["string","null"]}},"required":["kind","city","label"],"additionalProperties":false}]},
	"either":{"anyOf":[
		{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["b"],"additionalProperties":false},
		{"type":"object","properties":{"a":{"type":["string","null"]},"c":{"type":"string"}},"required":["a"],"additionalProperties":false}]}
},"required":["id","sure"],"additionalProperties":false,
"$defs":{"line":{"type":"object","properties":{"sku":{"type":"string"},"qty":{"type":"integer"},"parts":{"type":"array","items":{"$ref":"#/$defs/line"}}},"required":["sku"],"additionalProperties":false}}}`

func openAI(t *testing.T, input string) *export.Export {
	t.Helper()
	x, err := export.OpenAI([]tool.Published{{Name: "t_v1", Description: "A tool.", Input: jsontext.Value(input)}})
	require.NoError(t, err)
	require.True(t, strings.Contains(string(x.Tools()), `"strict":true`), "%s", x.Losses())
	return x
}

func arguments(t *testing.T, x *export.Export, name, sent string) string {
	t.Helper()
	calls, err := x.Calls(message(`{"tool_calls":[{"id":"c","type":"function","function":{"name":`, name, `,"arguments":`, sent, `}}]}`))
	require.NoError(t, err)
	require.Len(t, calls, 1)
	return string(calls[0].Arguments)
}

func TestNullsThatAreOursAreTakenOutAndNothingElse(t *testing.T) {
	t.Parallel()
	x := openAI(t, lines)
	for _, row := range []struct{ name, why, sent, want string }{
		{"one", "the member is optional and never null", `{"id":"1","note":null}`, `{"id":"1"}`},
		{"first", "its comma goes with it", `{"note":null,"id":"1"}`, `{"id":"1"}`},
		{"middle", "one comma goes", `{"id":"1","note":null,"count":2}`, `{"id":"1","count":2}`},
		{"several", "side by side", `{"note":null,"count":null,"id":"1","state":null,"lines":null}`, `{"id":"1"}`},
		{"all", "an empty object is left", `{"note":null,"count":null}`, `{}`},
		{"spaced", "the spaces of what stays are what they were", "{ \"id\" : \"1\" ,\n \"note\" : null , \"count\" : 2 }", "{ \"id\" : \"1\" , \"count\" : 2 }"},
		{"spaced first", "before the first too", "{ \"note\" : null , \"id\" : \"1\" }", "{ \"id\" : \"1\" }"},
		{"required", "null is the model's own fault", `{"id":null}`, `{"id":null}`},
		{"unknown", "the boundary refuses it by its name", `{"id":"1","other":null}`, `{"id":"1","other":null}`},
		{"contract's null", "null is a value there", `{"id":"1","maybe":null,"sure":null}`, `{"id":"1","maybe":null,"sure":null}`},
		{"duplicate", "two nulls are a duplicate, not a way to leave it out", `{"id":"1","note":null,"note":null}`, `{"id":"1","note":null,"note":null}`},
		{"duplicate value", "nor is one of them", `{"note":null,"id":"1","note":"x"}`, `{"note":null,"id":"1","note":"x"}`},
		{"escaped", "a name is what it says", `{"id":"1","n\u006fte":null}`, `{"id":"1"}`},
		{"escaped duplicate", "also of a duplicate", `{"note":null,"n\u006fte":"x"}`, `{"note":null,"n\u006fte":"x"}`},
		{"numbers", "their texts stay", `{"count":1.0,"note":null,"id":1E2}`, `{"count":1.0,"id":1E2}`},
		{"within", "in the items of an array", `{"lines":[{"sku":"a","qty":null},{"qty":null,"sku":"b"}]}`, `{"lines":[{"sku":"a"},{"sku":"b"}]}`},
		{"recursive", "as deep as they go", `{"lines":[{"sku":"a","parts":[{"sku":"b","qty":null,"parts":[{"sku":"c","parts":null}]}]}]}`, `{"lines":[{"sku":"a","parts":[{"sku":"b","parts":[{"sku":"c"}]}]}]}`},
		{"items", "an item cannot be left out", `{"lines":[null]}`, `{"lines":[null]}`},
		{"variant", "of the variant that is named", `{"to":{"kind":"saved","ref":"r","label":null}}`, `{"to":{"kind":"saved","ref":"r"}}`},
		{"other variant", "in which null is the contract's", `{"to":{"kind":"new","city":"c","label":null}}`, `{"to":{"kind":"new","city":"c","label":null}}`},
		{"kind last", "wherever the name stands", `{"to":{"label":null,"ref":"r","kind":"saved"}}`, `{"to":{"ref":"r","kind":"saved"}}`},
		{"no kind", "nobody can say which", `{"to":{"ref":"r","label":null}}`, `{"to":{"ref":"r","label":null}}`},
		{"unknown kind", "nor here", `{"to":{"kind":"x","label":null}}`, `{"to":{"kind":"x","label":null}}`},
		{"not told apart", "one variant admits null by contract", `{"either":{"a":null,"b":"x"}}`, `{"either":{"a":null,"b":"x"}}`},
		{"not told apart, ours", "no variant does", `{"either":{"a":"x","c":null}}`, `{"either":{"a":"x"}}`},
		{"trailing", "the boundary is to see it", `{"note":null} x`, `{"note":null} x`},
		{"broken", "the boundary is to see it", `{"note":null,`, `{"note":null,`},
		{"not an object", "the boundary is to see it", `[{"note":null}]`, `[{"note":null}]`},
		{"null", "the boundary is to see it", `null`, `null`},
		{"empty", "is how some models say that there are none", ``, `{}`},
		{"space", "is nothing that means anything", ` `, ` `},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.want, arguments(t, x, "t_v1", row.sent), row.why)
		})
	}
}

func TestArgumentsOfOtherToolsAndProvidersStayAsTheyCame(t *testing.T) {
	t.Parallel()
	x := openAI(t, lines)
	require.Equal(t, `{"note":null}`, arguments(t, x, "other_v1", `{"note":null}`), "a tool that was not exported")
	for _, e := range exporters()[1:] {
		x, err := e.export([]tool.Published{{Name: "t_v1", Description: "A tool.", Input: jsontext.Value(lines)}})
		require.NoError(t, err)
		calls, err := x.Calls(e.call("t_v1", jsontext.Value(`{"id":"1","note":null}`)))
		require.NoError(t, err)
		require.Equal(t, `{"id":"1","note":null}`, string(calls[0].Arguments), e.name)
	}
}

// FuzzNulls holds the eraser to a second opinion: what is left says the same as the document, read with every duplicate,
// without the nulls that are ours. Whatever is no JSON is not touched.
func FuzzNulls(f *testing.F) {
	x, err := export.OpenAI([]tool.Published{{Name: "t_v1", Description: "A tool.", Input: jsontext.Value(lines)}})
	require.NoError(f, err)
	for _, seed := range []string{`{"id":"1","note":null}`, `{"lines":[{"sku":"a","qty":null}]}`, "{\"note\":\xff}", `{"n\ud800ote":null}`, `{"note":null,"note":null}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		text, err := json.Marshal(sent)
		if err != nil || sent == "" {
			t.Skip("no JSON string, or the empty one, which is read as no arguments")
		}
		calls, err := x.Calls(jsontext.Value(`{"tool_calls":[{"id":"c","function":{"name":"t_v1","arguments":` + string(text) + `}}]}`))
		require.NoError(t, err)
		got := string(calls[0].Arguments)
		if !jsontext.Value(sent).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			require.Equal(t, sent, got)
			return
		}
		require.True(t, jsontext.Value(got).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)), "%q", got)
		if !strings.Contains(sent, "null") {
			require.Equal(t, sent, got)
		}
		require.Equal(t, strings.Count(sent, "null")-strings.Count(got, "null"), removed(t, sent, got))
	})
}

// removed counts the members that are in one document and not in the other, and requires all else to be the same.
func removed(t *testing.T, before, after string) int {
	t.Helper()
	a, b := tokens(before), tokens(after)
	n := 0
	for i := 0; i < len(a); i++ {
		if len(b) > 0 && a[i] == b[0] && !(i+1 < len(a) && a[i+1] == "null" && (len(b) < 2 || b[1] != "null")) {
			b = b[1:]
			continue
		}
		require.Less(t, i+1, len(a))
		require.Equal(t, "null", a[i+1], "%s became %s", before, after)
		n++
		i++
	}
	require.Empty(t, b)
	return n
}

func tokens(doc string) []string {
	dec := jsontext.NewDecoder(strings.NewReader(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var list []string
	for {
		switch dec.PeekKind() {
		case '{', '}', '[', ']':
			tok, err := dec.ReadToken()
			if err != nil {
				return list
			}
			list = append(list, tok.Kind().String())
		default:
			v, err := dec.ReadValue()
			if err != nil {
				return list
			}
			list = append(list, string(v))
		}
	}
}
