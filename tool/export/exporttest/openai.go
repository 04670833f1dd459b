package exporttest

import (
	"encoding/json/jsontext"
	"regexp"
	"slices"
	"unicode/utf8"
)

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`) // API reference, FunctionDefinition.name

// OpenAI judges the tools of a Chat Completions request: the forms of the API reference and, of strict functions, the
// section "Supported schemas" of the guide "Structured model outputs". Nil: nothing is wrong.
func OpenAI(tools jsontext.Value) []string {
	return openAI(tools, func(j *judge, place string, m map[string]any) map[string]any {
		j.only(place, m, "type", "function")
		return j.object(place+".function", m["function"])
	})
}

// OpenAIResponses judges the tools of a Responses request: the same schemas, functions that are not wrapped.
func OpenAIResponses(tools jsontext.Value) []string {
	return openAI(tools, func(_ *judge, _ string, m map[string]any) map[string]any {
		f := map[string]any{}
		for name, v := range m {
			if name != "type" {
				f[name] = v
			}
		}
		return f
	})
}

func openAI(tools jsontext.Value, function func(j *judge, place string, m map[string]any) map[string]any) []string {
	list, faults := decode(tools)
	if len(list) > 128 {
		faults = append(faults, "more than 128 functions")
	}
	seen := map[any]bool{}
	for _, v := range list {
		j := &judge{tool: "?"}
		m := j.object("tool", v)
		if m["type"] != "function" {
			j.fault("type", "must be function")
		}
		f := function(j, "tool", m)
		if name, ok := f["name"].(string); ok {
			j.tool = name
		}
		if seen[f["name"]] {
			j.fault("name", "stands twice")
		}
		seen[f["name"]] = true
		j.only("function", f, "name", "description", "parameters", "strict")
		j.named("name", f["name"], functionName)
		j.described("description", f["description"], 1024)
		strict, ok := f["strict"].(bool)
		if !ok {
			j.fault("strict", "must be true or false")
		}
		j.root = j.object("parameters", f["parameters"])
		if j.root["type"] != "object" {
			j.fault("parameters", "the root must be an object")
		}
		if strict {
			j.openAIStrict()
		}
		faults = append(faults, j.faults...)
	}
	return faults
}

func (j *judge) openAIStrict() {
	if j.root["anyOf"] != nil {
		j.fault("parameters", "the root must not be anyOf")
	}
	j.openAISchema("parameters", j.root, true)
	if defs, ok := j.root["$defs"].(map[string]any); ok {
		for name, d := range defs {
			j.characters += utf8.RuneCountInString(name)
			j.openAISchema("$defs."+name, j.object("$defs."+name, d), false)
		}
	}
	if depth := j.depth(j.root, map[string]bool{"#": true}); depth > 10 {
		j.fault("parameters", "%d levels of nesting; 10 are taken", depth)
	}
	switch {
	case j.properties > 5000:
		j.fault("parameters", "more than 5000 properties")
	case j.enums > 1000:
		j.fault("parameters", "more than 1000 enum values")
	case j.characters > 120_000:
		j.fault("parameters", "more than 120000 characters of names and values")
	}
}

func openAIFormats() []string {
	return []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
}

func (j *judge) openAISchema(place string, s map[string]any, root bool) {
	if s == nil {
		return
	}
	if s["$ref"] != nil {
		j.reference(place, s)
		return
	}
	taken := []string{
		"type", "description", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items",
		"pattern", "format", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "minItems", "maxItems",
	}
	if root {
		taken = append(taken, "$defs")
	}
	j.only(place, s, taken...)
	if s["type"] == nil && s["anyOf"] == nil {
		j.fault(place, "says no type and no anyOf")
	}
	j.typed(place, s, map[string]string{
		"properties": "object", "required": "object", "additionalProperties": "object", "items": "array", "minItems": "array",
		"maxItems": "array", "pattern": "string", "format": "string", "multipleOf": "number integer", "maximum": "number integer",
		"exclusiveMaximum": "number integer", "minimum": "number integer", "exclusiveMinimum": "number integer",
	})
	if f, ok := s["format"].(string); ok && !slices.Contains(openAIFormats(), f) {
		j.fault(place, "format: is not among the supported")
	}
	j.openAIEnum(place, s)
	if slices.Contains(types(s["type"]), "object") {
		j.openAIObject(place, s)
	}
	if slices.Contains(types(s["type"]), "array") {
		j.openAISchema(place+"[]", j.object(place+".items", s["items"]), false)
	}
	variants, ok := s["anyOf"].([]any)
	if s["anyOf"] != nil && (!ok || len(variants) == 0) {
		j.fault(place, "anyOf: must be a list of schemas")
	}
	for _, v := range variants {
		j.openAISchema(place, j.object(place, v), false)
	}
}

// "additionalProperties: false must always be set in objects", "All fields must be required".
func (j *judge) openAIObject(place string, s map[string]any) {
	if s["additionalProperties"] != false {
		j.fault(place, "additionalProperties: must be false")
	}
	required := j.required(place, s)
	members := j.members(place, s)
	if s["properties"] == nil {
		j.fault(place, "properties: must be given")
	}
	j.properties += len(members)
	for name, m := range members {
		j.characters += utf8.RuneCountInString(name)
		if !slices.Contains(required, name) {
			j.fault(place+"."+name, "must be required")
		}
		j.openAISchema(place+"."+name, j.object(place+"."+name, m), false)
	}
}

func (j *judge) openAIEnum(place string, s map[string]any) {
	values, ok := s["enum"].([]any)
	if s["enum"] != nil && (!ok || len(values) == 0) {
		j.fault(place, "enum: must be a list of values")
	}
	if s["const"] != nil {
		values = append(values, s["const"])
	}
	text := 0
	for _, v := range values {
		if t, ok := v.(string); ok {
			text += utf8.RuneCountInString(t)
		}
	}
	j.enums += len(values)
	j.characters += text
	if len(values) > 250 && text > 15_000 {
		j.fault(place, "enum: more than 250 values of more than 15000 characters together")
	}
}

// depth counts objects and arrays within one another, a recursive type once.
func (j *judge) depth(s map[string]any, inside map[string]bool) int {
	if ref, ok := s["$ref"].(string); ok {
		if inside[ref] {
			return 0
		}
		inside[ref] = true
		defer delete(inside, ref)
		return j.depth(j.reference("$ref", s), inside)
	}
	deepest := 0
	look := func(v any) {
		if m, ok := v.(map[string]any); ok {
			deepest = max(deepest, j.depth(m, inside))
		}
	}
	if members, ok := s["properties"].(map[string]any); ok {
		for _, m := range members {
			look(m)
		}
	}
	look(s["items"])
	own := 0
	if t := types(s["type"]); slices.Contains(t, "object") || slices.Contains(t, "array") {
		own = 1
	}
	deepest += own
	if variants, ok := s["anyOf"].([]any); ok {
		for _, v := range variants {
			look(v)
		}
	}
	return deepest
}
