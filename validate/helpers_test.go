package validate_test

import (
	"encoding/json/jsontext"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
)

func regexpQuote(s string) string { return regexp.QuoteMeta(s) }

func quote(tb testing.TB, text string) []byte {
	tb.Helper()
	doc, err := jsontext.AppendQuote(nil, text)
	require.NoError(tb, err)
	return doc
}

func codeOf(tb testing.TB, err error) envelope.Code {
	tb.Helper()
	var e *envelope.Error
	require.ErrorAs(tb, err, &e)
	return e.Code
}

// requireRule asserts an INVALID_ARGUMENT at the field with the rule.
func requireRule(tb testing.TB, err error, field, rule string) {
	tb.Helper()
	requireRefusal(tb, err, envelope.InvalidArgument, field, rule)
}

func requireRefusal(tb testing.TB, err error, code envelope.Code, field, rule string) {
	tb.Helper()
	var e *envelope.Error
	require.ErrorAs(tb, err, &e)
	require.Equal(tb, []string{string(code), field, rule}, []string{string(e.Code), e.Field, e.Rule})
}

func fieldOf(tb testing.TB, err error) string {
	tb.Helper()
	var e *envelope.Error
	require.ErrorAs(tb, err, &e)
	return e.Field
}
