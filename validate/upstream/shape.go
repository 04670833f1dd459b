package upstream

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// shape is what a projection needs to know of a schema: which members are declared, in their order, and what stands in
// them.
type shape struct {
	object   bool // a closed one
	names    []string
	members  []*shape
	required []bool
	values   *shape            // of a map's members
	items    *shape            // of an array
	union    map[string]*shape // by the discriminator "kind"
	integer  bool              // the only numbers here are whole
}

// index returns the position of the declared member of that name, -1 where there is none.
func (s *shape) index(name string) int { return slices.Index(s.names, name) }

// cased reports whether name differs from a declared one by case alone.
func (s *shape) cased(name string) bool {
	return slices.ContainsFunc(s.names, func(declared string) bool { return strings.EqualFold(declared, name) })
}

const discriminator = "kind"

// keywords are those of JSON Schema that validate.For writes and that say where members stand. The others only bound
// values.
type keywords struct {
	Ref        string           `json:"$ref"`
	Defs       jsontext.Value   `json:"$defs"`
	Type       jsontext.Value   `json:"type"`
	Properties jsontext.Value   `json:"properties"`
	Required   []string         `json:"required"`
	Additional jsontext.Value   `json:"additionalProperties"`
	Items      jsontext.Value   `json:"items"`
	AnyOf      []jsontext.Value `json:"anyOf"`
	OneOf      []jsontext.Value `json:"oneOf"`
	Const      jsontext.Value   `json:"const"`
}

// elsewhere are keywords under which members could stand that a shape does not see.
var elsewhere = []string{ //nolint:gochecknoglobals // a constant table
	"allOf", "not", "if", "then", "else", "prefixItems", "patternProperties", "dependentSchemas", "unevaluatedProperties", "unevaluatedItems", "contains",
}

// shaper reads the document of a schema. A definition is entered once, so that a recursive type ends.
type shaper struct {
	root jsontext.Value
	defs map[string]jsontext.Value
	done map[string]*shape
}

var errForm = errors.New("a form that cannot be told apart member by member")

func shapeOf(schema jsontext.Value) (*shape, error) {
	var root keywords
	if err := json.Unmarshal(schema, &root); err != nil {
		return nil, err
	}
	r := &shaper{root: schema, done: map[string]*shape{}}
	if root.Defs != nil {
		if err := json.Unmarshal(root.Defs, &r.defs); err != nil {
			return nil, err
		}
	}
	return r.reference("#")
}

func (r *shaper) reference(ref string) (*shape, error) {
	if s, ok := r.done[ref]; ok {
		return s, nil
	}
	doc := r.root
	if name, ok := strings.CutPrefix(ref, "#/$defs/"); ok {
		doc = r.defs[name]
	} else if ref != "#" {
		return nil, fmt.Errorf("$ref: %w", errForm)
	}
	s := &shape{}
	r.done[ref] = s
	return s, r.fill(s, doc)
}

// shape reads a schema in place.
func (r *shaper) shape(doc jsontext.Value) (*shape, error) {
	var k keywords
	if err := json.Unmarshal(doc, &k); err == nil && k.Ref != "" {
		return r.reference(k.Ref)
	}
	s := &shape{}
	return s, r.fill(s, doc)
}

func (r *shaper) fill(s *shape, doc jsontext.Value) error {
	if doc.Kind() != '{' {
		return nil // true and false say nothing of members
	}
	var k keywords
	if err := json.Unmarshal(doc, &k); err != nil {
		return err
	}
	var all map[string]jsontext.Value
	if err := json.Unmarshal(doc, &all); err != nil {
		return err
	}
	for _, word := range elsewhere {
		if _, ok := all[word]; ok {
			return fmt.Errorf("%s: %w", word, errForm)
		}
	}
	s.integer = bytes.Contains(k.Type, []byte(`"integer"`)) && !bytes.Contains(k.Type, []byte(`"number"`))
	switch {
	case len(k.AnyOf) > 0:
		return r.nullable(s, k.AnyOf)
	case len(k.OneOf) > 0:
		return r.choice(s, k.OneOf)
	}
	return r.inside(s, k)
}

func (r *shaper) inside(s *shape, k keywords) (err error) {
	s.object = k.Properties != nil || k.Additional.Kind() == 'f'
	if k.Properties != nil {
		if err := r.properties(s, k); err != nil {
			return err
		}
	}
	if k.Additional.Kind() == '{' {
		if s.values, err = r.shape(k.Additional); err != nil {
			return err
		}
	}
	if k.Items != nil {
		if s.items, err = r.shape(k.Items); err != nil {
			return fmt.Errorf("items: %w", err)
		}
	}
	return nil
}

// properties keeps the order of the document: it is the order in which fields are declared.
func (r *shaper) properties(s *shape, k keywords) error {
	return eachMember(k.Properties, func(name string, doc jsontext.Value) error {
		member, err := r.shape(doc)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.names = append(s.names, name)
		s.members = append(s.members, member)
		s.required = append(s.required, slices.Contains(k.Required, name))
		return nil
	})
}

// nullable takes the one schema beside null; any other choice by anyOf is not told apart here.
func (r *shaper) nullable(s *shape, choices []jsontext.Value) error {
	var rest []jsontext.Value
	for _, c := range choices {
		var k keywords
		if err := json.Unmarshal(c, &k); err != nil || string(k.Type) != `"null"` {
			rest = append(rest, c)
		}
	}
	if len(rest) != 1 || len(choices) != 2 {
		return fmt.Errorf("anyOf: %w", errForm)
	}
	inner, err := r.shape(rest[0])
	if err != nil {
		return err
	}
	*s = *inner
	return nil
}

// choice takes a union whose branches say their kind.
func (r *shaper) choice(s *shape, branches []jsontext.Value) error {
	s.union = map[string]*shape{}
	for _, doc := range branches {
		branch, err := r.shape(doc)
		if err != nil {
			return err
		}
		kind, err := r.kind(doc)
		if err != nil {
			return err
		}
		s.union[kind] = branch
	}
	return nil
}

func (r *shaper) kind(doc jsontext.Value) (string, error) {
	var k keywords
	if err := json.Unmarshal(doc, &k); err != nil {
		return "", err
	}
	if name, ok := strings.CutPrefix(k.Ref, "#/$defs/"); ok {
		return r.kind(r.defs[name])
	}
	var properties map[string]keywords
	if k.Properties != nil {
		if err := json.Unmarshal(k.Properties, &properties); err != nil {
			return "", err
		}
	}
	var kind string
	if err := json.Unmarshal(properties[discriminator].Const, &kind); err != nil {
		return "", fmt.Errorf("oneOf: %w", errForm)
	}
	return kind, nil
}

// lenient returns the schema without its lists of required members, but for discriminators: what it refuses is a value.
func lenient(schema jsontext.Value) (jsontext.Value, error) {
	if schema.Kind() != '{' {
		return schema, nil
	}
	out := []byte{'{'}
	err := eachMember(schema, func(name string, doc jsontext.Value) (err error) {
		switch name {
		case "required":
			if doc, err = discriminating(doc); err != nil {
				return err
			}
		case "properties", "$defs":
			doc, err = mapped(doc, lenient)
		case "items", "additionalProperties":
			doc, err = lenient(doc)
		case "anyOf", "oneOf":
			doc, err = listed(doc, lenient)
		}
		out = appendMember(out, name, doc)
		return err
	})
	return append(out, '}'), err
}

func discriminating(required jsontext.Value) (jsontext.Value, error) {
	var names []string
	if err := json.Unmarshal(required, &names); err != nil {
		return nil, err
	}
	return json.Marshal(slices.DeleteFunc(names, func(n string) bool { return n != discriminator }))
}

func mapped(object jsontext.Value, f func(jsontext.Value) (jsontext.Value, error)) (jsontext.Value, error) {
	out := []byte{'{'}
	err := eachMember(object, func(name string, doc jsontext.Value) error {
		doc, err := f(doc)
		out = appendMember(out, name, doc)
		return err
	})
	return append(out, '}'), err
}

func listed(array jsontext.Value, f func(jsontext.Value) (jsontext.Value, error)) (jsontext.Value, error) {
	out := []byte{'['}
	err := eachElement(array, func(i int, doc jsontext.Value) error {
		doc, err := f(doc)
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, doc...)
		return err
	})
	return append(out, ']'), err
}
