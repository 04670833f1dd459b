package contracttest_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/contracttest"
)

func TestTheRunLineIsWhatRunTakes(t *testing.T) {
	t.Parallel()
	f := contracttest.Failure{Test: "TestX/my_table_(a+b)_[x]", Case: "semantics/a_v1/it's [so] (1)/breach"}
	_, line, ok := strings.Cut(f.String(), "-run '")
	require.True(t, ok)
	line, _, ok = strings.Cut(line, "'\n")
	require.True(t, ok)
	pattern := strings.ReplaceAll(line, `'\''`, "'")
	names := []string{"TestX", "my_table_(a+b)_[x]", "semantics", "a_v1", "it's_[so]_(1)", "breach"}
	elems := strings.Split(pattern, "/")
	require.Len(t, elems, len(names))
	for i, elem := range elems {
		require.Regexp(t, regexp.MustCompile(elem), names[i])
		require.NotRegexp(t, regexp.MustCompile(elem), names[i]+"x")
	}
}

func TestAFailureDrivesNoTerminal(t *testing.T) {
	t.Parallel()
	text := contracttest.Failure{Case: "a", Want: "b\u202ec", Got: "\x1b[2Jgone", Sent: "zero\u200bwidth", Hint: "one\ntwo"}.String()
	require.NotContains(t, text, "\u202e")
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u200b")
	require.Contains(t, text, "⟦U+202E⟧")
	require.Contains(t, text, "one\n            two")
}

func TestErrTellsACauseOnce(t *testing.T) {
	t.Parallel()
	r := &contracttest.Report{Executed: 5, Failures: []contracttest.Failure{
		{Case: "input/a_v1/x/maxLength-over", Keyword: "maxLength", Field: "x", Want: "INVALID_ARGUMENT at x", Got: "accepted"},
		{Case: "input/a_v1/y/maxLength-over", Keyword: "maxLength", Field: "y", Want: "INVALID_ARGUMENT at y", Got: "accepted"},
		{Case: "input/a_v1/y/minLength-under", Keyword: "minLength", Field: "y", Want: "INVALID_ARGUMENT at y", Got: "accepted"},
		{Case: "output/a_v1/y/maxLength-over", Keyword: "maxLength", Field: "y", Want: "INVALID_ARGUMENT at y", Got: "accepted"},
	}}
	text := r.Err().Error()
	require.Equal(t, 3, strings.Count(text, "\n  want"))
	require.Contains(t, text, "1 more: input/a_v1/y/maxLength-over")
	r.Failures = []contracttest.Failure{
		{Case: "input/a_v1/x/type-null", Keyword: "type", Got: `INVALID_ARGUMENT; message "not valid: null"`},
		{Case: "input/a_v1/x/type-text", Keyword: "type", Got: `INVALID_ARGUMENT; message "not valid: \"a\""`},
		{Case: "input/a_v1/x/type-true", Keyword: "type", Got: `NOT_FOUND; message "not valid: true"`},
	}
	require.Equal(t, 2, strings.Count(r.Err().Error(), "\n  got"), "what a message quotes is another each time, the code is not")
}
