package exporttest

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// judge collects what is wrong with one request's tools.
type judge struct {
	tool   string
	root   map[string]any
	faults []string

	properties, enums, characters, optional, unions int
}

func (j *judge) fault(place, format string, args ...any) {
	j.faults = append(j.faults, fmt.Sprintf("%s: %s: %s", j.tool, place, fmt.Sprintf(format, args...)))
}

func decode(tools jsontext.Value) ([]any, []string) {
	var list []any
	if err := json.Unmarshal(tools, &list); err != nil {
		return nil, []string{"the tools are no JSON array"}
	}
	if len(list) == 0 {
		return nil, []string{"there are no tools"}
	}
	return list, nil
}

// object returns v as an object; a fault where it is none.
func (j *judge) object(place string, v any) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		j.fault(place, "must be an object")
	}
	return m
}

// only faults every member but those that are named.
func (j *judge) only(place string, m map[string]any, names ...string) {
	for name := range m {
		if !slices.Contains(names, name) {
			j.fault(place, "%s is not among what is taken", name)
		}
	}
}

func (j *judge) named(place string, v any, form *regexp.Regexp) {
	if name, ok := v.(string); !ok || !form.MatchString(name) {
		j.fault(place, "must match %s", form)
	}
}

func (j *judge) described(place string, v any, most int) {
	text, ok := v.(string)
	if !ok || text == "" {
		j.fault(place, "must be text")
	}
	if most > 0 && utf8.RuneCountInString(text) > most {
		j.fault(place, "has more than %d characters", most)
	}
}

// types returns what a schema's type names.
func types(v any) []string {
	switch t := v.(type) {
	case string:
		return []string{t}
	case []any:
		var names []string
		for _, n := range t {
			name, _ := n.(string)
			names = append(names, name)
		}
		return names
	}
	return nil
}

func jsonTypes() []string {
	return []string{"string", "number", "integer", "boolean", "null", "object", "array"}
}

// typed judges type and that the keywords beside it belong to it.
func (j *judge) typed(place string, s map[string]any, belongs map[string]string) {
	names := types(s["type"])
	for _, n := range names {
		if !slices.Contains(jsonTypes(), n) {
			j.fault(place, "type: is none of JSON's")
		}
	}
	if _, several := s["type"].([]any); several && (len(names) != 2 || !slices.Contains(names, "null")) {
		j.fault(place, "type: an array must be one type and null")
	}
	for keyword, of := range belongs {
		if s[keyword] == nil {
			continue
		}
		if !slices.ContainsFunc(strings.Fields(of), func(n string) bool { return slices.Contains(names, n) }) {
			j.fault(place, "%s: beside a type that it does not bound", keyword)
		}
	}
}

// reference resolves $ref, which stands alone; nil after a fault.
func (j *judge) reference(place string, s map[string]any) map[string]any {
	j.only(place, s, "$ref")
	ref, _ := s["$ref"].(string)
	if ref == "#" {
		return j.root
	}
	name, ok := strings.CutPrefix(ref, "#/$defs/")
	defs, _ := j.root["$defs"].(map[string]any)
	target, found := defs[name].(map[string]any)
	if !ok || !found {
		j.fault(place, "$ref: leads nowhere")
		return nil
	}
	return target
}

// member names and schemas, for a walk.
func (j *judge) members(place string, s map[string]any) map[string]any {
	if s["properties"] == nil {
		return nil
	}
	return j.object(place+".properties", s["properties"])
}

func (j *judge) required(place string, s map[string]any) []string {
	if s["required"] == nil {
		return nil
	}
	list, ok := s["required"].([]any)
	if !ok {
		j.fault(place, "required: must be an array")
	}
	var names []string
	for _, v := range list {
		name, _ := v.(string)
		if slices.Contains(names, name) {
			j.fault(place, "required: a name stands twice")
		}
		names = append(names, name)
	}
	members := j.members(place, s)
	for _, name := range names {
		if _, ok := members[name]; !ok {
			j.fault(place, "required: %q is not among the properties", name)
		}
	}
	return names
}
