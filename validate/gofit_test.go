package validate_test

import (
	"encoding/json/v2"
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcontract/toolcontract/validate"
)

type floats struct {
	D float64 `json:"d,omitzero"`
	S float32 `json:"s,omitzero"`
}

// TestFloatsThatWouldBecomeAnotherNumberAreRefused: a whole number that would be rounded, and what would become nothing,
// are answered as a number that the Go type cannot hold; decimal fractions are rounded as everywhere.
func TestFloatsThatWouldBecomeAnotherNumberAreRefused(t *testing.T) {
	t.Parallel()
	s, err := validate.For[floats]()
	require.NoError(t, err)
	for _, c := range []struct{ doc, field, why string }{
		{`{"d":0.1}`, "", "a decimal fraction"},
		{`{"d":3.14159265358979323846264338}`, "", "a fraction of many digits"},
		{`{"d":9007199254740991}`, "", "the last of the whole numbers one by one"},
		{`{"d":9007199254740992}`, "", "2^53"},
		{`{"d":9007199254740993}`, "d", "would become its neighbour"},
		{`{"d":-9007199254740993}`, "d", "would become its neighbour"},
		{`{"d":9007199254740993.0}`, "d", "the same with a point"},
		{`{"d":90071992547409.93e2}`, "d", "the same with an exponent"},
		{`{"d":9007199254740994}`, "", "even, and held"},
		{`{"d":9007199254740992.5}`, "d", "the fraction would be lost whole"},
		{`{"d":123456789012345678901234567890}`, "d", "rounded"},
		{`{"d":18446744073709551616}`, "", "2^64, digit for digit"},
		{`{"d":18446744073709552000}`, "", "2^64 as encoders write it"},
		{`{"d":18446744073709551617}`, "d", "2^64 and one"},
		{`{"d":1e300}`, "", "as encoders write it"},
		{`{"d":1e309}`, "d", "too large"},
		{`{"d":1e-400}`, "d", "would become 0"},
		{`{"d":-1e-400}`, "d", "would become 0"},
		{`{"d":0e-400}`, "", "is 0"},
		{`{"d":0}`, "", "is 0"},
		{`{"d":-0.0}`, "", "is 0"},
		{`{"d":5e-324}`, "", "the least"},
		{`{"d":4e-324}`, "d", "would become the least"},
		{`{"d":2.5e-310}`, "", "as encoders write it"},
		{`{"s":16777216}`, "", "2^24"},
		{`{"s":16777217}`, "s", "would become its neighbour"},
		{`{"s":0.1}`, "", "a decimal fraction"},
		{`{"s":1e-40}`, "", "as encoders write it"},
		{`{"s":1e-50}`, "s", "would become 0"},
		{`{"s":33554436}`, "", "held"},
		{`{"s":3.4028235e38}`, "", "the greatest, as encoders write it"},
	} {
		err := s.Check([]byte(c.doc), validate.Limits{})
		require.Equal(t, s.Explains([]byte(c.doc), validate.Limits{}), err == nil, "the scan and the slower pass: %s", c.doc)
		if c.field == "" {
			require.NoError(t, err, "%s: %s", c.doc, c.why)
			continue
		}
		requireRule(t, err, c.field, "type")
	}
}

func TestFloatsReadWhatTheyWrite(t *testing.T) {
	t.Parallel()
	s, err := validate.For[floats]()
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		v := floats{D: math.Float64frombits(rapid.Uint64().Draw(t, "d")), S: math.Float32frombits(rapid.Uint32().Draw(t, "s"))}
		doc, err := json.Marshal(v)
		if err != nil {
			return // infinite, or no number
		}
		require.NoError(t, s.Check(doc, validate.Limits{NumberDigits: 400}), "%s", doc)
		again, err := s.Decode[floats](doc, validate.Limits{NumberDigits: 400})
		require.NoError(t, err)
		require.Equal(t, v, again)
		exact := strconv.FormatFloat(v.D, 'f', -1, 64)
		require.NoError(t, s.Check([]byte(`{"d":`+exact+`}`), validate.Limits{NumberDigits: 400}), exact)
	})
}
