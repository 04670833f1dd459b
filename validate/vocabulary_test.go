package validate_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/validate"
)

type colour string

func (colour) Values() []string { return []string{"red", "dark green"} }

type nothing string

func (nothing) Values() []string { return nil }

type invoice struct {
	Due     validate.Date           `json:"due"`
	Paid    validate.Date           `json:"paid,omitzero"`
	Total   validate.Money          `json:"total"`
	Order   validate.Reference      `json:"order"`
	Colour  colour                  `json:"colour"`
	Accents []colour                `json:"accents" jsonschema:"uniqueItems=true"`
	Token   redact.Secret[string]   `json:"token" jsonschema:"minLength=4,maxLength=8"`
	Pins    []redact.Secret[int]    `json:"pins"`
	More    validate.Page[nestedID] `json:"more"`
}

type nestedID struct {
	ID string `json:"id" jsonschema:"maxLength=8"`
}

func TestVocabulary(t *testing.T) {
	t.Parallel()
	s, err := validate.For[invoice]()
	require.NoError(t, err)
	require.JSONEq(t, `{
		"type":"object",
		"properties":{
			"due":{"type":"string","format":"date"},
			"paid":{"type":"string","format":"date"},
			"total":{"type":"object","properties":{
				"amount_minor":{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807},
				"currency":{"type":"string","pattern":"^[A-Z]{3}$"}
			},"required":["amount_minor","currency"],"additionalProperties":false},
			"order":{"type":"string","pattern":"^[A-Za-z0-9_-]+$","maxLength":1024},
			"colour":{"type":"string","enum":["red","dark green"]},
			"accents":{"type":"array","items":{"type":"string","enum":["red","dark green"]},"maxItems":100,"uniqueItems":true},
			"token":{"type":"string","minLength":4,"maxLength":8},
			"pins":{"type":"array","items":{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807},"maxItems":100},
			"more":{"type":"object","properties":{
				"items":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string","maxLength":8}},"required":["id"],"additionalProperties":false},"maxItems":100},
				"next_cursor":{"type":"string","maxLength":4096}
			},"required":["items"],"additionalProperties":false}
		},
		"required":["due","total","order","colour","accents","token","pins","more"],
		"additionalProperties":false
	}`, string(s.JSON()))
	require.True(t, s.Compiled())
	const doc = `{"due":"2024-02-29","total":{"amount_minor":-1250,"currency":"EUR"},"order":"ref_0a","colour":"dark green","accents":["red"],"token":"s3cret","pins":[17],"more":{"items":[{"id":"x"}],"next_cursor":"c"}}`
	v, err := s.Decode[invoice]([]byte(doc), validate.Limits{})
	require.NoError(t, err)
	day, err := validate.NewDate(2024, time.February, 29)
	require.NoError(t, err)
	require.Equal(t, day, v.Due)
	require.Equal(t, "s3cret", v.Token.Reveal())
	require.Equal(t, 17, v.Pins[0].Reveal())
	for _, c := range []struct{ from, to, field, rule string }{
		{"2024-02-29", "2023-02-29", "due", "format"},
		{"2024-02-29", "2024-02-29T00:00:00Z", "due", "format"},
		{"EUR", "eur", "total.currency", "pattern"},
		{"-1250", "12.50", "total.amount_minor", "type"},
		{"ref_0a", "ref 0a", "order", "pattern"},
		{"dark green", "green", "colour", "enum"},
		{`["red"]`, `["red","red"]`, "accents", "uniqueItems"},
		{"s3cret", "s3c", "token", "minLength"},
		{"[17]", "[1.7]", "pins[0]", "type"},
	} {
		_, err := s.Decode[invoice]([]byte(strings.Replace(doc, c.from, c.to, 1)), validate.Limits{})
		requireRule(t, err, c.field, c.rule)
	}
	_, err = validate.For[invoice](validate.Output())
	require.ErrorContains(t, err, "token: ", "a secret does not cross")
	require.ErrorContains(t, err, "pins: ")
}

func TestAnEnumerationListsValues(t *testing.T) {
	t.Parallel()
	type in struct {
		N nothing `json:"n"`
	}
	_, err := validate.For[in]()
	require.ErrorContains(t, err, "n: ")
}

func TestDates(t *testing.T) {
	t.Parallel()
	early, err := validate.ParseDate("1999-12-31")
	require.NoError(t, err)
	late, err := validate.NewDate(2000, time.January, 1)
	require.NoError(t, err)
	require.Equal(t, -1, early.Compare(late))
	require.Equal(t, 1, late.Compare(early))
	same := late
	require.Zero(t, late.Compare(same))
	require.Equal(t, "2000-01-01", late.String())
	require.Equal(t, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), late.In(time.UTC))
	fromTime, err := validate.DateOf(time.Date(2000, 1, 1, 23, 0, 0, 0, time.FixedZone("", -3600)))
	require.NoError(t, err)
	require.Equal(t, late, fromTime)
	y, m, d := early.Date()
	require.Equal(t, []int{1999, 12, 31}, []int{y, int(m), d})

	var none validate.Date
	require.True(t, none.IsZero())
	require.Empty(t, none.String())
	require.True(t, none.In(time.UTC).IsZero())
	require.Equal(t, -1, none.Compare(early))
	_, err = none.MarshalText()
	require.ErrorIs(t, err, validate.ErrDate)
	for _, text := range []string{"", "2000-02-30", "2000-01-01 ", "20000-01-01", "secret"} {
		_, err := validate.ParseDate(text)
		require.ErrorIs(t, err, validate.ErrDate)
		if text != "" {
			require.NotContains(t, err.Error(), text)
		}
	}
	for _, c := range [][3]int{{-1, 1, 1}, {10000, 1, 1}, {2000, 0, 1}, {2000, 13, 1}, {2000, 1, 0}, {2001, 2, 29}} {
		_, err := validate.NewDate(c[0], time.Month(c[1]), c[2])
		require.ErrorIs(t, err, validate.ErrDate)
	}
}

func TestSameAndFresh(t *testing.T) {
	t.Parallel()
	require.NoError(t, validate.Same("customer_id", "a", "a"))
	err := validate.Same("customer_id", "cus_1", "cus_2")
	requireRefusal(t, err, "INVALID_RESPONSE", "customer_id", "same")
	require.NotContains(t, err.Error(), "cus_")

	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	require.NoError(t, validate.Fresh("at", now.Add(-time.Minute), now, time.Minute))
	require.NoError(t, validate.Fresh("at", now.Add(time.Minute), now, time.Minute))
	require.NoError(t, validate.Fresh("at", now, now, 0))
	for name, at := range map[string]time.Time{"old": now.Add(-time.Minute - 1), "ahead": now.Add(time.Minute + 1), "never": {}} {
		err := validate.Fresh("at", at, now, time.Minute)
		requireRefusal(t, err, "INVALID_RESPONSE", "at", "fresh")
		require.Error(t, err, name)
	}
	require.Error(t, validate.Fresh("at", now.Add(-1), now, -time.Hour), "a negative window is none")
	require.NoError(t, validate.Fresh("at", now.AddDate(-290, 0, 0), now, math.MaxInt64))
	require.Error(t, validate.Fresh("at", now.AddDate(-300, 0, 0), now, math.MaxInt64), "older than any duration")
	require.Error(t, validate.Fresh("at", now.AddDate(300, 0, 0), now, math.MaxInt64))
	require.Error(t, validate.Same[any]("ids", []int{1}, []int{1}), "not comparable, and no panic")
	require.NoError(t, validate.Same[any]("id", 1, 1))
}
