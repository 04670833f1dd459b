package validate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
)

// Schema is a contract for documents: made and proved once by [For] or [Compile], immutable, safe for concurrent use.
// The zero value admits nothing.
type Schema struct {
	document jsontext.Value
	digest   string
	root     *node
	typ      reflect.Type // nil when made by Compile
	output   bool
	members  []string // declared at the root
	fast     *check   // nil when the scan does not cover every keyword: then general is set
	general  *general
}

// Option changes what [For] and [Compile] ask of a schema.
type Option interface{ apply(*options) }

type options struct{ output bool }

type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// Output says that the schema is a tool's answer: a field of the class secret or internal is an error, since it would
// cross the boundary.
func Output() Option { return optionFunc(func(o *options) { o.output = true }) }

func collect(opts []Option) (o options) {
	for _, opt := range opts {
		opt.apply(&o)
	}
	return o
}

// For makes the schema of T from its json, jsonschema (invopop/jsonschema's), redact and lint tags.
//
// Structs become closed objects, embedded ones inlined as encoding/json does; integers get the bounds of their kind;
// strings, arrays and maps without a bound get one (1024 code points, 100 items, 64 members), and it is published.
// Every tag is understood or refused, and so is every type whose encoding breaks its schema's shape: values are made up and
// encoded, one for each variant of a union; of a type with a JSON form and a schema of its own, the author vouches for the
// two. The error joins all faults, each with the field's path; it speaks of the type, never of a document.
func For[T any](opts ...Option) (*Schema, error) {
	t := reflect.TypeFor[T]()
	doc, err := derive(t)
	if err != nil {
		return nil, err
	}
	s, err := compile(doc, collect(opts), t)
	if err != nil {
		return nil, err
	}
	s.typ = t
	return s, nil
}

// Compile makes a schema from a JSON Schema document (draft 2020-12) under the same rules: objects are closed (by
// additionalProperties or unevaluatedProperties: false) or bounded maps, strings and arrays are bounded, every keyword
// is known, every format asserted, every pattern read alike by RE2 and ECMA-262, every reference local, and the bounds that
// stand at one place leave room for a value. That bounds contradict one another across allOf, not or a reference is not
// looked for: such a schema refuses every document. A default is the author's word: nothing fills it in. The error joins all
// faults, each with its place. [Schema.Decode] and [Schema.Encode] take such a schema with jsontext.Value alone.
func Compile(doc jsontext.Value, opts ...Option) (*Schema, error) {
	return compile(doc, collect(opts), nil)
}

// compile makes a schema of a document, which was derived from t where t is not nil.
func compile(doc jsontext.Value, o options, t reflect.Type) (*Schema, error) {
	root, raw, err := load(bytes.Clone(doc))
	if err != nil {
		return nil, err
	}
	if t != nil {
		a := attacher{seen: map[attached]bool{}}
		a.attach(root, t)
	}
	err = lint(root)
	if t != nil {
		err = errors.Join(err, prove(root, t), hookClasses(t))
	}
	if err = errors.Join(err, classes(root, o)); err != nil {
		return nil, err
	}
	return finish(root, raw, o)
}

func finish(root *node, raw []byte, o options) (*Schema, error) {
	s := &Schema{root: root, output: o.output, document: bytes.Clone(raw), members: declaredMembers(root)}
	if err := s.document.Compact(); err != nil {
		return nil, fmt.Errorf("the document: %w", err)
	}
	sum := sha256.Sum256(canonical(raw))
	s.digest = "sha256:" + hex.EncodeToString(sum[:])
	if fast, ok := program(root); ok {
		s.fast = fast
		return s, nil
	}
	if repeats := chainLength(root); repeats > maxWithin {
		return nil, fmt.Errorf("the schema applies itself so often to what is within one another that a document could ask for more than %d checks", maxWithin)
	}
	g, err := newGeneral(root)
	if err != nil {
		return nil, err
	}
	s.general = g
	return s, nil
}

// classes refuses what an output must not carry.
func classes(root *node, o options) error {
	if !o.output {
		return nil
	}
	var faults []error
	for _, f := range list(root).out {
		if !f.node.class.Crosses() {
			faults = append(faults, fmt.Errorf("%s: the class %s does not cross the boundary; leave the field out of the output", f.path, f.node.class))
		}
	}
	return errors.Join(faults...)
}

// JSON returns the document that is published, compact; a copy.
func (s *Schema) JSON() jsontext.Value { return slices.Clone(s.document) }

// Digest returns "sha256:" and the hexadecimal SHA-256 of the document in canonical form (RFC 8785, numbers as written):
// it changes with the contract and not with spacing or the order of members.
func (s *Schema) Digest() string { return s.digest }

// Compiled reports whether the compiled check covers the whole schema; otherwise the general validator
// (kaptinlin/jsonschema) decides beside this package's own reading of the schema, at many times the cost. It is asked
// about documents to which at most 500 schemas apply, counted once for each value and 64 bytes; the own reading, which
// decides about the others alone, applies at most 50 000 and two for each byte, and refuses what needs more:
// PAYLOAD_TOO_LARGE with rule "limit".
func (s *Schema) Compiled() bool { return s.general == nil }

// Check reports whether doc obeys the limits, the grammar and the schema. The error is an *envelope.Error: what
// [Parse] says, then UNKNOWN_FIELD or INVALID_ARGUMENT with the field and the broken keyword, and all violations up to
// eight in the order of the document. A member name that the schema does not declare stands in it when it matches
// ^[A-Za-z_][A-Za-z0-9_-]{0,63}$, for the sender alone: [Schema.Declared] cuts it off for everyone else.
func (s *Schema) Check(doc []byte, l Limits) error {
	if fault := s.check(doc, l); fault != nil {
		return fault
	}
	return nil
}

func (s *Schema) check(doc []byte, l Limits) *envelope.Error {
	if s.root == nil {
		return envelope.New(envelope.Internal)
	}
	l = l.filled()
	if s.fast != nil && accepts(s.fast, doc, l) {
		return nil
	}
	v, fault := read(doc, l)
	if fault != nil {
		return fault
	}
	if s.general != nil {
		return s.general.check(s.root, doc, &v)
	}
	if found := explain(s.root, &v); len(found) > 0 {
		return refusal(found)
	}
	return nil
}
