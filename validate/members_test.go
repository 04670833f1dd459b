package validate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

func TestMembersOfADocument(t *testing.T) {
	t.Parallel()
	type inner struct {
		C string `json:"c"`
	}
	type mixed struct {
		A string  `json:"a"`
		B []inner `json:"b,omitzero"`
		C string  `json:"c,omitzero"`
	}
	type all struct {
		A string `json:"a"`
		B int    `json:"b"`
	}
	some, err := validate.For[mixed]()
	require.NoError(t, err)
	for _, row := range []struct {
		doc  string
		want []string
	}{
		{`{"a":"c"}`, []string{"a"}},
		{`{"a":"\"c\":1,\\","c":""}`, []string{"a", "c"}},
		{` { "b" : [{"c":"}"},{"c":"x"}],"a":""}`, []string{"a", "b"}},
		{`{"\u0061":"x","c":"y"}`, []string{"a", "c"}},
	} {
		require.NoError(t, some.Check([]byte(row.doc), validate.Limits{}), row.doc)
		require.Equal(t, row.want, some.Members([]byte(row.doc)), row.doc)
	}
	every, err := validate.For[all]()
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, every.Members([]byte(`{"b":1,"a":"x"}`)))
	none, err := validate.For[struct{}]()
	require.NoError(t, err)
	require.Empty(t, none.Members([]byte(`{}`)))
}
