package validate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kaptinlin/jsonschema"
	"github.com/toolcontract/toolcontract/envelope"
)

// general is the validator for schemas with keywords outside the compiled set. It decides beside this package's own
// reading of the schema: a document must pass both, as far as it is small enough for this one.
type general struct{ schema *jsonschema.Schema }

func newGeneral(root *node) (*general, error) {
	c := jsonschema.NewCompiler()
	clear(c.Loaders) // nothing is fetched, at compile time or later
	clear(c.Decoders)
	clear(c.MediaTypes)
	for f := dateFormat; f <= uuidFormat; f++ {
		c.RegisterFormat(f.String(), func(v any) bool {
			text, ok := v.(string)
			return !ok || f.matches([]byte(text))
		}, "string")
	}
	c.SetAssertFormat(true)
	s, err := c.Compile(newDialectWriter(root).schema(nil, root.source))
	if err != nil {
		return nil, fmt.Errorf("the general validator does not take the schema: %w", err)
	}
	return &general{schema: s}, nil
}

// check runs after the limits have bounded digits and exponents: the validator computes with exact rationals. Our own
// reading of the schema comes first. What it cannot decide within its work is refused; where the validator, which is
// slower by far, would need too much, our own reading decides alone.
func (g *general) check(root *node, doc []byte, v *value) *envelope.Error {
	found, done := decide(root, v, maxWork+workPerByte*len(doc))
	if len(found) > 0 {
		return refusal(found)
	}
	if !done {
		return tooLarge("")
	}
	a := asks{most: maxAsked, memo: map[pair]int{}}
	if !a.few(root, v) {
		return nil
	}
	result := g.schema.ValidateJSON(doc)
	if result.IsValid() {
		return nil
	}
	e := envelope.New(envelope.InvalidArgument)
	e.Rule = brokenRule(result)
	return e
}

// brokenRule returns the keyword that the validator names, the first by name where it names several.
func brokenRule(result *jsonschema.EvaluationResult) string {
	names := slices.Sorted(maps.Keys(result.Errors))
	if len(names) == 0 {
		return "schema"
	}
	return names[0]
}
