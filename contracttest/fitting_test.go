package contracttest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/tool"
)

type nothing struct{}

// checked runs the Input suite over a tool that takes an I.
func checked[I any](t *testing.T) *contracttest.Report {
	t.Helper()
	c, err := tool.NewCatalog(tool.Tool[I, nothing]{
		Spec:   tool.Spec{Name: "subject", Version: 1, Description: "Takes what is looked at.", Timeout: time.Second},
		Handle: func(context.Context, tool.Caller, I) (nothing, error) { return nothing{}, nil },
	})
	require.NoError(t, err)
	return contracttest.Check(contracttest.Make(func() (*contracttest.Fixture, error) { return contracttest.Assemble(c) }), contracttest.Only("input"))
}

func row(t *testing.T, r *contracttest.Report, place, keyword string) contracttest.KeywordRow {
	t.Helper()
	for _, k := range r.Keywords {
		if k.Place == place && k.Keyword == keyword {
			return k
		}
	}
	require.Fail(t, "no row", "%s %s", place, keyword)
	return contracttest.KeywordRow{}
}

type boundedFormats struct {
	DateTime string `json:"date_time" jsonschema:"format=date-time,maxLength=25"`
	Instant  string `json:"instant" jsonschema:"format=date-time,maxLength=20"`
	Time     string `json:"time" jsonschema:"format=time,maxLength=14,minLength=10"`
	Duration string `json:"duration" jsonschema:"format=duration,maxLength=8,minLength=4"`
	Email    string `json:"email" jsonschema:"format=email,maxLength=60,minLength=6"`
	Hostname string `json:"hostname" jsonschema:"format=hostname,maxLength=40,minLength=2"`
	IPv4     string `json:"ipv4" jsonschema:"format=ipv4,maxLength=14,minLength=8"`
	IPv6     string `json:"ipv6" jsonschema:"format=ipv6,maxLength=20,minLength=4"`
	Mapped   string `json:"mapped" jsonschema:"format=ipv6,maxLength=39"`
	URI      string `json:"uri" jsonschema:"format=uri,maxLength=30,minLength=4"`
	Pairs    string `json:"pairs" jsonschema:"pattern=^(ab)+$,maxLength=4,minLength=3"`
}

func TestALengthIsBrokenInEachFormat(t *testing.T) {
	t.Parallel()
	r := checked[boundedFormats](t)
	require.NoError(t, r.Err())
	seen := 0
	for _, k := range r.Keywords {
		if k.Keyword == "maxLength" || k.Keyword == "minLength" {
			seen++
			require.Positive(t, k.Invalid, "%s %s, implied by %q", k.Place, k.Keyword, k.Implied)
			require.Empty(t, k.Implied)
		}
	}
	require.Equal(t, 19, seen)
}

type fixedFormats struct {
	Date string `json:"date" jsonschema:"format=date,minLength=10,maxLength=10"`
	UUID string `json:"uuid" jsonschema:"format=uuid,maxLength=36"`
	IPv6 string `json:"ipv6" jsonschema:"format=ipv6,maxLength=45"`
	Code string `json:"code" jsonschema:"pattern=^[a-z]{3}$,maxLength=3"`
}

func TestALengthThatNothingBreaksIsImplied(t *testing.T) {
	t.Parallel()
	r := checked[fixedFormats](t)
	require.NoError(t, r.Err())
	for place, by := range map[string]string{"date": "the format", "uuid": "the format", "ipv6": "the format", "code": "the pattern"} {
		require.Equal(t, by, row(t, r, place, "maxLength").Implied, place)
	}
	require.Equal(t, "the format", row(t, r, "date", "minLength").Implied)
}

type narrowed struct {
	ID      string  `json:"id" jsonschema:"format=uuid,pattern=^[0-9a-f]{8}-[0-9a-f]{4}-4,maxLength=36"`
	Exact   string  `json:"exact" jsonschema:"format=uuid,pattern=^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$,maxLength=36"`
	Mail    string  `json:"mail" jsonschema:"format=email,pattern=@example[.]com$,maxLength=60"`
	Instant string  `json:"instant" jsonschema:"format=date-time,pattern=Z$,maxLength=30"`
	Day     string  `json:"day" jsonschema:"format=date,pattern=^[0-9]+-[0-9]+-[0-9]+$,maxLength=10"`
	Week    int     `json:"week" jsonschema:"multipleOf=7,minimum=5,maximum=9"`
	Seven   int     `json:"seven" jsonschema:"multipleOf=7,minimum=7,maximum=7"`
	Part    float64 `json:"part" jsonschema:"minimum=0.1,maximum=0.7,multipleOf=0.1"`
}

func TestNarrowSchemasCanBeMadeGreen(t *testing.T) {
	t.Parallel()
	r := checked[narrowed](t)
	require.NoError(t, r.Err())
	for _, place := range []string{"id", "exact", "mail", "instant"} {
		require.Positive(t, row(t, r, place, "pattern").Invalid, place)
	}
	require.Positive(t, row(t, r, "id", "format").Invalid)
	require.Equal(t, "the pattern", row(t, r, "exact", "format").Implied)
	require.Equal(t, "the format", row(t, r, "day", "pattern").Implied)
	require.Positive(t, row(t, r, "week", "multipleOf").Invalid)
	require.Equal(t, "the bounds", row(t, r, "seven", "multipleOf").Implied)
}

func TestAPatternThatLoopsOnNothing(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{`^(a*)*b$`, `^([a-z]*)*$`, `(|a*)*c`, `^(()|(a?)*)+$`} {
		t.Run(pattern, func(t *testing.T) {
			t.Parallel()
			short, long, _, err := contracttest.StringsMatching(pattern, 100, 100)
			require.NoError(t, err)
			require.Regexp(t, pattern, short)
			require.Regexp(t, pattern, long)
			require.Len(t, short, 100)
		})
	}
}
