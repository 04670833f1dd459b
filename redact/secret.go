package redact

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
)

// Redacted is what a [Secret] shows of itself, everywhere.
const Redacted = "[redacted]"

// Secret holds a value that shows as "[redacted]": under every verb of fmt, in encoding/json, as text, in zap and in
// log/slog, also where fmt reaches it through an unexported field of an enclosing struct, and for code that walks
// values by reflection. Only [Secret.Reveal] returns the value.
//
// A Secret can be decoded into: from JSON it reads what T reads, with the decoder's own options, so that an input type
// may declare a field as Secret[string]. A decoding error of such a field says nothing of the text. Encoding is not the
// inverse: it always writes the string "[redacted]", so a Secret survives no round trip, [Canonical] refuses it, and a
// plan that must be stored holds a handle to the secret instead. Its JSON schema is that of T (see JSONSchemaAlias).
//
// The zero value holds T's zero value. Secrets are not comparable with ==. A Secret is immutable once decoded and safe
// for concurrent use as far as T is. What Reveal returned is the caller's to keep out of sight.
type Secret[T any] struct {
	// fmt ignores the methods of a value that it reached through an unexported field and prints the fields instead: the
	// first says what is to be seen; the second is a function because no printer can look inside one.
	shown shown
	value func() T
}

type shown string

// NewSecret returns a Secret that holds v.
func NewSecret[T any](v T) Secret[T] {
	return Secret[T]{shown: Redacted, value: func() T { return v }}
}

// Reveal returns the value.
func (s Secret[T]) Reveal() T {
	if s.value == nil {
		var zero T
		return zero
	}
	return s.value()
}

// String returns "[redacted]".
func (s Secret[T]) String() string { return Redacted }

// Format writes "[redacted]" for every verb and flag.
func (s Secret[T]) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// LogValue returns the string "[redacted]", for log/slog.
func (s Secret[T]) LogValue() slog.Value { return slog.StringValue(Redacted) }

// MarshalText writes "[redacted]": as text, in XML, and as a JSON string, whatever T is.
func (s Secret[T]) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// UnmarshalJSONFrom reads a T. Where that fails, the value is consumed or not as T's decoding left it, the Secret is
// unchanged, and the error holds nothing of the text.
func (s *Secret[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var v T
	if err := json.UnmarshalDecode(dec, &v); err != nil {
		if _, ok := errors.AsType[*json.SemanticError](err); ok {
			return errSecretType
		}
		return err // of syntax, or of the reader: the decoder stops at it in any case
	}
	*s = NewSecret(v)
	return nil
}

var errSecretType = errors.New("redact: the text is not of the secret's type")

// JSONSchemaAlias returns T's zero value: reflecting schema builders describe a Secret[T] as they describe T.
func (s Secret[T]) JSONSchemaAlias() any {
	var zero T
	return zero
}

// concealed is every Secret and nothing else.
type concealed interface{ concealedType() reflect.Type }

func (s Secret[T]) concealedType() reflect.Type { return reflect.TypeFor[T]() }

var _ concealed = Secret[int]{}
