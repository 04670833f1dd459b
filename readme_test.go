package toolcontract_test

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// block returns the README's fenced block that contains the given text.
func block(t *testing.T, language, containing string) string {
	t.Helper()
	for _, b := range blocksOf(t, "README.md", language) {
		if strings.Contains(b.text, containing) {
			return strings.TrimSuffix(b.text, "\n")
		}
	}
	require.Failf(t, "no such block", "%s, containing %s", language, containing)
	return ""
}

// The README's program is the Example, to the letter: the package and the function are called main, and what it prints
// stands below it.
func TestREADMEProgramIsTheExample(t *testing.T) {
	t.Parallel()
	example := read(t, "example_test.go")
	head, rest, found := strings.Cut(example, "\n\n\t// Output:\n")
	require.True(t, found)
	comment, tail, found := strings.Cut(rest, "\n}\n")
	require.True(t, found)

	program := head + "\n}\n" + tail
	program = strings.Replace(program, "package toolcontract_test", "package main", 1)
	program = strings.Replace(program, "func Example() {", "func main() {", 1)
	require.Equal(t, program, block(t, "go", "package main")+"\n")

	output := strings.ReplaceAll("\n"+comment, "\n\t// ", "\n")
	require.Equal(t, output, "\n"+block(t, "text", "get_price_v1 true"))
}

func TestREADMECommandsStandAlone(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"go run ./examples/addresschange", "go test ./..."} {
		require.Equal(t, "GOTOOLCHAIN=auto "+command, block(t, "sh", command))
	}
}

func TestREADMEPolicyIsTheExamples(t *testing.T) {
	t.Parallel()
	policy := block(t, "json", `"rules"`)
	require.Equal(t, read(t, "examples/addresschange/policy.json"), policy+"\n")
	_, err := approval.ParseTable(strings.NewReader(policy))
	require.NoError(t, err)
}

func TestREADMEShowsWhatTheExamplePrints(t *testing.T) {
	t.Parallel()
	require.Contains(t, read(t, "examples/addresschange/testdata/output.golden"), block(t, "text", "┌")+"\n")
}

func TestREADMENamesEveryCode(t *testing.T) {
	t.Parallel()
	text := read(t, "README.md")
	for _, code := range envelope.Codes() {
		require.Contains(t, text, "`"+string(code)+"`")
	}
	for _, found := range regexp.MustCompile("`([A-Z]+_[A-Z_]+)`").FindAllStringSubmatch(text, -1) {
		_, declared := envelope.Declared(envelope.Code(found[1]))
		require.True(t, declared, found[1])
	}
}

// What the README shows of a refused call, and of a wrong definition, is what really comes.
func TestREADMERefusalsAreReal(t *testing.T) {
	t.Parallel()
	get := tool.Tool[query, price]{
		Spec:   tool.Spec{Name: "get_price", Version: 1, Description: "Read an article's price.", Timeout: time.Second},
		Handle: func(context.Context, tool.Caller, query) (price, error) { return price{499, 7}, nil },
	}
	catalog, err := tool.NewCatalog(get)
	require.NoError(t, err)
	d, err := tool.NewDispatcher(catalog, tool.Config{})
	require.NoError(t, err)
	role, err := catalog.Role("clerk", "get_price_v1")
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "acme", Subject: "agent"},
		Role:      role, Budget: tool.Budget{Calls: 1}, Deadline: time.Now().Add(time.Hour),
	})
	require.NoError(t, err)
	r := run.Call(t.Context(), envelope.Call{Tool: "get_price_v1", Arguments: jsontext.Value(`{"sku":"kettle","currency":"EUR"}`)})
	r.RequestID = "req_06f2…"
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.Equal(t, string(text), block(t, "json", "UNKNOWN_FIELD"))

	get.Spec.Timeout = 0
	_, err = tool.NewCatalog(get)
	require.EqualError(t, err, strings.TrimSpace(block(t, "text", `tool "get_price_v1":`)))
}
