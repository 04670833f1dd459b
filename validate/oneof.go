package validate

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"reflect"
)

// Case is one variant of a closed union: a struct type and the text of "kind" that stands for it. [Of] makes one;
// the zero value is invalid.
type Case[I any] struct {
	kind    string
	variant reflect.Type
	encode  func(enc *jsontext.Encoder, v I) error
	decode  func(doc []byte, opts json.Options) (I, error)
}

// Of returns the case that V stands for. V is a struct type that implements I, by value, and has no member "kind" of
// its own; anything else is refused where the schema is made.
func Of[I any, V any](kind string) Case[I] {
	return Case[I]{
		kind:    kind,
		variant: reflect.TypeFor[V](),
		encode: func(enc *jsontext.Encoder, v I) error {
			variant, ok := any(v).(V)
			if !ok {
				return errVariant
			}
			return json.MarshalEncode(enc, &tagged[V]{Kind: kind, Variant: variant})
		},
		decode: func(doc []byte, opts json.Options) (i I, err error) {
			var t tagged[V]
			if err := json.Unmarshal(doc, &t, opts); err != nil {
				return i, err
			}
			i, ok := any(t.Variant).(I)
			if !ok {
				return i, errVariant
			}
			return i, nil
		},
	}
}

// tagged is a variant as it stands in a document: its members beside the discriminator.
type tagged[V any] struct {
	Kind    string `json:"kind"`
	Variant V      `json:",embed"`
}

// Cases lists the variants of a union: the method set of a type made for it, usually struct{}. The list is the same
// each time.
type Cases[I any] interface{ Cases() []Case[I] }

// OneOf is a closed union of the struct types that C lists, told apart by the member "kind", which comes before the
// variant's own members. In a document the union is the variant's object; the zero value holds no variant and is
// no document.
type OneOf[I any, C Cases[I]] struct{ Value I }

var (
	errVariant       = errors.New("validate: a value that is none of the union's variants")
	errDiscriminator = errors.New("validate: no variant of the union has this kind")
)

// MarshalJSONTo writes the variant with its kind. A value that is none of the cases is an error.
func (u OneOf[I, C]) MarshalJSONTo(enc *jsontext.Encoder) error {
	t := reflect.TypeOf(any(u.Value))
	var cases C
	for _, c := range cases.Cases() {
		if c.variant == t {
			return c.encode(enc, u.Value)
		}
	}
	return errVariant
}

// UnmarshalJSONFrom reads the variant that "kind" names, strictly: members of other variants are refused.
func (u *OneOf[I, C]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	doc, err := dec.ReadValue()
	if err != nil {
		return err
	}
	kind, err := kindOf(doc)
	if err != nil {
		return err
	}
	var cases C
	for _, c := range cases.Cases() {
		if c.kind == kind {
			u.Value, err = c.decode(doc, dec.Options())
			return placed(dec, err)
		}
	}
	return errDiscriminator
}

// placed gives an error of the variant's own decoding, which begins at the variant, its place in the whole document.
func placed(dec *jsontext.Decoder, err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		semantic.JSONPointer = dec.StackPointer() + semantic.JSONPointer
	}
	return err
}

// kindOf reads the discriminator of an object. The decoder has read doc as valid before: only its structure is walked.
func kindOf(doc []byte) (string, error) {
	i := space(doc, 0)
	if i >= len(doc) || doc[i] != '{' {
		return "", errDiscriminator
	}
	i = space(doc, i+1)
	for i < len(doc) && doc[i] == '"' {
		end := stringEnd(doc, i)
		name := doc[i+1 : end-1]
		i = colon(doc, end)
		if i < 0 {
			break
		}
		if string(name) == discriminator || bytes.IndexByte(name, '\\') >= 0 && plain(name) == discriminator {
			if doc[i] != '"' {
				break
			}
			return plain(doc[i+1 : stringEnd(doc, i)-1]), nil
		}
		if i = space(doc, valueEnd(doc, i)); i >= len(doc) || doc[i] != ',' {
			break
		}
		i = space(doc, i+1)
	}
	return "", errDiscriminator
}

// plain unescapes the inside of a valid string.
func plain(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	out, err := jsontext.AppendUnquote(nil, append(append([]byte{'"'}, text...), '"'))
	if err != nil {
		return ""
	}
	return string(out)
}

// stringEnd returns the position after the valid string at i.
func stringEnd(doc []byte, i int) int {
	for i++; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// valueEnd returns the position after the valid value at i.
func valueEnd(doc []byte, i int) int {
	depth := 0
	for i < len(doc) {
		switch doc[i] {
		case '"':
			i = stringEnd(doc, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				if depth == 0 {
					i++
				}
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// variants erases the type of the interface, for the one place that derives schemas.
func (OneOf[I, C]) variants() []variant {
	var cases C
	list := cases.Cases()
	out := make([]variant, len(list))
	for i, c := range list {
		out[i] = variant{kind: c.kind, typ: c.variant, of: reflect.TypeFor[I]()}
	}
	return out
}

type variant struct {
	kind    string
	typ, of reflect.Type
}

type unionType interface{ variants() []variant }
