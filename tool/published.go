package tool

import (
	"encoding/json/jsontext"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
)

// Published is what a model, and the program around it, is shown of a tool. The schemas are those that the boundary checks.
type Published struct {
	Name, Title, Description string
	Class                    string // read, preview, reversible, irreversible
	OpenWorld                bool   // may reach systems that are not the host's own
	Input, Output            jsontext.Value
	Codes                    []envelope.Code // that a refusal may carry: the library's, in its order, then the tool's own, sorted
}

// Published returns what to show a model that has the role: its tools and no others, by name. It is a fresh copy each time.
func (r Role) Published() []Published {
	ps := make([]Published, 0, len(r.names))
	for _, name := range r.names {
		ps = append(ps, r.tools[name].published())
	}
	return ps
}

func (t *callable) published() Published {
	s := t.def.spec
	return Published{
		Name: t.wire, Title: t.title(), Description: s.Description, Class: t.class.String(), OpenWorld: !s.ClosedWorld,
		Input: t.input.JSON(), Output: t.output.JSON(), Codes: t.codes(),
	}
}

func (t *callable) title() string {
	title := t.def.spec.Title
	if title == "" {
		name := t.def.spec.Name
		title = strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
	}
	switch {
	case t.class == previewClass:
		return "Preview: " + title
	case t.commits():
		return "Commit: " + title
	}
	return title
}

func (t *callable) codes() []envelope.Code {
	var own []envelope.Code
	for code := range t.def.failures {
		if _, ours := envelope.Declared(code); !ours {
			own = append(own, code)
		}
	}
	slices.Sort(own)
	return append(envelope.Codes(), own...)
}
