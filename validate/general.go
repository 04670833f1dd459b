package validate

import (
	"bytes"
	"fmt"

	"github.com/kaptinlin/jsonschema"
	"github.com/toolcontract/toolcontract/envelope"
)

// general is the validator for schemas with keywords outside the compiled set. It decides beside this package's own
// reading of the schema: a document must pass both.
type general struct{ schema *jsonschema.Schema }

func newGeneral(doc []byte) (*general, error) {
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
	s, err := c.Compile(bytes.Clone(doc))
	if err != nil {
		return nil, fmt.Errorf("the general validator does not take the schema: %w", err)
	}
	return &general{schema: s}, nil
}

// check runs after the limits have bounded digits and exponents: the validator computes with exact rationals.
func (g *general) check(doc []byte) *envelope.Error {
	if g.schema.ValidateJSON(doc).IsValid() {
		return nil
	}
	return envelope.New(envelope.InvalidArgument)
}
