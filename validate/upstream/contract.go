package upstream

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// Limits of a response, where an operation sets none: 1 MiB and 64 levels. Members, items and strings are bounded by
// the bytes and, where they are declared, by the schema.
func limits(l validate.Limits) (accepted, parsed validate.Limits) {
	const bytes, depth = 1 << 20, 64
	set := func(n *int, zero int) {
		if *n <= 0 {
			*n = zero
		}
	}
	set(&l.Bytes, bytes)
	set(&l.Depth, depth)
	set(&l.Members, l.Bytes)
	set(&l.Items, l.Bytes)
	set(&l.StringBytes, l.Bytes)
	d := validate.Defaults()
	set(&l.NumberDigits, d.NumberDigits)
	set(&l.Exponent, d.Exponent)
	parsed = l
	// Numbers are bounded where they are declared, and there named; elsewhere their bytes are all they cost.
	parsed.NumberDigits, parsed.Exponent = l.Bytes, 1e9
	return l, parsed
}

// Version is an earlier form of an answer, told apart and brought to the present form. Make it with [Earlier].
type Version[A any] struct {
	name    string
	compile func(c *contract[A]) (form[A], error)
}

// Earlier is the form V under the given name, checked as strictly as the present one; adapt brings it to A. An error of
// adapt refuses the response.
func Earlier[V, A any](name string, adapt func(V) (A, error)) Version[A] {
	return Version[A]{name: name, compile: func(c *contract[A]) (form[A], error) {
		if adapt == nil {
			return form[A]{}, errors.New("nothing brings it to the present form")
		}
		return compileForm(c, name, adapt)
	}}
}

// contract is what a response must be, compiled.
type contract[A any] struct {
	selecting        bool
	refused          []string
	accepted, parsed validate.Limits
	which            func(jsontext.Value) string
	forms            []form[A] // the present one first
}

// form is one version of it.
type form[A any] struct {
	name   string
	schema *validate.Schema
	shape  *shape
	values *validate.Schema // the schema without its required members: what it refuses is a value
	decode func(doc []byte) (A, *fault)
}

func compileForm[V, A any](c *contract[A], name string, adapt func(V) (A, error)) (f form[A], err error) {
	f.name = name
	if f.schema, err = validate.For[V](); err != nil {
		return f, err
	}
	if f.shape, err = shapeOf(f.schema.JSON()); err != nil {
		return f, err
	}
	doc, err := lenient(f.schema.JSON())
	if err != nil {
		return f, err
	}
	if f.values, err = validate.Compile(doc); err != nil {
		return f, err
	}
	f.decode = func(doc []byte) (a A, _ *fault) {
		v, err := f.schema.Decode[V](doc, c.accepted)
		if err != nil {
			return a, &fault{code: envelope.InvalidResponse, cause: err}
		}
		if a, err = adapt(v); err != nil {
			var none A
			f := judged(err, "adapt", f.schema)
			f.adapted = true
			return none, f
		}
		return a, nil
	}
	return f, nil
}

func newContract[Q, A any](op Operation[Q, A]) (*contract[A], error) {
	c := &contract[A]{selecting: op.Select, refused: slices.Clone(op.Refuse), which: op.Which}
	c.accepted, c.parsed = limits(op.Limits)
	present, err := compileForm(c, "", func(a A) (A, error) { return a, nil })
	faults := []error{err}
	c.forms = append(c.forms, present)
	names := map[string]bool{"": true}
	for _, v := range op.Earlier {
		if v.compile == nil || names[v.name] {
			faults = append(faults, fmt.Errorf("earlier: each version is made by Earlier, with a name of its own"))
			continue
		}
		names[v.name] = true
		f, err := v.compile(c)
		if err != nil {
			faults = append(faults, fmt.Errorf("earlier %q: %w", v.name, err))
		}
		c.forms = append(c.forms, f)
	}
	return c, errors.Join(append(faults, c.lint(op.Which != nil && len(op.Earlier) == 0))...)
}

func (c *contract[A]) lint(idle bool) error {
	var faults []error
	if idle {
		faults = append(faults, errors.New("which: there is but one version to choose"))
	}
	if len(c.refused) > 0 && !c.selecting {
		faults = append(faults, errors.New("refuse: a closed answer refuses every undeclared name already"))
	}
	for _, f := range c.forms {
		for _, name := range c.refused {
			if f.shape != nil && f.shape.index(name) >= 0 {
				faults = append(faults, fmt.Errorf("refuse: %s is declared", name))
			}
		}
	}
	return errors.Join(faults...)
}

// accepted is a response that passed, with what it takes to read it again.
type accepted[A any] struct {
	doc  []byte // what of it is declared
	form int
	got  A
}

// accept holds a document to the contract.
func (c *contract[A]) accept(doc []byte) (accepted[A], *fault) {
	if err := validate.Parse(doc, c.parsed); err != nil {
		return accepted[A]{}, c.ungrammatical(err)
	}
	candidates, f := c.candidates(doc)
	if f != nil {
		return accepted[A]{}, f
	}
	var first *fault
	for _, i := range candidates {
		a, f := c.hold(i, doc)
		if f == nil {
			return a, nil
		}
		if first == nil {
			first = f
		}
	}
	return accepted[A]{}, first
}

// candidates are the versions that the document may be of: the one that is named, otherwise all, the present first.
func (c *contract[A]) candidates(doc []byte) ([]int, *fault) {
	all := make([]int, len(c.forms))
	for i := range all {
		all[i] = i
	}
	if c.which == nil {
		return all, nil
	}
	name := c.which(slices.Clone(doc))
	for i, f := range c.forms {
		if f.name == name {
			return []int{i}, nil
		}
	}
	return nil, refused(envelope.InvalidResponse, "", "version")
}

// ungrammatical is the fault of a document that is none. Only a duplicate of a declared name has a place.
func (c *contract[A]) ungrammatical(err error) *fault {
	f := refused(envelope.InvalidResponse, "", "json")
	e, ok := errors.AsType[*envelope.Error](err)
	if !ok {
		return f
	}
	f.rule = strings.ToLower(string(e.Code))
	switch e.Code {
	case envelope.DuplicateMember:
		for _, form := range c.forms {
			if form.schema.Declared(e.Field) == e.Field {
				f.field = e.Field
				break
			}
		}
	case envelope.PayloadTooLarge:
		f.rule = "limit"
	}
	return f
}

// hold checks a document against one version. A closed document that the schema takes at once needs no projection.
func (c *contract[A]) hold(i int, doc []byte) (accepted[A], *fault) {
	form := c.forms[i]
	if !c.selecting {
		if got, f := form.decode(doc); f == nil || f.adapted {
			return accepted[A]{doc, i, got}, f
		}
	}
	p := projection{
		selecting: c.selecting, refused: c.refused, digits: c.accepted.NumberDigits, most: c.accepted.Exponent,
	}
	projected, err := p.value(make([]byte, 0, len(doc)), form.shape, trimmed(doc))
	if err != nil { // the parse before it is at least as strict
		return accepted[A]{}, &fault{code: envelope.InvalidResponse, rule: "malformed_json", cause: errForm}
	}
	got, f := form.decode(projected)
	switch {
	case p.first == nil && f == nil:
		return accepted[A]{projected, i, got}, nil
	case f != nil && f.adapted && p.first == nil:
		return accepted[A]{}, f
	}
	return accepted[A]{}, c.explain(form, p.first, projected, f)
}

func trimmed(doc []byte) []byte { return bytes.Trim(doc, " \t\r\n") }

// explain returns the fault in the order of the contract: what the projection found first, the first value that the schema
// refuses, or else what only the Go type refuses.
func (c *contract[A]) explain(form form[A], first *finding, projected []byte, decoding *fault) *fault {
	if e, ok := errors.AsType[*envelope.Error](form.values.Check(projected, c.accepted)); ok {
		value := &finding{key: form.shape.locate(e.Field), field: form.schema.Declared(e.Field), rule: e.Rule}
		if first == nil || value.before(first) {
			first = value
		}
	}
	switch {
	case first != nil:
		return refused(envelope.InvalidResponse, first.field, first.rule)
	case decoding == nil:
		return refused(envelope.InvalidResponse, "", "schema")
	}
	e := form.schema.Broken(decoding.cause, envelope.InvalidResponse)
	return refused(envelope.InvalidResponse, e.Field, e.Rule)
}
