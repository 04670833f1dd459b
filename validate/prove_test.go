package validate_test

import (
	"encoding/json/jsontext"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// Types whose schema promises another form than encoding/json writes.
type (
	saysText   struct{ A int }
	saysNumber []string
	saysNoB    struct {
		A int `json:"a"`
		B int `json:"b"`
	}
)

func (saysText) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", MaxLength: new(uint64(9))}
}

func (saysNumber) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: "9"}
}

func (saysNoB) JSONSchema() *jsonschema.Schema { return says{}.JSONSchema() }

// Types that keep what they promise, though no value that is made up here would.
type (
	ownForm  struct{}
	saysEven int
	saysWord string
	saysAny  struct {
		V any `json:"v"`
	}
)

func (ownForm) MarshalJSONTo(e *jsontext.Encoder) error { return e.WriteToken(jsontext.String("own")) }

func (*ownForm) UnmarshalJSONFrom(d *jsontext.Decoder) error { return d.SkipValue() }

func (ownForm) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"own"}}
}

func (saysEven) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: "0", Maximum: "98", MultipleOf: "2"}
}

func (saysWord) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Enum: []any{"one"}}, {Type: "string", Enum: []any{"two"}}}}
}

func (saysAny) JSONSchema() *jsonschema.Schema {
	p := jsonschema.NewProperties()
	p.Set("v", &jsonschema.Schema{Type: "boolean"})
	return &jsonschema.Schema{Type: "object", Properties: p, Required: []string{"v"}, AdditionalProperties: jsonschema.FalseSchema}
}

type (
	parcel  interface{ parcel() }
	parcels struct{}
	honest  struct {
		A int `json:"a"`
	}
	lying struct {
		B saysText `json:"b"`
	}
)

func (honest) parcel() {}
func (lying) parcel()  {}

func (parcels) Cases() []validate.Case[parcel] {
	return []validate.Case[parcel]{validate.Of[parcel, honest]("honest"), validate.Of[parcel, lying]("lying")}
}

func TestTypesThatPromiseAnotherFormAreRefused(t *testing.T) {
	t.Parallel()
	type besides struct {
		Own  ownForm  `json:"own"`
		Text saysText `json:"text"`
	}
	type beneath struct {
		In struct {
			A int `json:"a"`
		} `json:"-"`
		List []besides          `json:"list"`
		Map  map[string]besides `json:"map"`
	}
	for _, c := range []struct {
		name, place, why string
		err              error
	}{
		{"a struct that says text", "f: ", "its encoding is an object", faultsOf[saysText]()},
		{"a list that says number", "f: ", "its encoding is an array", faultsOf[saysNumber]()},
		{"a member that is not said", "f.b: ", "its encoding has one more", faultsOf[saysNoB]()},
		{"beside a form of its own", "f.text: ", "what is not known of one field says nothing of the next", faultsOf[besides]()},
		{"in a list and a map", "f.list[0].text: ", "each place is looked at", faultsOf[beneath]()},
		{"in the second variant", "f.b: ", "a union is all its variants", faultsOf[validate.OneOf[parcel, parcels]]()},
	} {
		require.ErrorContains(t, c.err, c.place, "%s: %s", c.name, c.why)
		require.ErrorContains(t, c.err, "its own schema refuses", "%s: %s", c.name, c.why)
	}
	type kept struct {
		Own  ownForm            `json:"own"`
		Owns []ownForm          `json:"owns"`
		By   map[string]ownForm `json:"by"`
		Even saysEven           `json:"even"`
		Word saysWord           `json:"word"`
		Any  saysAny            `json:"any"`
	}
	require.NoError(t, faultsOf[kept]())
}
