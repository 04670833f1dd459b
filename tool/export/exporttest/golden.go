package exporttest

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
)

// UpdateVariable is the environment variable that, set to 1, makes [Golden] write its file. Where CI is set it is refused.
const UpdateVariable = "TOOLCONTRACT_UPDATE"

// exporter is one way to export, and the judge of what comes out.
type exporter struct {
	name   string
	export func(tools []tool.Published) (*export.Export, error)
	judge  func(tools jsontext.Value) []string
}

func exporters() []exporter {
	return []exporter{
		{"OpenAI", export.OpenAI, OpenAI},
		{"Anthropic", export.Anthropic, Anthropic},
		{"Gemini", export.Gemini, Gemini},
	}
}

// Golden exports the tools to OpenAI, Anthropic and Gemini, judges each export by the provider's documents, sees that the
// tools themselves are unchanged by it, and compares the definitions and their losses with the file. With
// TOOLCONTRACT_UPDATE=1 the file is written instead, unless CI is set: read the difference before it is committed.
func Golden(tb testing.TB, tools []tool.Published, file string) {
	tb.Helper()
	var text bytes.Buffer
	before := clone(tools)
	for _, e := range exporters() {
		x, err := e.export(tools)
		if err != nil {
			tb.Fatalf("%s: %v", e.name, err)
		}
		for _, fault := range e.judge(x.Tools()) {
			tb.Errorf("%s: %s", e.name, fault)
		}
		fmt.Fprintf(&text, "# %s\n\n", e.name)
		for _, l := range x.Losses() {
			fmt.Fprintf(&text, "%-28s %-32s %-10s %s\n", l.Tool, l.Path, l.Keyword, l.Text)
		}
		if len(x.Losses()) > 0 {
			text.WriteByte('\n')
		}
		definitions := x.Tools()
		if err := definitions.Indent(jsontext.WithIndent("  ")); err != nil {
			tb.Fatalf("%s: %v", e.name, err)
		}
		text.Write(definitions)
		text.WriteString("\n\n")
	}
	if !reflect.DeepEqual(before, tools) {
		tb.Error("the export changed the tools")
	}
	compare(tb, text.Bytes(), file)
}

func clone(tools []tool.Published) []tool.Published {
	copies := make([]tool.Published, len(tools))
	for i, p := range tools {
		p.Input, p.Output = p.Input.Clone(), p.Output.Clone()
		copies[i] = p
	}
	return copies
}

func compare(tb testing.TB, got []byte, file string) {
	tb.Helper()
	if os.Getenv(UpdateVariable) != "" { //nolint:forbidigo // the documented switch of a test
		if os.Getenv("CI") != "" { //nolint:forbidigo // as above
			tb.Fatalf("%s is refused in CI: golden files are rewritten by people", UpdateVariable)
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o600); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file) //nolint:gosec // the file that the test names
	if err != nil {
		tb.Fatal(err)
	}
	if line, g, w := difference(got, want); line > 0 {
		tb.Errorf("%s:%d: the export is not what it was\n now: %s\n was: %s\n%s=1 writes the file anew", file, line, g, w, UpdateVariable)
	}
}

// difference returns the first line in which the texts differ, from 1; zero where they are the same.
func difference(a, b []byte) (line int, inA, inB []byte) {
	if bytes.Equal(a, b) {
		return 0, nil, nil
	}
	as, bs := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range as {
		if i >= len(bs) {
			return i + 1, as[i], nil
		}
		if !bytes.Equal(as[i], bs[i]) {
			return i + 1, as[i], bs[i]
		}
	}
	return len(as) + 1, nil, bs[len(as)]
}
