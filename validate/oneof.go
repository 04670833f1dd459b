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
			return err
		}
	}
	return errDiscriminator
}

// kindOf reads the discriminator of an object.
func kindOf(doc []byte) (string, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(doc))
	if dec.PeekKind() != '{' {
		return "", errDiscriminator
	}
	if _, err := dec.ReadToken(); err != nil {
		return "", err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return "", err
		}
		if name.String() != discriminator {
			if err := dec.SkipValue(); err != nil {
				return "", err
			}
			continue
		}
		if dec.PeekKind() != '"' {
			break
		}
		kind, err := dec.ReadToken()
		return kind.String(), err
	}
	return "", errDiscriminator
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
