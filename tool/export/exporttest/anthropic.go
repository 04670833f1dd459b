package exporttest

import (
	"encoding/json/jsontext"
	"regexp"
	"slices"
	"strconv"
)

var (
	blockName   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`) // "Define tools", name
	propertyKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`) // the API's error: "Property keys should match pattern"
)

// Anthropic judges the tools of a Messages request: "Define tools" and, of strict tools, "JSON Schema limitations" and
// "Schema complexity limits" of "Structured outputs". Nil: nothing is wrong.
func Anthropic(tools jsontext.Value) []string {
	list, faults := decode(tools)
	strict, optional, unions := 0, 0, 0
	seen := map[any]bool{}
	for _, v := range list {
		j := &judge{tool: "?"}
		m := j.object("tool", v)
		if name, ok := m["name"].(string); ok {
			j.tool = name
		}
		if seen[m["name"]] {
			j.fault("name", "stands twice")
		}
		seen[m["name"]] = true
		j.only("tool", m, "name", "description", "input_schema", "strict")
		j.named("name", m["name"], blockName)
		j.described("description", m["description"], 0)
		j.root = j.object("input_schema", m["input_schema"])
		if j.root["type"] != "object" {
			j.fault("input_schema", "the root must be an object")
		}
		for _, keyword := range []string{"oneOf", "anyOf", "allOf"} {
			if j.root[keyword] != nil {
				j.fault("input_schema", "%s at the top level", keyword)
			}
		}
		j.keys("input_schema", j.root)
		if m["strict"] == true {
			strict++
			j.anthropicSchema("input_schema", j.root, nil)
			optional += j.optional
			unions += j.unions
		} else if m["strict"] != nil && m["strict"] != false {
			j.fault("strict", "must be true or false")
		}
		faults = append(faults, j.faults...)
	}
	if strict > 20 {
		faults = append(faults, "more than 20 strict tools")
	}
	if optional > 24 {
		faults = append(faults, "more than 24 optional parameters in the strict tools")
	}
	if unions > 16 {
		faults = append(faults, "more than 16 parameters of several types in the strict tools")
	}
	return faults
}

// keys judges the names of the members of all objects.
func (j *judge) keys(place string, s map[string]any) {
	members, _ := s["properties"].(map[string]any)
	for name, m := range members {
		if !propertyKey.MatchString(name) {
			j.fault(place, "a property key must match %s", propertyKey)
		}
		if m, ok := m.(map[string]any); ok {
			j.keys(place+"."+name, m)
		}
	}
	if items, ok := s["items"].(map[string]any); ok {
		j.keys(place+"[]", items)
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		variants, _ := s[keyword].([]any)
		for _, v := range variants {
			if v, ok := v.(map[string]any); ok {
				j.keys(place, v)
			}
		}
	}
	if defs, ok := s["$defs"].(map[string]any); ok {
		for name, d := range defs {
			if d, ok := d.(map[string]any); ok {
				j.keys("$defs."+name, d)
			}
		}
	}
}

func anthropicFormats() []string {
	return []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
}

// anthropicSchema judges one schema; inside are the references that lead to it.
func (j *judge) anthropicSchema(place string, s map[string]any, inside []string) {
	if s == nil {
		return
	}
	if ref, ok := s["$ref"].(string); ok {
		if slices.Contains(inside, ref) || ref == "#" {
			j.fault(place, "recursive schemas are not supported")
			return
		}
		j.anthropicSchema(place, j.reference(place, s), append(slices.Clone(inside), ref))
		return
	}
	j.only(place, s, "type", "description", "enum", "const", "anyOf", "properties", "required", "additionalProperties", "items",
		"minItems", "pattern", "format", "$defs")
	if s["type"] == nil && s["anyOf"] == nil {
		j.fault(place, "says no type and no anyOf")
	}
	j.typed(place, s, map[string]string{
		"properties": "object", "required": "object", "additionalProperties": "object", "items": "array", "minItems": "array",
		"pattern": "string", "format": "string",
	})
	if n, ok := s["minItems"].(float64); s["minItems"] != nil && (!ok || n != 0 && n != 1) {
		j.fault(place, "minItems: only 0 and 1 are supported")
	}
	if f, ok := s["format"].(string); ok && !slices.Contains(anthropicFormats(), f) {
		j.fault(place, "format: is not among the supported")
	}
	if p, ok := s["pattern"].(string); ok {
		j.anthropicPattern(place, p)
	}
	values, _ := s["enum"].([]any)
	for _, v := range values {
		switch v.(type) {
		case map[string]any, []any:
			j.fault(place, "enum: complex types are not supported")
		}
	}
	variants, _ := s["anyOf"].([]any)
	if _, several := s["type"].([]any); several || variants != nil {
		j.unions++
	}
	if slices.Contains(types(s["type"]), "object") {
		if s["additionalProperties"] != false {
			j.fault(place, "additionalProperties: must be false")
		}
		required := j.required(place, s)
		for name, m := range j.members(place, s) {
			if !slices.Contains(required, name) {
				j.optional++
			}
			j.anthropicSchema(place+"."+name, j.object(place+"."+name, m), inside)
		}
	}
	if s["items"] != nil {
		j.anthropicSchema(place+"[]", j.object(place+".items", s["items"]), inside)
	}
	for _, v := range variants {
		j.anthropicSchema(place, j.object(place, v), inside)
	}
}

var (
	escapes    = regexp.MustCompile(`\\.`)
	forbidden  = regexp.MustCompile(`^(\\[bBAzZ1-9pPkQ])$`)
	lookaround = regexp.MustCompile(`\(\?[=!<]`)
	counts     = regexp.MustCompile(`\{(\d+)(?:,(\d*))?\}`)
)

// anthropicPattern judges a pattern by "Pattern support (regex)".
func (j *judge) anthropicPattern(place, pattern string) {
	for _, e := range escapes.FindAllString(pattern, -1) {
		if forbidden.MatchString(e) {
			j.fault(place, "pattern: word boundaries, anchors, classes by name and backreferences are not supported")
		}
	}
	if lookaround.MatchString(pattern) {
		j.fault(place, "pattern: lookarounds are not supported")
	}
	for _, c := range counts.FindAllStringSubmatch(escapes.ReplaceAllString(pattern, "x"), -1) {
		for _, n := range c[1:] {
			if v, err := strconv.Atoi(n); err == nil && v > 100 {
				j.fault(place, "pattern: a large range")
			}
		}
	}
}
