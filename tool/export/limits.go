package export

import (
	"encoding/json/jsontext"
	"fmt"
	"regexp"

	"github.com/toolcontract/toolcontract/tool"
)

// limits are what a provider asks of names and sizes, strict or not.
type limits struct {
	provider    string
	name        *regexp.Regexp
	member      *regexp.Regexp // nil: any
	tools       int            // zero: any number
	description int            // characters; zero: any
	plainRoot   bool           // no oneOf, anyOf, allOf at the root
}

func (l limits) check(tools []tool.Published) []error {
	var faults []error
	if len(tools) == 0 {
		faults = append(faults, fmt.Errorf("export: %s: there are no tools", l.provider))
	}
	if l.tools > 0 && len(tools) > l.tools {
		faults = append(faults, fmt.Errorf("export: %s: %d tools; a request takes %d", l.provider, len(tools), l.tools))
	}
	seen := map[string]bool{}
	for _, t := range tools {
		bad := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("export: %s: tool %q: %w", l.provider, t.Name, fmt.Errorf(format, args...)))
		}
		if !l.name.MatchString(t.Name) {
			bad("name: must match %s", l.name)
		}
		if seen[t.Name] {
			bad("name: stands twice")
		}
		seen[t.Name] = true
		if n := length(t.Description); l.description > 0 && n > l.description {
			bad("description: has %d characters; %d are taken", n, l.description)
		}
		doc, err := parse(t.Input)
		if err != nil {
			continue // carry says so
		}
		if l.plainRoot {
			for _, keyword := range []string{"oneOf", "anyOf", "allOf"} {
				if doc.has(keyword) {
					bad("input: %s at the root", keyword)
				}
			}
		}
		if l.member != nil {
			l.members(doc, "", bad)
		}
	}
	return faults
}

// members looks at the names of all properties, wherever a schema stands.
func (l limits) members(s *span, keyword string, bad func(format string, args ...any)) {
	if keyword == "enum" || keyword == "const" || keyword == "default" || keyword == "examples" {
		return // data, not a schema
	}
	for i := range s.values {
		name := ""
		if s.is(jsontext.KindBeginObject) {
			name = s.names[i].text()
		}
		if keyword == "properties" && !l.member.MatchString(name) {
			bad("input: member %q: must match %s", name, l.member)
		}
		if keyword == "properties" || keyword == "$defs" || s.is(jsontext.KindBeginArray) {
			name = ""
		}
		l.members(&s.values[i], name, bad)
	}
}
