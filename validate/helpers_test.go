package validate_test

import (
	"encoding/json/jsontext"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
)

func regexpQuote(s string) string { return regexp.QuoteMeta(s) }

func quote(t testing.TB, text string) []byte {
	t.Helper()
	doc, err := jsontext.AppendQuote(nil, text)
	require.NoError(t, err)
	return doc
}

func codeOf(t testing.TB, err error) envelope.Code {
	t.Helper()
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	return e.Code
}

// requireRule asserts an INVALID_ARGUMENT at the field with the rule.
func requireRule(t testing.TB, err error, field, rule string) {
	t.Helper()
	requireRefusal(t, err, envelope.InvalidArgument, field, rule)
}

func requireRefusal(t testing.TB, err error, code envelope.Code, field, rule string) {
	t.Helper()
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, []string{string(code), field, rule}, []string{string(e.Code), e.Field, e.Rule})
}

func fieldOf(t testing.TB, err error) string {
	t.Helper()
	var e *envelope.Error
	require.ErrorAs(t, err, &e)
	return e.Field
}
