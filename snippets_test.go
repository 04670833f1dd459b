package toolcontract_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A snippet is a fenced Go block of a document.
//
// One that declares things, or is a whole program, is compiled as it stands: as a file, "package" before it where it does
// not say so itself. One that needs more around it is named by a comment on the line before its fence,
//
//	<!-- snippet: commit -->
//
// and stands where docs/testdata has, in the Go file of the document's name, the comment //snippet:commit. All snippets
// of a document that are named are compiled in that one file, in each other's sight.
type snippet struct {
	document string // its path below the repository's root
	line     int    // of the first line of text
	name     string
	text     string
}

var (
	// fence is where a block begins: what stands before it, its marks, its language, and the rest of its line.
	fence  = regexp.MustCompile("^([ \t>]*)(`{3,}|~{3,})[ \t]*([^ \t`]*)([^`]*)$")
	hidden = regexp.MustCompile("(?i)(`{3,}|~{3,})[ \t]*go(lang)?([ \t]|$)")
	naming = regexp.MustCompile(`^[ \t>]*<!-- snippet: ([a-z_]+) -->[ \t]*$`)
	marker = regexp.MustCompile(`(?m)^[\t ]*//snippet:([a-z_]+)$`)
)

// blocks are a document's fenced blocks of one language, however its fences are written. The error names what could be a
// Go block and is not read as one, and a fence without an end.
func blocks(document, text, language string) (found []snippet, err error) {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var errs []error
	for i := 0; i < len(lines); i++ {
		open := fence.FindStringSubmatch(lines[i])
		if open == nil {
			if hidden.MatchString(lines[i]) {
				errs = append(errs, fmt.Errorf("%s:%d: this fence is not read: begin its line with it", document, i+1))
			}
			continue
		}
		s := snippet{document: document, line: i + 2}
		if i > 0 {
			if named := naming.FindStringSubmatch(lines[i-1]); named != nil {
				s.name = named[1]
			}
		}
		for i++; i < len(lines) && !closes(lines[i], open[2]); i++ {
			s.text += within(lines[i], open[1]) + "\n"
		}
		if i == len(lines) {
			errs = append(errs, fmt.Errorf("%s:%d: this fence has no end", document, s.line-1))
		}
		if is := strings.ToLower(open[3]); is == language || is == "golang" && language == "go" {
			found = append(found, s)
		}
	}
	return found, errors.Join(errs...)
}

// closes reports whether a line ends a block that these marks began: as many of the same kind, or more, and nothing else.
func closes(line, marks string) bool {
	line = strings.Trim(line, " \t>")
	return len(line) >= len(marks) && strings.Trim(line, marks[:1]) == ""
}

// within is a line of a block without what stands before its fence.
func within(line, before string) string {
	if rest, ok := strings.CutPrefix(line, before); ok {
		return rest
	}
	if line == strings.TrimRight(before, " \t") { // an empty line
		return ""
	}
	return line
}

func (s snippet) whole() bool {
	return strings.HasPrefix(s.text, "package ") || strings.HasPrefix(s.text, "//") && strings.Contains(s.text, "\npackage ")
}

// unit is a file to compile.
type unit struct {
	name string // the file that its own lines are of
	text string
}

// aroundFile is the file in docs/testdata that a document's named snippets stand in.
func aroundFile(document string) string {
	return "docs/testdata/" + strings.TrimSuffix(strings.TrimPrefix(document, "docs/"), ".md") + ".go"
}

// units are what a document's snippets are compiled as; around is its file in docs/testdata, empty where it has none.
func units(document, around string, snippets []snippet) (all []unit, err error) {
	var errs []error
	named := map[string]snippet{}
	for _, s := range snippets {
		at := "//line " + document + ":" + strconv.Itoa(s.line) + ":1\n"
		_, twice := named[s.name]
		switch {
		case s.name == "" && s.whole():
			all = append(all, unit{document, at + s.text})
		case s.name == "":
			all = append(all, unit{document, "package snippet\n" + at + s.text})
		case twice:
			errs = append(errs, fmt.Errorf("%s:%d: snippet %s: this name is used twice", document, s.line, s.name))
		default:
			named[s.name] = s
		}
	}
	file := aroundFile(document)
	text := "//line " + file + ":1:1\n"
	last := 0
	for _, m := range marker.FindAllStringSubmatchIndex(around, -1) {
		s, ok := named[around[m[2]:m[3]]]
		line := 1 + strings.Count(around[:m[0]], "\n")
		if !ok {
			errs = append(errs, fmt.Errorf("%s:%d: %s has no such snippet", file, line, document))
			continue
		}
		delete(named, s.name)
		text += around[last:m[0]] + "\n//line " + document + ":" + strconv.Itoa(s.line) + ":1\n" + s.text + "//line " + file + ":" + strconv.Itoa(line+1) + ":1"
		last = m[1]
	}
	for _, s := range named {
		errs = append(errs, fmt.Errorf("%s:%d: snippet %s: %s has no //snippet:%s", document, s.line, s.name, file, s.name))
	}
	if around != "" {
		all = append(all, unit{file, text + around[last:]})
	}
	return all, errors.Join(errs...)
}

// compiler checks units against the packages that they import.
type compiler struct {
	files *token.FileSet
	from  types.Importer
}

// newCompiler asks the go command once for all that the units import.
func newCompiler(ctx context.Context, all []unit) (compiler, error) {
	c := compiler{files: token.NewFileSet()}
	paths := []string{"fmt"}
	for _, u := range all {
		f, err := parser.ParseFile(token.NewFileSet(), "snippet.go", u.text, parser.ImportsOnly)
		if err != nil {
			continue // check tells of it
		}
		for _, i := range f.Imports {
			if p, err := strconv.Unquote(i.Path.Value); err == nil {
				paths = append(paths, p)
			}
		}
	}
	slices.Sort(paths)
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, slices.Compact(paths)...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return c, fmt.Errorf("go list: %w", err)
	}
	export := map[string]string{}
	for line := range strings.Lines(string(out)) {
		p, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		export[p] = file
	}
	c.from = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		if export[path] == "" {
			return nil, errors.New("there is no such package")
		}
		return os.Open(filepath.Clean(export[path]))
	})
	return c, nil
}

// check returns everything that is wrong with a unit, each with its document and line.
func (c compiler) check(u unit) error {
	f, err := parser.ParseFile(c.files, "snippet.go", u.text, parser.AllErrors)
	if err != nil {
		return err
	}
	var errs []error
	for _, i := range f.Imports {
		if strings.Contains(i.Path.Value, "/internal/") {
			errs = append(errs, fmt.Errorf("%s: %s cannot be imported by a user", c.files.Position(i.Pos()), i.Path.Value))
		}
	}
	conf := types.Config{Importer: c.from, Error: func(err error) { errs = append(errs, err) }}
	_, err = conf.Check("example.com/snippet", c.files, []*ast.File{f}, nil)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return err
}

// formatted returns an error where a snippet is not as gofmt has it.
func (s snippet) formatted() error {
	clean, err := format.Source([]byte(s.text))
	switch {
	case err != nil:
		return fmt.Errorf("%s:%d: %w", s.document, s.line, err)
	case string(clean) != s.text:
		return fmt.Errorf("%s:%d: is not as gofmt has it:\n%s", s.document, s.line, clean)
	}
	return nil
}
