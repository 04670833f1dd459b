package redact

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
)

// ErrCanonical is wrapped by every error of [Canonical]: the value has no canonical form.
var ErrCanonical = errors.New("redact: no canonical form")

// Canonical returns the one spelling of v: RFC 8785, members sorted by UTF-16 code units, no white space, shortest
// escapes; with numbers kept exactly, where RFC 8785 would round them to a double.
//
// v is a document, as [jsontext.Value] (also [encoding/json.RawMessage]), or any Go value, which is first encoded by
// encoding/json/v2: nil slices and maps are [] and {}, a nil pointer is null, []byte is a base64 string.
// A string or a []byte is a value, never a document: convert a document to jsontext.Value.
//
// A number is taken as the decimal that is written and spelt as ECMAScript spells numbers: 1E2 and 100.0 are 100,
// -0 is 0, 2.50 is 2.5, 1e21 is 1e+21. Two spellings of one decimal are equal bytes, and no digit is ever dropped:
// any number spelt with the digits that its double needs, this is RFC 8785 to the byte; only spellings with more digits
// than a double holds differ (333333333.33333329 stays so; RFC 8785 has 333333333.3333333), since dropping
// them would give two plans one digest. A number whose exponent exceeds ±999999999 is refused.
//
// Refused: what is not exactly one JSON text, invalid UTF-8, lone surrogates, duplicate names (in any spelling), NaN
// and infinities, types that JSON cannot hold, and any value that holds a [Secret]: its text would be that of every
// other. The error wraps [ErrCanonical] and names no value. Canonical is idempotent; v is not changed.
func Canonical(v any) ([]byte, error) {
	doc, ok := v.(jsontext.Value)
	if ok {
		doc = doc.Clone()
	} else {
		b, err := encode(v)
		if err != nil {
			return nil, err
		}
		doc = b
	}
	// The standard library sorts and spells names and strings; it is kept away from numbers, which it rounds.
	err := doc.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrCanonical, syntaxFault(err))
	}
	return canonicalNumbers(doc)
}

func encode(v any) (jsontext.Value, error) {
	b, err := json.Marshal(v, json.WithMarshalers(json.MarshalToFunc(refuseSecret)))
	if err == nil {
		return b, nil
	}
	if errors.Is(err, errHoldsSecret) {
		return nil, fmt.Errorf("%w: the value holds a Secret", ErrCanonical)
	}
	if se, ok := errors.AsType[*json.SemanticError](err); ok && se.GoType != nil {
		return nil, fmt.Errorf("%w: a value of type %s does not encode", ErrCanonical, se.GoType)
	}
	return nil, fmt.Errorf("%w: %s", ErrCanonical, syntaxFault(err))
}

var errHoldsSecret = errors.New("redact: a Secret")

func refuseSecret(*jsontext.Encoder, concealed) error { return errHoldsSecret }

// syntaxFault says what is wrong without the text of the standard library, which quotes names and characters.
func syntaxFault(err error) string {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return "a member name stands twice in one object"
	}
	return "not one JSON text in valid UTF-8"
}

// canonicalNumbers respells every number of a document that is formatted otherwise.
func canonicalNumbers(doc []byte) ([]byte, error) {
	var out []byte // nil while doc needs no change
	done := 0
	for i := 0; i < len(doc); {
		switch c := doc[i]; {
		case c == '"':
			i = afterString(doc, i)
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(doc) && numberByte(doc[end]) {
				end++
			}
			d, err := parseDecimal(doc[i:end])
			if err != nil {
				return nil, err
			}
			var buf [32]byte
			if text := d.append(buf[:0]); !bytes.Equal(text, doc[i:end]) {
				out = append(append(out, doc[done:i]...), text...)
				done = end
			}
			i = end
		default:
			i++
		}
	}
	if out == nil {
		return doc, nil
	}
	return append(out, doc[done:]...), nil
}

func afterString(doc []byte, i int) int {
	for i++; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return i
}

func numberByte(c byte) bool {
	switch c {
	case '+', '-', '.', 'e', 'E':
		return true
	}
	return c >= '0' && c <= '9'
}
