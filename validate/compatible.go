package validate

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Break is one change that an existing caller, or an existing reader of the output, would notice.
type Break struct {
	Path   string // of the field, "" for the whole document
	Rule   string // the JSON Schema keyword
	Before string // what it said, in words
	After  string // what it says now
}

// String says the change in one line.
func (b Break) String() string {
	return fmt.Sprintf("%s: %s: %s → %s", cmp.Or(b.Path, "the document"), b.Rule, b.Before, b.After)
}

// Compatible lists the incompatible changes, at every place that they reach, up to 1 024; empty when there is none.
//
// For inputs a change breaks when after might refuse a document that before admits. For outputs ([Output]) it breaks when
// after might admit one that before does not: closed contracts have readers that refuse an added field, optional or not.
// An empty list is a proof: no document is refused, or produced, that was not before. A break may be one that no document
// shows: patterns, formats and conditions are only seen to be the same or not. What a Go type adds counts too: an integer
// written 1e1 is one to a schema document and none to an int. Schemas of two directions are compared as outputs.
func Compatible(before, after *Schema) []Break {
	c := newContainment(before.output || after.output)
	sub, sup := before.root, after.root
	if c.output {
		sub, sup = sup, sub
	}
	if sub == nil { // the zero Schema admits nothing
		return nil
	}
	if sup == nil {
		return []Break{c.note("", "type", "admitted", "nothing is admitted")}
	}
	return c.within([]*node{sub}, []*node{sup}).breaks
}

// maxBreaks bounds the list: a type that is used in many places is changed in all of them.
const maxBreaks = 1024

// note makes a break of what the containing schema and the contained one say. The containing one is the newer of an
// input and the older of an output.
func (c *containment) note(path, rule, sub, sup string) Break {
	if c.output {
		sub, sup = sup, sub
	}
	return Break{Path: path, Rule: rule, Before: sub, After: sup}
}

// under puts breaks at the place where their schemas stand.
func under(prefix string, breaks []Break) []Break {
	if prefix == "" || len(breaks) == 0 {
		return breaks
	}
	out := make([]Break, len(breaks))
	for i, b := range breaks {
		switch {
		case b.Path == "":
			b.Path = prefix
		case strings.IndexByte("[{<", b.Path[0]) >= 0:
			b.Path = prefix + b.Path
		default:
			b.Path = prefix + "." + b.Path
		}
		out[i] = b
	}
	return out
}

func words(list []*value) string {
	if list == nil {
		return "any"
	}
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = string(v.raw)
	}
	return strings.Join(texts, ", ")
}

func boundWord(b *bound) string {
	if b == nil {
		return "none"
	}
	return string(b.raw)
}

func countWord(n int) string {
	if n < 0 {
		return "none"
	}
	return strconv.Itoa(n)
}

func openness(list []*node) string {
	word := "open"
	for _, n := range list {
		switch {
		case refuses(n):
			return "closed"
		case n != nil && n.verdict == nil:
			word = "open to values of a schema"
		}
	}
	return word
}

func optionality(required bool) string {
	if required {
		return "required"
	}
	return "optional"
}

// typeWords says of which types the values are that the schemas admit together.
func (c *containment) typeWords(list []*node) string {
	var t types
	for _, s := range c.alternatives(list, contained) {
		t |= typesOf(s.parts)
	}
	if t == anyType|integerType {
		return "any"
	}
	if t.has(numberType) {
		t &^= integerType
	}
	return cmp.Or(t.String(), "none")
}

func (c *containment) describe(list []*node) string {
	var kinds []string
	for _, s := range c.alternatives(list, contained) {
		if s.label == "" {
			return c.typeWords(list)
		}
		kinds = append(kinds, s.label)
	}
	return "a union of " + strings.Join(kinds, ", ")
}

// said returns what the schemas say under a keyword, as it is written.
func said(keyword string, list ...*node) string {
	var texts []string
	for _, n := range list {
		if n == nil || n.source == nil {
			continue
		}
		if v := n.source.member(keyword); v != nil {
			texts = append(texts, string(appendCanonical(nil, v)))
		}
	}
	return cmp.Or(strings.Join(texts, " and "), "none")
}
