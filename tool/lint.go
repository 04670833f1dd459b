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
// beside the field silences what is found there. What is found of a list's elements or a map's values is silenced by the
// tag of the field that holds them.
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

// The rules of [Catalog.Lint]. Names are read word by word, in snake_case and camelCase; a string that enum, const, format or
// a pattern narrows is no document, program or catch-all, whatever its name. A pattern that takes JSON, XML, SQL or prose
// narrows nothing.
const (
	LintSerialised = "serialised" // a string that carries a document of its own: payload_json, raw_body, data_blob
	LintMethod     = "method"     // a method name beside the thing that it is for (action beside resource), or by itself: http_method, endpoint
	LintProgram    = "program"    // a string in a language that does whatever it says: sql, query, expression, script
	LintCatchAll   = "catch_all"  // free text for anything: customer_notes, extra_metadata, details
	LintMap        = "map"        // members that nobody declared
	LintBag        = "bag"        // six or more members, each of them optional, and no kind that says which belong together
	// LintWholeRecord is an output that repeats another system's record, at any depth:
	//
	//   - a field named for one: raw, record, response, upstream_response, source_record,
	//   - more than 24 members in one object,
	//   - three or more members in one object that only the keeper of a record needs: created_at, updated_at, deleted_at, etag,
	//     links, metadata, self, api_version, is_deleted and their like,
	//   - of a look-up: more than 12 members in one object, most of them named neither by the tool's name and description nor
	//     by Purpose and Lookups.
	//
	// In the output itself, which has no tag, the member that makes it too wide is the place. Whether a type is that of an
	// upstream's response cannot be seen here.
	LintWholeRecord = "whole_record"
	LintBeyond      = "beyond"   // a look-up that returns personal data which its purpose does not name
	LintUnstated    = "unstated" // no purpose, or no owner
	LintReason      = "reason"   // a reason in a lint tag where nothing is found
)

// The bounds of the rules.
const (
	widest     = 24 // members of an object of an output before it looks like somebody else's whole record
	unasked    = 12 // the same, where most of them are spoken of nowhere
	keepers    = 3  // members that only the keeper of a record needs
	bag        = 6  // optional members
	tooShort   = 32 // code points that no document of its own fits into
	reasonGone = "nothing is found here; the reason can go"
)

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
	in := widths{wire: first.wire, side: "input", filters: d.write == nil, fields: first.input.Fields()}
	out := widths{wire: last.wire, side: "output", fields: last.output.Fields()}
	if d.write == nil {
		out.stated = strings.ToLower(strings.Join(append([]string{d.spec.Name, d.spec.Description, d.spec.Purpose}, d.spec.Lookups...), " "))
	}
	return slices.Concat(found, in.findings(), out.findings())
}

// widths is one document of a tool under lint.
type widths struct {
	wire, side string
	filters    bool   // of a look-up's arguments: all of them may be optional
	stated     string // of a look-up's output: what its name, description, purpose and lookups say
	fields     []validate.Field
}

func (w widths) findings() (found []Finding) {
	wide := map[string]verdict{}
	for _, path := range w.objects() {
		if at, v := w.object(path); v.rule != "" {
			wide[at] = v
		}
	}
	silent := map[string]bool{} // reasons that silence something
	reasons := map[string]string{}
	for _, f := range w.fields {
		v, base := w.rule(f), strings.TrimRight(f.Path, "[]{}")
		if of, ok := wide[f.Path]; v.rule == "" && ok {
			v = of
		}
		if f.Lint != "" {
			reasons[f.Path] = f.Lint
		}
		switch {
		case v.rule == "":
		case f.Lint != "":
			silent[f.Path] = true
		case reasons[base] != "":
			silent[base] = true
		default:
			found = append(found, Finding{w.wire, w.side + "." + f.Path, v.rule, v.why})
		}
	}
	for path := range reasons {
		if !silent[path] {
			found = append(found, Finding{w.wire, w.side + "." + path, LintReason, reasonGone})
		}
	}
	return found
}

// verdict is what is wide about a place; the zero value: nothing.
type verdict struct{ rule, why string }

// rule says what is wide about a field; the first rule that applies counts.
func (w widths) rule(f validate.Field) verdict {
	n := wordsOf(f.Path)
	output, text := w.side == "output", isString(f) && !f.Narrowed
	switch {
	case w.isMap(f):
		return verdict{LintMap, "declare the members, or make a list of names and values with bounds"}
	case output && n.record() && (text || strings.Contains(f.Types, "object") || strings.Contains(f.Types, "array")):
		return verdict{LintWholeRecord, "take the fields that are needed; what another system sends may grow"}
	case text && n.document() && (f.MaxLength < 0 || f.MaxLength >= tooShort):
		return verdict{LintSerialised, "a document inside a string passes every schema; declare its members"}
	case !output && isString(f) && (n.method() && w.beside(f) || text && n.call()):
		return verdict{LintMethod, "make a tool of each action: class, policy and schema hang on which it is"}
	case !output && text && n.program():
		return verdict{LintProgram, "whoever writes it decides what is done; declare what may vary, one field each"}
	case text && n.catchAll():
		return verdict{LintCatchAll, "name what belongs there, one field each"}
	case w.stated != "" && f.Class == redact.ClassPersonal && !w.states(f.Path):
		return verdict{LintBeyond, "neither name, description nor purpose speaks of it; leave it out, or say what it is for"}
	}
	return verdict{}
}

// object says what is wide about the members of the object at path, and where that is said: at the object, or at the member
// that makes the document itself too wide.
func (w widths) object(path string) (at string, v verdict) {
	members := w.members(path)
	place := func(last validate.Field) string {
		if path == "" {
			return last.Path
		}
		return path
	}
	if w.side == "input" {
		if len(members) < bag || path == "" && w.filters || slices.ContainsFunc(members, func(f validate.Field) bool { return !f.Optional || lastName(f.Path) == "kind" }) {
			return "", verdict{}
		}
		return place(members[0]), verdict{LintBag, "which belong together is said nowhere; make a choice with a kind, or require what every call needs"}
	}
	why := verdict{LintWholeRecord, "take the fields that are needed; what another system sends may grow"}
	if len(members) > widest {
		return place(members[widest]), why
	}
	kept := slices.DeleteFunc(slices.Clone(members), func(f validate.Field) bool { return !wordsOf(f.Path).kept() })
	if len(kept) >= keepers {
		return place(kept[keepers-1]), why
	}
	beyond := slices.DeleteFunc(slices.Clone(members), func(f validate.Field) bool { return w.states(lastName(f.Path)) })
	if w.stated != "" && len(members) > unasked && 2*len(beyond) > len(members) {
		return place(beyond[0]), why
	}
	return "", verdict{}
}

func isString(f validate.Field) bool { return strings.Contains(f.Types, "string") }

func lastName(path string) string {
	return strings.TrimRight(path[strings.LastIndexByte(path, '.')+1:], "[]{}")
}

func parent(path string) string { return path[:strings.LastIndexByte(path, '.')+1] }

// isMap reports whether values of a map stand below the field.
func (w widths) isMap(f validate.Field) bool {
	return slices.ContainsFunc(w.fields, func(g validate.Field) bool { return g.Path == f.Path+"{}" })
}

// objects are the paths that have members, "" for the document itself; of a list the list's.
func (w widths) objects() []string {
	var out []string
	for _, f := range w.fields {
		path := strings.TrimSuffix(strings.TrimSuffix(parent(f.Path), "."), "[]")
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

// members are what is declared directly below a path.
func (w widths) members(path string) (out []validate.Field) {
	for _, f := range w.fields {
		p := strings.TrimSuffix(strings.TrimSuffix(parent(f.Path), "."), "[]")
		if p == path && !strings.HasSuffix(f.Path, "]") && !strings.HasSuffix(f.Path, "}") {
			out = append(out, f)
		}
	}
	return out
}

// beside reports whether what a method could be for stands in the same object.
func (w widths) beside(f validate.Field) bool {
	return slices.ContainsFunc(w.fields, func(g validate.Field) bool {
		return g.Path != f.Path && parent(g.Path) == parent(f.Path) && wordsOf(g.Path).thing()
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
