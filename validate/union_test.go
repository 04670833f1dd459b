package validate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

type drawing struct {
	Main  validate.OneOf[shape, shapes]   `json:"main"`
	More  []validate.OneOf[shape, shapes] `json:"more" jsonschema:"maxItems=3"`
	Extra *validate.OneOf[shape, shapes]  `json:"extra,omitzero"`
}

func TestUnionsDecodeAndEncode(t *testing.T) {
	t.Parallel()
	s, err := validate.For[drawing]()
	require.NoError(t, err)
	require.True(t, s.Compiled())
	for _, doc := range []string{
		`{"main":{"kind":"circle","radius":1},"more":[]}`,
		`{"main":{"kind":"group","name":"a","shapes":[{"kind":"circle","radius":2},{"kind":"group","name":"b","shapes":[]}],"inner":{"note":"n"}},"more":[{"kind":"circle","radius":3}]}`,
		`{"main":{"kind":"circle","radius":0},"more":[],"extra":{"kind":"circle","radius":9}}`,
	} {
		v, err := s.Decode[drawing]([]byte(doc), validate.Limits{})
		require.NoError(t, err, doc)
		out, err := s.Encode(v, validate.Limits{})
		require.NoError(t, err)
		require.Equal(t, doc, string(out))
	}
	v, err := s.Decode[drawing]([]byte(`{"more":[],"main":{"name":"a","shapes":[{"radius":2,"\u006bind":"circle"}],"kind":"gr\u006fup"}}`), validate.Limits{})
	require.NoError(t, err, "the discriminator may stand last, in any spelling")
	require.Equal(t, group{Name: "a", Shapes: []validate.OneOf[shape, shapes]{{Value: circle{Radius: 2}}}}, v.Main.Value)
}

func TestUnionRefusalsNameBranchAndField(t *testing.T) {
	t.Parallel()
	s, err := validate.For[drawing]()
	require.NoError(t, err)
	for _, c := range []struct {
		name, main  string
		code        envelope.Code
		field, rule string
	}{
		{"no discriminator", `{"radius":1}`, envelope.InvalidArgument, "main.kind", "required"},
		{"unknown discriminator", `{"kind":"square","radius":1}`, envelope.InvalidArgument, "main.kind", "const"},
		{"other case", `{"kind":"Circle","radius":1}`, envelope.InvalidArgument, "main.kind", "const"},
		{"discriminator of another type", `{"kind":1,"radius":1}`, envelope.InvalidArgument, "main.kind", "type"},
		{"null discriminator", `{"kind":null}`, envelope.InvalidArgument, "main.kind", "type"},
		{"field of another branch", `{"kind":"circle","radius":1,"name":"a"}`, envelope.UnknownField, "main.name", "additionalProperties"},
		{"field of no branch before the discriminator", `{"kind":"square","side":1}`, envelope.UnknownField, "main.side", "additionalProperties"},
		{"missing in the branch", `{"kind":"group","name":"a"}`, envelope.InvalidArgument, "main.shapes", "required"},
		{"nested in the branch", `{"kind":"group","name":"a","shapes":[{"kind":"circle","radius":-1}]}`, envelope.InvalidArgument, "main.shapes[0].radius", "minimum"},
		{"the union is null", `null`, envelope.InvalidArgument, "main", "type"},
		{"the union is a list", `[{"kind":"circle","radius":1}]`, envelope.InvalidArgument, "main", "type"},
		{"discriminator twice", `{"kind":"circle","kind":"circle","radius":1}`, envelope.DuplicateMember, "main.kind", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := s.Check([]byte(`{"main":`+c.main+`,"more":[]}`), validate.Limits{})
			requireRefusal(t, err, c.code, c.field, c.rule)
		})
	}
	err = s.Check([]byte(`{"main":{"kind":"circle","radius":1},"more":[{"kind":"circle","radius":1},{"kind":"x"}],"extra":{}}`), validate.Limits{})
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, []envelope.Violation{{Field: "more[1].kind", Rule: "const"}, {Field: "extra.kind", Rule: "required"}}, e.Violations)
}

func TestAUnionWithoutAVariantIsNoDocument(t *testing.T) {
	t.Parallel()
	s, err := validate.For[drawing](validate.Output())
	require.NoError(t, err)
	_, err = s.Encode(drawing{}, validate.Limits{})
	require.Equal(t, envelope.OutputInvalid, codeOf(t, err))
	_, err = s.Encode(drawing{Main: validate.OneOf[shape, shapes]{Value: stranger{}}}, validate.Limits{})
	require.Equal(t, envelope.OutputInvalid, codeOf(t, err), "a type that is none of the cases")
}

type stranger struct{}

func (stranger) shape() {}

// Faulty unions, one fault each.
type (
	tagged struct {
		Kind string `json:"kind"`
	}
	aliens    struct{}
	doubles   struct{}
	sameTypes struct{}
	tags      struct{}
	nobody    struct{}
	pointers  struct{}
	zeros     struct{}
)

func (tagged) shape() {}

func (aliens) Cases() []validate.Case[shape] {
	return []validate.Case[shape]{validate.Of[shape, inner]("inner")}
}

func (doubles) Cases() []validate.Case[shape] {
	return []validate.Case[shape]{validate.Of[shape, circle]("a"), validate.Of[shape, group]("a")}
}

func (sameTypes) Cases() []validate.Case[shape] {
	return []validate.Case[shape]{validate.Of[shape, circle]("a"), validate.Of[shape, circle]("b")}
}

func (tags) Cases() []validate.Case[shape] {
	return []validate.Case[shape]{validate.Of[shape, tagged]("tagged")}
}
func (nobody) Cases() []validate.Case[shape] { return nil }

func (pointers) Cases() []validate.Case[shape] {
	return []validate.Case[shape]{validate.Of[shape, *circle]("circle")}
}
func (zeros) Cases() []validate.Case[shape] { return []validate.Case[shape]{{}} }

func TestFaultyUnionsAreRefused(t *testing.T) {
	t.Parallel()
	for why, err := range map[string]error{
		"does not implement": faultOf[aliens](), "two variants have this kind": faultOf[doubles](), "stands for two kinds": faultOf[sameTypes](),
		`no member "kind"`: faultOf[tags](), "has no cases": faultOf[nobody](), "a variant is a named struct": faultOf[pointers](), "Of did not make": faultOf[zeros](),
	} {
		require.ErrorContains(t, err, why)
		require.ErrorContains(t, err, "u", "the field is named")
	}
}

func faultOf[C validate.Cases[shape]]() error {
	type in struct {
		U validate.OneOf[shape, C] `json:"u"`
	}
	_, err := validate.For[in]()
	return err
}

// TestCompositionIsClosed: parts that are composed by allOf, closed together.
func TestCompositionIsClosed(t *testing.T) {
	t.Parallel()
	s, err := validate.Compile([]byte(`{
		"allOf":[{"$ref":"#/$defs/named"},{"type":"object","properties":{"size":{"type":"integer","minimum":1}},"required":["size"]}],
		"unevaluatedProperties":false,
		"$defs":{"named":{"type":"object","properties":{"name":{"type":"string","maxLength":5}},"required":["name"]}}
	}`))
	require.NoError(t, err)
	require.True(t, s.Compiled())
	require.NoError(t, s.Check([]byte(`{"name":"a","size":2}`), validate.Limits{}))
	err = s.Check([]byte(`{"colour":"red","size":0}`), validate.Limits{})
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, envelope.UnknownField, e.Code)
	require.Equal(t, []envelope.Violation{
		{Field: "colour", Rule: "unevaluatedProperties"}, {Field: "name", Rule: "required"}, {Field: "size", Rule: "minimum"},
	}, e.Violations)
}
