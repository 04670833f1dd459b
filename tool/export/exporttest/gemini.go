package exporttest

import (
	"encoding/json/jsontext"
	"regexp"
	"slices"
)

var (
	declarationName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`) // FunctionDeclaration.name
	parameterName   = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)     // FunctionDeclaration.parameters
)

// Gemini judges the tools of a generateContent request: FunctionDeclaration, and for parametersJsonSchema the properties of
// JSON Schema that GenerationConfig.responseJsonSchema and "Structured output" list. Nil: nothing is wrong.
func Gemini(tools jsontext.Value) []string {
	list, faults := decode(tools)
	declarations := 0
	seen := map[any]bool{}
	for _, v := range list {
		j := &judge{tool: "?"}
		m := j.object("tool", v)
		j.only("tool", m, "functionDeclarations")
		functions, ok := m["functionDeclarations"].([]any)
		if !ok {
			j.fault("functionDeclarations", "must be an array")
		}
		declarations += len(functions)
		for _, f := range functions {
			j.declaration(j.object("function", f), seen)
		}
		faults = append(faults, j.faults...)
	}
	if declarations > 128 {
		faults = append(faults, "more than 128 function declarations")
	}
	return faults
}

func (j *judge) declaration(f map[string]any, seen map[any]bool) {
	j.tool = "?"
	if name, ok := f["name"].(string); ok {
		j.tool = name
	}
	if seen[f["name"]] {
		j.fault("name", "stands twice")
	}
	seen[f["name"]] = true
	j.only("function", f, "name", "description", "parametersJsonSchema")
	j.named("name", f["name"], declarationName)
	j.described("description", f["description"], 0)
	if f["parametersJsonSchema"] == nil {
		return // "For function with no parameters, this can be left unset."
	}
	j.root = j.object("parametersJsonSchema", f["parametersJsonSchema"])
	if j.root["type"] != "object" {
		j.fault("parametersJsonSchema", "must describe an object")
	}
	j.geminiSchema("parametersJsonSchema", j.root, true)
	if defs, ok := j.root["$defs"].(map[string]any); ok {
		for name, d := range defs {
			j.geminiSchema("$defs."+name, j.object("$defs."+name, d), false)
		}
	}
	j.cycles("parametersJsonSchema", j.root, []string{"#"}, false)
}

func geminiFormats() []string {
	return []string{"date-time", "date", "time"}
}

func (j *judge) geminiSchema(place string, s map[string]any, root bool) {
	if s == nil {
		return
	}
	if s["$ref"] != nil {
		j.reference(place, s)
		return
	}
	taken := []string{
		"type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems", "minimum", "maximum",
		"anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
	}
	if root {
		taken = append(taken, "$defs", "$id", "$anchor")
	}
	j.only(place, s, taken...)
	if f, ok := s["format"].(string); ok && slices.Contains(types(s["type"]), "string") && !slices.Contains(geminiFormats(), f) {
		j.fault(place, "format: is not among the documented")
	}
	values, _ := s["enum"].([]any)
	for _, v := range values {
		switch v.(type) {
		case string, float64:
		default:
			j.fault(place, "enum: is for strings and numbers")
		}
	}
	j.typed(place, s, map[string]string{
		"properties": "object", "required": "object", "additionalProperties": "object", "propertyOrdering": "object", "items": "array",
		"prefixItems": "array", "minItems": "array", "maxItems": "array", "minimum": "number integer", "maximum": "number integer", "format": "string number integer",
	})
	members := j.members(place, s)
	j.required(place, s)
	j.geminiOrder(place, s, members)
	for name, m := range members {
		if !parameterName.MatchString(name) {
			j.fault(place, "the name of a parameter must match %s", parameterName)
		}
		j.geminiSchema(place+"."+name, j.object(place+"."+name, m), false)
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if _, verdict := s[keyword].(bool); s[keyword] != nil && !(verdict && keyword == "additionalProperties") {
			j.geminiSchema(place+"."+keyword, j.object(place+"."+keyword, s[keyword]), false)
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf", "prefixItems"} {
		list, _ := s[keyword].([]any)
		for _, v := range list {
			j.geminiSchema(place, j.object(place, v), false)
		}
	}
}

func (j *judge) geminiOrder(place string, s, members map[string]any) {
	order, ok := s["propertyOrdering"].([]any)
	if !ok {
		return
	}
	seen := map[string]bool{}
	for _, v := range order {
		name, _ := v.(string)
		if _, declared := members[name]; !declared || seen[name] {
			j.fault(place, "propertyOrdering: each of the properties once")
		}
		seen[name] = true
	}
	if len(seen) != len(members) {
		j.fault(place, "propertyOrdering: each of the properties once")
	}
}

// cycles judges that a cycle of references passes through a member that is not required: "Cyclic references are unrolled to
// a limited degree and, as such, may only be used within non-required properties."
func (j *judge) cycles(place string, s map[string]any, inside []string, free bool) {
	if ref, ok := s["$ref"].(string); ok {
		if slices.Contains(inside, ref) {
			if !free {
				j.fault(place, "a cyclic reference within required properties")
			}
			return
		}
		if target := j.reference(place, s); target != nil {
			j.cycles(place, target, append(slices.Clone(inside), ref), false)
		}
		return
	}
	required := types(s["required"])
	members, _ := s["properties"].(map[string]any)
	for name, m := range members {
		if m, ok := m.(map[string]any); ok {
			j.cycles(place+"."+name, m, inside, free || !slices.Contains(required, name))
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if m, ok := s[keyword].(map[string]any); ok {
			j.cycles(place+"."+keyword, m, inside, free || keyword == "additionalProperties")
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf", "prefixItems"} {
		list, _ := s[keyword].([]any)
		for _, v := range list {
			if m, ok := v.(map[string]any); ok {
				j.cycles(place, m, inside, free)
			}
		}
	}
}
