package validate_test

import (
	"errors"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// strictText refuses by its decoding what its schema admits.
type strictText string

func (strictText) JSONSchema() *jsonschema.Schema {
	most := uint64(5)
	return &jsonschema.Schema{Type: "string", MaxLength: &most}
}

func (s *strictText) UnmarshalText(text []byte) error {
	if string(text) == "bad" {
		return errors.New("none of ours")
	}
	*s = strictText(text)
	return nil
}

func (s strictText) MarshalText() ([]byte, error) { return []byte(s), nil }

type (
	sticker  interface{ sticker() }
	stickers struct{}
	paper    struct {
		Text  strictText                          `json:"text"`
		Named map[string]strictText               `json:"named,omitzero"`
		Inner []validate.OneOf[sticker, stickers] `json:"inner,omitzero"`
	}
	stuck struct {
		Text string                              `json:"text"`
		One  validate.OneOf[sticker, stickers]   `json:"one"`
		List []validate.OneOf[sticker, stickers] `json:"list,omitzero"`
	}
)

func (paper) sticker() {}

func (stickers) Cases() []validate.Case[sticker] {
	return []validate.Case[sticker]{validate.Of[sticker, paper]("paper")}
}

func TestWhatAVariantDoesNotDecodeIsNamedInTheWholeDocument(t *testing.T) {
	t.Parallel()
	s, err := validate.For[stuck]()
	require.NoError(t, err)
	const good = `{"kind":"paper","text":"a"}`
	for _, c := range []struct{ name, doc, field string }{
		{"a member", `{"text":"a","one":{"kind":"paper","text":"bad"}}`, "one.text"},
		{"of a list", `{"text":"a","one":` + good + `,"list":[` + good + `,{"kind":"paper","text":"bad"}]}`, "list[1].text"},
		{"a map, whose names the sender chose", `{"text":"a","one":{"kind":"paper","text":"a","named":{"text":"bad"}}}`, "one.named"},
		{"a union within a union", `{"text":"a","one":{"kind":"paper","text":"a","inner":[{"kind":"paper","text":"bad"}]}}`, "one.inner[0].text"},
	} {
		_, err := s.Decode[stuck]([]byte(c.doc), validate.Limits{})
		require.Error(t, err, c.name)
		require.Equal(t, c.field, fieldOf(t, err), c.name)
	}
}
