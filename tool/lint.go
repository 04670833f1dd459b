package tool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/validate"
)

// Finding is a place where a tool is wider than it needs to be. It is advice, not an error: a reason in the lint tag
// beside the field silences what is found there.
type Finding struct {
	Tool  string // wire name
	Place string // input.details, output.labels{}; purpose, owner
	Rule  string // one of the Lint… rules
	Why   string // what is wrong and what to do instead
}

// String says it in one line.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", f.Tool, f.Place, f.Rule, f.Why)
}

// The rules of [Catalog.Lint].
const (
	LintSerialised  = "serialised"   // a string that carries a document of its own
	LintMethod      = "method"       // a method name beside the thing that it is for
	LintCatchAll    = "catch_all"    // free text for anything
	LintMap         = "map"          // members that nobody declared
	LintWholeRecord = "whole_record" // an output that repeats another system's record
	LintBeyond      = "beyond"       // a look-up that returns personal data which its purpose does not name
	LintUnstated    = "unstated"     // no purpose, or no owner
	LintReason      = "reason"       // a reason in a lint tag where nothing is found
)

// widest is how many members an object of an output may have before it looks like somebody else's whole record.
const widest = 24

// Lint reports where the definitions are wide, sorted by tool and place: a wide tool decides at the call what its
// contract should have decided, and what it is told or tells nobody has looked at. The library's own tools are left out.
func (c *Catalog) Lint() []Finding {
	var found []Finding
	for _, d := range c.defs {
		if wire := d.tools[0].wire; wire == getOperation || wire == cancelOperation {
			continue
		}
		found = append(found, d.lint()...)
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(strings.Compare(a.Tool, b.Tool), strings.Compare(a.Place, b.Place), strings.Compare(a.Rule, b.Rule))
	})
	return found
}

// lint looks at what a definition's author wrote: the input of a read or a preview, the output of a read or a commit.
func (d *definition) lint() []Finding {
	first, last := d.tools[0], d.tools[len(d.tools)-1]
	var found []Finding
	for what, text := range map[string]string{"purpose": d.spec.Purpose, "owner": d.spec.Owner} {
		if text == "" {
			found = append(found, Finding{last.wire, what, LintUnstated, "say it: the data map is made of it"})
		}
	}
	found = append(found, widths{wire: first.wire, side: "input", fields: first.input.Fields()}.findings()...)
	out := widths{wire: last.wire, side: "output", fields: last.output.Fields()}
	if d.write == nil {
		out.stated = strings.ToLower(d.spec.Name + " " + d.spec.Description + " " + d.spec.Purpose)
	}
	return append(found, out.findings()...)
}

// widths is one document of a tool under lint.
type widths struct {
	wire, side string
	stated     string // of a look-up's output: what its name, description and purpose say
	fields     []validate.Field
}

func (w widths) findings() (found []Finding) {
	for _, f := range w.fields {
		rule, why := w.rule(f)
		switch {
		case rule != "" && f.Lint == "":
			found = append(found, Finding{w.wire, w.side + "." + f.Path, rule, why})
		case rule == "" && f.Lint != "":
			found = append(found, Finding{w.wire, w.side + "." + f.Path, LintReason, "nothing is found here; the reason can go"})
		}
	}
	return found
}

// rule says what is wide about a field; the first rule that applies counts.
func (w widths) rule(f validate.Field) (rule, why string) {
	name := lastName(f.Path)
	output := w.side == "output"
	switch {
	case w.isMap(f):
		return LintMap, "declare the members, or make a list of names and values with bounds"
	case output && (slices.Contains(recordNames, name) || w.members(f) > widest):
		return LintWholeRecord, "take the fields that are needed; what another system sends may grow"
	case isString(f) && (slices.Contains(serialisedNames, name) || strings.HasSuffix(name, "_json") || strings.HasSuffix(name, "_xml")):
		return LintSerialised, "a document inside a string passes every schema; declare its members"
	case !output && isString(f) && slices.Contains(methodNames, name) && w.beside(f, thingNames):
		return LintMethod, "make a tool of each action: class, policy and schema hang on which it is"
	case isString(f) && freeText(f) && slices.Contains(catchAllNames, name):
		return LintCatchAll, "name what belongs there, one field each"
	case w.stated != "" && f.Class == redact.ClassPersonal && !w.states(f.Path):
		return LintBeyond, "neither name, description nor purpose speaks of it; leave it out, or say what it is for"
	}
	return "", ""
}

// The words by which wide fields give themselves away.
var (
	serialisedNames = []string{"payload", "json", "raw", "blob", "body", "params", "args", "arguments", "request"} //nolint:gochecknoglobals // a constant table
	methodNames     = []string{"action", "method", "operation", "command", "verb", "function", "op"}               //nolint:gochecknoglobals // a constant table
	thingNames      = []string{"resource", "path", "url", "endpoint", "object", "entity", "target", "collection",  //nolint:gochecknoglobals // a constant table
		"payload", "table", "params", "arguments", "body"}
	catchAllNames = []string{"details", "detail", "notes", "metadata", "meta", "extra", "extras", "misc", "other", "info", //nolint:gochecknoglobals // a constant table
		"additional_info", "attributes", "options", "properties", "context", "data"}
	recordNames = []string{"raw", "record", "response", "raw_response", "original", "upstream", "source_record", "dump"} //nolint:gochecknoglobals // a constant table
)

func isString(f validate.Field) bool { return strings.Contains(f.Types, "string") }

func freeText(f validate.Field) bool { return f.Untrusted || f.Class == redact.ClassTrusted }

func lastName(path string) string {
	return strings.ToLower(strings.TrimRight(path[strings.LastIndexByte(path, '.')+1:], "[]{}"))
}

func parent(path string) string { return path[:strings.LastIndexByte(path, '.')+1] }

// isMap reports whether values of a map stand below the field.
func (w widths) isMap(f validate.Field) bool {
	return slices.ContainsFunc(w.fields, func(g validate.Field) bool { return g.Path == f.Path+"{}" })
}

// members counts what is declared directly below a field.
func (w widths) members(f validate.Field) (n int) {
	for _, g := range w.fields {
		if p := parent(g.Path); p == f.Path+"." || p == f.Path+"[]." {
			n++
		}
	}
	return n
}

// beside reports whether a field of one of the names stands in the same object.
func (w widths) beside(f validate.Field, names []string) bool {
	return slices.ContainsFunc(w.fields, func(g validate.Field) bool {
		return g.Path != f.Path && parent(g.Path) == parent(f.Path) && slices.Contains(names, lastName(g.Path))
	})
}

// states reports whether a word of the path is spoken of.
func (w widths) states(path string) bool {
	for _, word := range strings.FieldsFunc(strings.ToLower(path), func(r rune) bool { return strings.ContainsRune("._[]{}-", r) }) {
		if len(word) > 2 && strings.Contains(w.stated, strings.TrimSuffix(word, "s")) {
			return true
		}
	}
	return false
}
