package main

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func TestExports(t *testing.T) {
	t.Parallel()
	c, err := tool.NewCatalog(definitions(nil)...)
	require.NoError(t, err)
	role, err := supportRole(c)
	require.NoError(t, err)
	exporttest.Golden(t, role.Published(), "testdata/export.golden")
}

// quoted is a JSON string that holds exactly these bytes, UTF-8 or not.
func quoted(text []byte) string {
	var b bytes.Buffer
	b.WriteByte('"')
	for _, c := range text {
		switch {
		case c == '"', c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20:
			fmt.Fprintf(&b, "\\u%04x", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// form is one provider's message with one call in it.
type form struct {
	name   string
	export func(tools []tool.Published) (*export.Export, error)
	text   bool // the arguments stand in a string
	write  func(name, arguments string) string
}

func forms() []form {
	return []form{
		{"OpenAI", export.OpenAI, true, func(name, arguments string) string {
			return `{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":` + name + `,"arguments":` + arguments + `}}]}`
		}},
		{"OpenAIResponses", export.OpenAIResponses, true, func(name, arguments string) string {
			return `{"output":[{"type":"function_call","call_id":"call_1","name":` + name + `,"arguments":` + arguments + `}]}`
		}},
		{"Anthropic", export.Anthropic, false, func(name, arguments string) string {
			return `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":` + name + `,"input":` + arguments + `}]}`
		}},
		{"Gemini", export.Gemini, false, func(name, arguments string) string {
			return `{"role":"model","parts":[{"functionCall":{"name":` + name + `,"args":` + arguments + `}}]}`
		}},
	}
}

// Whatever form a call comes in, the boundary answers as it answers the bytes themselves: verdict, code and place of every
// recorded call. OpenAI's strict mode alone has another way to leave a member out: a null where the contract has an
// optional member. Those calls are counted, and so are those that no message of a provider can hold, being no JSON.
func TestTheBoundaryIsTheSameBehindEveryProvider(t *testing.T) {
	t.Parallel()
	calls, err := readCalls(bytes.NewReader(recorded))
	require.NoError(t, err)
	h, err := newHost(t.Context(), 10*len(calls))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })

	carried, nulls, empty, impossible := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, f := range forms() {
		x, err := f.export(h.run.Tools())
		require.NoError(t, err)
		for _, c := range calls {
			arguments := string(c.Bytes)
			if f.text {
				arguments = quoted(c.Bytes)
			}
			list, err := x.Calls(jsontext.Value(f.write(quoted([]byte(c.Tool)), arguments)))
			if err != nil {
				require.False(t, f.text, "a string holds anything: %s", c.Case)
				impossible[f.name]++
				continue
			}
			require.Len(t, list, 1)
			require.Equal(t, c.Tool, list[0].Tool)
			switch got := string(list[0].Arguments); {
			case got == string(c.Bytes), !f.text && got == strings.Trim(string(c.Bytes), " \t\r\n"): // around a value it is the message's
				carried[f.name]++
				require.Equal(t, h.ask(t.Context(), c), h.ask(t.Context(), recording{Tool: list[0].Tool, Bytes: list[0].Arguments}), c.Case)
			case f.text && len(c.Bytes) == 0:
				empty[f.name]++
				require.Equal(t, "{}", got)
			default:
				nulls[f.name]++
				require.True(t, f.text, c.Case)
				require.Contains(t, string(c.Bytes), "null")
			}
		}
	}
	t.Logf("%d recorded calls: carried %v, a null taken out %v, an empty string %v, not to be written in the form %v", len(calls), carried, nulls, empty, impossible)
	for _, f := range forms() {
		require.Greater(t, carried[f.name], 90, f.name)
		require.Equal(t, len(calls), carried[f.name]+nulls[f.name]+empty[f.name]+impossible[f.name])
	}
}
