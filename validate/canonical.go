package validate

import (
	"encoding/json/jsontext"
	"slices"
	"strings"
)

// canonical writes a schema document without spacing, its members in order of their names, strings in their shortest
// form and numbers as they were written. It serves the digest alone.
func canonical(raw []byte) []byte {
	v, fault := read(raw, schemaLimits())
	if fault != nil {
		return raw // the document was read once before
	}
	return appendCanonical(nil, &v)
}

func appendCanonical(b []byte, v *value) []byte {
	switch v.kind {
	case nullKind, boolKind, numberKind: // as they were written
	case stringKind:
		return appendText(b, v.text)
	case arrayKind:
		b = append(b, '[')
		for i := range v.elems {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendCanonical(b, &v.elems[i])
		}
		return append(b, ']')
	case objectKind:
		order := make([]int, len(v.names))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, k int) int { return strings.Compare(v.names[i], v.names[k]) })
		b = append(b, '{')
		for at, i := range order {
			if at > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, v.names[i]), ':')
			b = appendCanonical(b, &v.elems[i])
		}
		return append(b, '}')
	}
	return append(b, v.raw...)
}

func appendText(b []byte, text string) []byte {
	out, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return b // text was read as valid UTF-8
	}
	return out
}
