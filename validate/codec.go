package validate

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/toolcontract/toolcontract/envelope"
)

// ErrType says that Decode or Encode was asked for another type than the schema was made for. The contract is wrong, not the data.
var ErrType = errors.New("validate: not the type that the schema was made for")

// Decode checks doc and reads it into a T, from the original bytes: integers arrive digit for digit. The error is
// that of [Schema.Check], or [ErrType]. encoding/json stays strict behind the check; what it refuses after all is
// INVALID_ARGUMENT with rule "type": a type with a decoding of its own may ask for more than its schema says. Nothing of
// doc is retained.
func (s *Schema) Decode[T any](doc []byte, l Limits) (T, error) {
	var v T
	if err := s.made(reflect.TypeFor[T]()); err != nil {
		return v, err
	}
	if fault := s.check(doc, l); fault != nil {
		return v, fault
	}
	if err := json.Unmarshal(doc, &v, json.RejectUnknownMembers(true)); err != nil {
		var zero T
		return zero, s.unread(err)
	}
	return v, nil
}

// Encode writes v, nil slices and maps as [] and {}, map keys sorted, and checks the document against the schema and
// the limits. A v that breaks its contract is OUTPUT_INVALID with the field and rule, declared names only; so is one
// that cannot be encoded, with the cause for the operators. [ErrType] as in [Schema.Decode].
func (s *Schema) Encode[T any](v T, l Limits) (jsontext.Value, error) {
	if err := s.made(reflect.TypeFor[T]()); err != nil {
		return nil, err
	}
	doc, err := json.Marshal(&v, json.Deterministic(true)) // by address: a copy less
	if err != nil {
		return nil, envelope.New(envelope.OutputInvalid).WithCause(err)
	}
	if fault := s.check(doc, l); fault != nil {
		return nil, s.Broken(fault, envelope.OutputInvalid)
	}
	return doc, nil
}

// unread is the refusal of what the decoder does not take, at the declared place that it names.
func (s *Schema) unread(err error) *envelope.Error {
	e := envelope.New(envelope.InvalidArgument).WithCause(err)
	e.Rule = "type"
	var semantic *json.SemanticError
	if !errors.As(err, &semantic) {
		return e
	}
	path := ""
	for token := range semantic.JSONPointer.Tokens() {
		if i, err := strconv.Atoi(token); err == nil {
			path = envelope.Index(path, i)
		} else {
			path = envelope.Member(path, token)
		}
	}
	e.Field = s.Declared(path)
	return e
}

func (s *Schema) made(t reflect.Type) error {
	want := s.typ
	if want == nil {
		want = reflect.TypeFor[jsontext.Value]()
	}
	if t != want {
		return fmt.Errorf("%w: %s, not %s", ErrType, want, t)
	}
	return nil
}

// Broken turns what [Schema.Check] said into an error of another code (OUTPUT_INVALID, INVALID_RESPONSE) in which only
// places stand that the schema declares: for readers who did not send the document. The original is its cause.
func (s *Schema) Broken(err error, code envelope.Code) *envelope.Error {
	out := envelope.New(code).WithCause(err)
	var e *envelope.Error
	if !errors.As(err, &e) {
		return out
	}
	out.Field, out.Rule = s.Declared(e.Field), e.Rule
	for _, v := range e.Violations {
		out.Violations = append(out.Violations, envelope.Violation{Field: s.Declared(v.Field), Rule: v.Rule})
	}
	return out
}
