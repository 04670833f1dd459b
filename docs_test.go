package toolcontract_test

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
)

// documents are the README and the guides, wherever they are below docs.
func documents(t *testing.T) []string {
	t.Helper()
	guides, err := guidesIn(os.DirFS("."))
	require.NoError(t, err)
	return append([]string{"README.md"}, guides...)
}

func guidesIn(root fs.FS) (guides []string, err error) {
	err = fs.WalkDir(root, "docs", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case !d.IsDir() && strings.EqualFold(filepath.Ext(path), ".md"):
			guides = append(guides, path)
		}
		return nil
	})
	return guides, err
}

func TestGuidesAreFoundWhereverTheyAre(t *testing.T) {
	t.Parallel()
	guides, err := guidesIn(fstest.MapFS{"docs/a.md": {}, "docs/sub/b.md": {}, "docs/sub/C.MD": {}, "docs/testdata/x.md": {}, "docs/a.go": {}})
	require.NoError(t, err)
	require.Equal(t, []string{"docs/a.md", "docs/sub/C.MD", "docs/sub/b.md"}, guides)
	require.Equal(t, "docs/testdata/sub/b.go", aroundFile("docs/sub/b.md"))
}

func blocksOf(t *testing.T, document, language string) []snippet {
	t.Helper()
	found, err := blocks(document, read(t, document), language)
	require.NoError(t, err)
	return found
}

func TestFencesAreFoundHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"```go\nvar x = y\n```\n", "~~~go\nvar x = y\n~~~\n", "```go \nvar x = y\n``` \n", "```Go\nvar x = y\n```\n", "``` go\nvar x = y\n```\n",
		"\t```go\n\tvar x = y\n\t```\n", "> ```go\n> var x = y\n> ```\n", "````go\nvar x = y\n````\n", "```golang\nvar x = y\n```\n",
		"```go title=x\nvar x = y\n```\n", "```go\r\nvar x = y\r\n```\r\n", "~~~text\n```\n~~~\n\n```go\nvar x = y\n```\n",
	} {
		found, err := blocks("guide.md", text, "go")
		require.NoError(t, err, text)
		require.Len(t, found, 1, text)
		require.Equal(t, "var x = y\n", found[0].text, text)
	}
	for text, want := range map[string]string{
		"a\n- ```go\n  var x = y\n  ```\n": "guide.md:2: this fence is not read",
		"```go\nvar x = y\n":               "guide.md:1: this fence has no end",
	} {
		_, err := blocks("guide.md", text, "go")
		require.ErrorContains(t, err, want)
	}
}

// around is a document's file in docs/testdata, empty where it has none.
func around(t *testing.T, document string) string {
	t.Helper()
	if document == "docs/README.md" { // README.go is of the README above it
		return ""
	}
	text, err := os.ReadFile(filepath.FromSlash(aroundFile(document)))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	require.NoError(t, err)
	return string(text)
}

func TestSnippetsCompile(t *testing.T) {
	t.Parallel()
	var all []unit
	for _, document := range documents(t) {
		snippets := blocksOf(t, document, "go")
		for _, s := range snippets {
			if err := s.formatted(); err != nil {
				t.Error(err)
			}
		}
		of, err := units(document, around(t, document), snippets)
		if err != nil {
			t.Error(err)
		}
		all = append(all, of...)
	}
	require.NotEmpty(t, all)
	c, err := newCompiler(t.Context(), all)
	require.NoError(t, err)
	for _, u := range all {
		if err := c.check(u); err != nil {
			t.Error(err)
		}
	}
}

// A snippet that does not compile is told by its document and line.
func TestSnippetsThatDoNotCompileAreTold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, document, around, want string }{
		{"nothing around it", "a\n\n```go\nx := 1\n```\n", "", "guide.md:4:1: expected declaration"},
		{"an unknown name", "```go\nvar x = y\n```\n", "", "guide.md:2:9: undefined: y"},
		{"a program", "```go\npackage main\n\nimport \"fmt\"\n\nfunc main() {}\n```\n", "", `guide.md:4:8: "fmt" imported and not used`},
		{"in a list", "1. a\n\n   ```go\n   var x = y\n   ```\n", "", "guide.md:4:9: undefined: y"},
		{"a named one", "<!-- snippet: s -->\n```go\nx := 1\n```\n", "package p\n\nfunc f() {\n\t//snippet:s\n}\n", "guide.md:3:1: declared and not used: x"},
		{"what stands around it", "<!-- snippet: s -->\n```go\nvar x int\n```\n", "package p\n\n//snippet:s\n\nvar y string = x\n", "docs/testdata/guide.go:5:16: cannot use x"},
		{"a name that nothing has", "<!-- snippet: s -->\n```go\nx := 1\n```\n", "package p\n", "guide.md:3: snippet s: docs/testdata/guide.go has no //snippet:s"},
		{"a name too many", "", "package p\n\n//snippet:s\n", "docs/testdata/guide.go:3: guide.md has no such snippet"},
		{"a private package", "```go\nimport _ \"github.com/toolcontract/toolcontract/internal/ids\"\n```\n", "", "guide.md:2:8: \"github.com/toolcontract/toolcontract/internal/ids\" cannot be imported by a user"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			found, err := blocks("guide.md", test.document, "go")
			require.NoError(t, err)
			all, err := units("guide.md", test.around, found)
			c, failed := newCompiler(t.Context(), all)
			require.NoError(t, failed)
			for _, u := range all {
				err = errors.Join(err, c.check(u))
			}
			require.ErrorContains(t, err, test.want)
		})
	}
	require.ErrorContains(t, snippet{document: "guide.md", line: 4, text: "x:=1\n"}.formatted(), "guide.md:4: is not as gofmt has it")
}

// JSON that the documents show is JSON, and a policy is one.
func TestDocumentsShowRealJSON(t *testing.T) {
	t.Parallel()
	for _, document := range documents(t) {
		for _, b := range blocksOf(t, document, "json") {
			require.Truef(t, jsontext.Value(b.text).IsValid(), "%s:%d", document, b.line)
			if strings.Contains(b.text, `"rules"`) {
				_, err := approval.ParseTable(strings.NewReader(b.text))
				require.NoErrorf(t, err, "%s:%d", document, b.line)
			}
		}
	}
}

// What the guide says of its policy is what the policy says.
func TestPolicyGuideIsEvaluated(t *testing.T) {
	t.Parallel()
	text := read(t, "docs/policy.md")
	table, err := approval.ParseTable(strings.NewReader(blocksOf(t, "docs/policy.md", "json")[0].text))
	require.NoError(t, err)
	need, matched := table.Evaluate(approval.Facts{
		Tool: "commit_refund_v1", Class: "irreversible", Tags: []string{"money"},
		Consequence: approval.Consequence{Environment: "production"},
	})
	require.Contains(t, text, fmt.Sprintf("// %v %v %v\n", need.Level, need.Role, matched))
}

func TestDocumentsLinkToWhatThereIs(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	for _, document := range append(documents(t), "CONTRIBUTING.md", "CHANGELOG.md") {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, document), ""), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(document), filepath.FromSlash(m[1])))
			require.NoErrorf(t, err, "%s links to %s", document, m[1])
		}
	}
}

// Every package that a user imports shows how it is used, and stands in the two maps.
func TestEveryPackageIsShown(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{"\t"}}{{.Dir}}{{end}}`, "./...")
	out, err := list.Output()
	require.NoError(t, err)
	table, inside := read(t, "README.md"), read(t, "doc.go")
	seen := 0
	for line := range strings.Lines(string(out)) {
		path, dir, named := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !named || strings.Contains(path, "/internal/") || strings.Contains(path, "/examples/") {
			continue
		}
		seen++
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		shown := slices.ContainsFunc(tests, func(file string) bool { return strings.Contains(read(t, file), "\nfunc Example") })
		require.Truef(t, shown, "%s has no Example", path)
		if name, below := strings.CutPrefix(path, "github.com/toolcontract/toolcontract/"); below {
			require.Contains(t, table, "[`"+name+"`]("+name+")", "README.md")
			require.Regexp(t, `\b`+name+`\b`, inside, "doc.go")
		}
	}
	require.Greater(t, seen, 20)
}
