package validate_test

import (
	"bufio"
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kaptinlin "github.com/kaptinlin/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

type suiteGroup struct {
	Description string         `json:"description"`
	Schema      jsontext.Value `json:"schema"`
	Tests       []suiteTest    `json:"tests"`
}

type suiteTest struct {
	Description string         `json:"description"`
	Data        jsontext.Value `json:"data"`
	Valid       bool           `json:"valid"`
}

// suiteDir finds the official suite in the module cache, where kaptinlin/jsonschema ships it.
func suiteDir(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "github.com/kaptinlin/jsonschema").Output()
	require.NoError(t, err)
	dir := filepath.Join(strings.TrimSpace(string(out)), "testdata", "JSON-Schema-Test-Suite", "tests", "draft2020-12")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the module github.com/kaptinlin/jsonschema came without its test suite (a vendored copy?)")
	}
	return dir
}

// exclusion is a line of testdata/official_exclusions.txt: file | group | test, or * | what differs | reason.
type exclusion struct {
	file, group, test, what, reason string
	used                            bool
}

func exclusions(t *testing.T) []*exclusion {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "official_exclusions.txt"))
	require.NoError(t, err)
	var list []*exclusion
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, " | ")
		require.Len(t, parts, 5, line)
		require.NotEmpty(t, strings.TrimSpace(parts[4]), "no reason: %s", line)
		list = append(list, &exclusion{file: parts[0], group: parts[1], test: parts[2], what: parts[3], reason: parts[4]})
	}
	return list
}

func excluded(list []*exclusion, file, group, test, what string) bool {
	for _, e := range list {
		if e.what == what && e.file == file && (e.group == "*" || e.group == group) && (e.test == "*" || e.test == test) {
			e.used = true
			return true
		}
	}
	return false
}

// TestOfficialSuite runs the required tests of draft 2020-12. Every group whose schema is not taken, and every test on
// which someone differs, stands in the file of exclusions with its reason; an exclusion that excludes nothing fails.
func TestOfficialSuite(t *testing.T) {
	t.Parallel()
	dir := suiteDir(t)
	list := exclusions(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var ran, compiled int
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var groups []suiteGroup
		require.NoError(t, json.Unmarshal(text, &groups))
		file := filepath.Base(path)
		for _, g := range groups {
			s, err := validate.CompileAny(g.Schema)
			if excluded(list, file, g.Description, "*", "schema") {
				require.Error(t, err, "%s: %s: the schema is taken now; remove the exclusion", file, g.Description)
				continue
			}
			require.NoError(t, err, "%s: %s: %s", file, g.Description, g.Schema)
			for _, test := range g.Tests {
				ran++
				name := file + ": " + g.Description + ": " + test.Description
				if !excluded(list, file, g.Description, test.Description, "ours") {
					require.Equal(t, test.Valid, s.Explains(test.Data, wide()), name)
					require.Equal(t, test.Valid, s.Check(test.Data, wide()) == nil, name)
				} else {
					require.NotEqual(t, test.Valid, s.Check(test.Data, wide()) == nil, "%s agrees now; remove the exclusion", name)
				}
				if s.Compiled() {
					compiled++
					if s.Accepts(test.Data, wide()) != s.Explains(test.Data, wide()) && !excluded(list, file, g.Description, test.Description, "scan") {
						t.Errorf("%s: the scan and the slower pass differ\n%s\n%s", name, g.Schema, test.Data)
					}
				}
				for judge, says := range map[string]func([]byte, []byte) (bool, error){"kaptinlin": kaptinlinSays, "santhosh": santhoshSays} {
					valid, err := says(g.Schema, test.Data)
					if (err != nil || valid != test.Valid) && !excluded(list, file, g.Description, test.Description, judge) {
						t.Errorf("%s: %s says %v, %v", name, judge, valid, err)
					}
				}
			}
		}
	}
	for _, e := range list {
		require.True(t, e.used || strings.HasPrefix(e.file, "optional/"), "the exclusion %+v excludes nothing", *e)
	}
	t.Logf("%d tests ran, %d of them through the compiled check", ran, compiled)
	require.Greater(t, ran, 800)
	require.Greater(t, compiled, 200)
}

func kaptinlinSays(schema, doc []byte) (bool, error) {
	c := kaptinlin.NewCompiler()
	clear(c.Loaders)
	clear(c.Decoders)
	clear(c.MediaTypes)
	s, err := c.Compile(slices.Clone(schema))
	if err != nil {
		return false, err
	}
	return s.ValidateJSON(doc).IsValid(), nil
}

func santhoshSays(schema, doc []byte) (bool, error) {
	parsed, err := santhosh.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return false, err
	}
	c := santhosh.NewCompiler()
	c.DefaultDraft(santhosh.Draft2020)
	if err := c.AddResource("schema.json", parsed); err != nil {
		return false, err
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		return false, err
	}
	v, err := santhosh.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return false, err
	}
	return s.Validate(v) == nil, nil
}

// TestOfficialFormats runs the optional tests of the formats that are asserted here.
func TestOfficialFormats(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(suiteDir(t), "optional", "format")
	list := exclusions(t)
	for _, name := range []string{"date", "date-time", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"} {
		file := "optional/format/" + name + ".json"
		text, err := os.ReadFile(filepath.Join(dir, name+".json"))
		require.NoError(t, err)
		var groups []suiteGroup
		require.NoError(t, json.Unmarshal(text, &groups))
		for _, g := range groups {
			s, err := validate.CompileAny(g.Schema)
			require.NoError(t, err)
			for _, test := range g.Tests {
				ours := s.Check(test.Data, wide()) == nil
				if excluded(list, file, g.Description, test.Description, "ours") {
					require.NotEqual(t, test.Valid, ours, "%s: %s agrees now; remove the exclusion", file, test.Description)
					continue
				}
				require.Equal(t, test.Valid, ours, "%s: %s", file, test.Description)
			}
		}
	}
	for _, e := range list {
		require.True(t, e.used || !strings.HasPrefix(e.file, "optional/"), "the exclusion %+v excludes nothing", *e)
	}
}
