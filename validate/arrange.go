package validate

import (
	"encoding/json/jsontext"
	"slices"
)

// arrange orders the keywords of a derived document for its readers, people and models: what it is, then what is in
// it, then its bounds. The order of properties stays that of the fields.
func arrange(doc []byte) (jsontext.Value, error) {
	v, fault := read(doc, schemaLimits())
	if fault != nil {
		return nil, fault
	}
	return appendArranged(nil, &v, true), nil
}

func appendArranged(b []byte, v *value, schema bool) []byte {
	switch v.kind {
	case nullKind, boolKind, numberKind, stringKind:
	case arrayKind:
		b = append(b, '[')
		for i := range v.elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendArranged(b, &v.elems[i], true)
		}
		return append(b, ']')
	case objectKind:
		order := make([]int, len(v.names))
		for i := range order {
			order[i] = i
		}
		if schema {
			slices.SortStableFunc(order, func(i, k int) int { return rank(v.names[i]) - rank(v.names[k]) })
		}
		b = append(b, '{')
		for at, i := range order {
			if at > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, v.names[i]), ':')
			named := schema && (v.names[i] == "properties" || v.names[i] == "$defs")
			b = appendArranged(b, &v.elems[i], !named)
		}
		return append(b, '}')
	}
	return append(b, v.raw...)
}

func rank(keyword string) int {
	order := [...]string{
		"$ref", "title", "description", "type", "const", "enum", "format", "pattern", "minLength", "maxLength", "minimum", "maximum",
		"properties", "required", "additionalProperties", "minProperties", "maxProperties", "items", "minItems", "maxItems",
	}
	if i := slices.Index(order[:], keyword); i >= 0 {
		return i
	}
	if keyword == "$defs" {
		return len(order) + 1
	}
	return len(order)
}
