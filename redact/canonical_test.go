package redact_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcontract/toolcontract/redact"
)

func ExampleCanonical() {
	type plan struct {
		Total int64    `json:"total"`
		Lines []string `json:"lines"`
		Euro  string   `json:"€"`
	}
	a, _ := redact.Canonical(plan{Total: 9007199254740993})
	b, _ := redact.Canonical(jsontext.Value(`{ "€": "", "lines": [], "total": 9007199254740.993E3 }`))
	fmt.Println(string(a))
	fmt.Println(string(b))
	// Output:
	// {"lines":[],"total":9007199254740993,"€":""}
	// {"lines":[],"total":9007199254740993,"€":""}
}

func TestCanonicalNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want, why string }{
		{"0", "0", "the plainest"},
		{"-0", "0", "RFC 8785 appendix B: minus zero is 0"},
		{"0.0e-999999999999999999999", "0", "every zero is one number, whatever stands behind it"},
		{"1E2", "100", "an exponent is only a spelling"},
		{"1e+2", "100", "so is its sign"},
		{"100.00", "100", "so are zeros at the end"},
		{"1000e-1", "100", "and a shifted point"},
		{"0.00001E7", "100", "and one that is shifted the other way"},
		{"-1E2", "-100", "the sign stays"},
		{"9007199254740993", "9007199254740993", "2^53+1 is the first integer that a double loses"},
		{"-9007199254740993", "-9007199254740993", "and its negative"},
		{"9007199254740993.0", "9007199254740993", "a fraction of zero makes it no double"},
		{"9.007199254740993e15", "9007199254740993", "an exponent makes it no double"},
		{"9223372036854775807", "9223372036854775807", "the largest int64"},
		{"-9223372036854775808", "-9223372036854775808", "the least int64"},
		{"18446744073709551615", "18446744073709551615", "the largest uint64"},
		{"999999999999999999999", "999999999999999999999", "21 digits are written out"},
		{"1000000000000000000000", "1e+21", "22 are not: ECMA-262 Number::toString"},
		{"1000000000000000000001", "1.000000000000000000001e+21", "and no digit is lost then either"},
		{"1e400", "1e+400", "jsontext clamps it to the largest double"},
		{"-1e-400", "-1e-400", "and makes this zero"},
		{"0.000001", "0.000001", "the last that is written out"},
		{"0.0000001", "1e-7", "the first that is not"},
		{"123e-20", "1.23e-18", "digits after the first"},
		{"4.50", "4.5", "RFC 8785 section 3.2.2"},
		{"2e-3", "0.002", "RFC 8785 section 3.2.2"},
		{"1E30", "1e+30", "RFC 8785 section 3.2.2"},
		{"0.000000000000000000000000001", "1e-27", "RFC 8785 section 3.2.2"},
		{"333333333.3333333", "333333333.3333333", "RFC 8785 section 3.2.2, as a double is spelt"},
		{"333333333.33333329", "333333333.33333329", "where RFC 8785 would drop a digit, it stays"},
		{"0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827", "not the 0.1 that it rounds to"},
		{"1e999999999", "1e+999999999", "the largest exponent"},
		{"0.1e1000000000", "1e+999999999", "counted from the first digit, so that each spelling is taken"},
		{"10e-1000000000", "1e-999999999", "at the other end too"},
	} {
		t.Run(c.in, func(t *testing.T) {
			t.Parallel()
			got, err := redact.Canonical(jsontext.Value(c.in))
			require.NoError(t, err, c.why)
			require.Equal(t, c.want, string(got), c.why)
			again, err := redact.Canonical(jsontext.Value(`{"a":[` + c.in + `,"-1E2"]}`))
			require.NoError(t, err)
			require.Equal(t, `{"a":[`+c.want+`,"-1E2"]}`, string(again), "inside a document, beside a string that looks like a number")
		})
	}
}

// The pairs of RFC 8785 appendix B, bits of a double and its spelling.
func TestCanonicalDoubles(t *testing.T) {
	t.Parallel()
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0",
		0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992", 0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000", 0x44b52d02c7e14af5: "9.999999999999997e+22",
		0x44b52d02c7e14af6: "1e+23", 0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000", 0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7",
		0x3eb0c6f7a0b5ed8d: "0.000001", 0x41b3de4355555553: "333333333.3333332",
		0x41b3de4355555554: "333333333.33333325", 0x41b3de4355555555: "333333333.3333333",
		0x41b3de4355555556: "333333333.3333334", 0x41b3de4355555557: "333333333.33333343",
		0xbecbf647612f3696: "-0.0000033333333333333333", 0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		got, err := redact.Canonical(math.Float64frombits(bits))
		require.NoError(t, err)
		require.Equal(t, want, string(got), "%016x", bits)
	}
}

func TestCanonicalValues(t *testing.T) {
	t.Parallel()
	var none []string
	type member struct {
		B []int          `json:"b"`
		A map[string]int `json:"a"`
		P *int           `json:"p"`
	}
	for _, c := range []struct {
		name string
		in   any
		want string
		why  string
	}{
		{"nil", nil, "null", "JSON has a word for it"},
		{"nil slice", none, "[]", "as the output of a tool is encoded"},
		{"nil slice, map and pointer inside", member{}, `{"a":{},"b":[],"p":null}`, "members sorted, whatever the order of the fields"},
		{"string", `{"b":1,"a":2}`, `"{\"b\":1,\"a\":2}"`, "a Go string is a value, not a document"},
		{"bytes", []byte("{}"), `"e30="`, "bytes are a value, not a document"},
		{"int64", int64(math.MaxInt64), "9223372036854775807", "exact"},
		{"uint64", uint64(math.MaxUint64), "18446744073709551615", "exact"},
		{"2^53+1", int64(1<<53 + 1), "9007199254740993", "exact"},
		{"big.Int", new(big.Int).Exp(big.NewInt(3), big.NewInt(60), nil), "4.2391158275216203514294433201e+28", "exact, though no double holds it"},
		{"a document inside", map[string]any{"x": jsontext.Value(`{"b":1E2,"a":"\u0041"}`)}, `{"x":{"a":"A","b":100}}`, "raw parts are canonical too"},
		{"raw message", json2(`[1.0]`), "[1]", "the old name of the same type"},
		{"white space", jsontext.Value(" \n\t{ \"a\" : [ 1 , 2 ] }\r "), `{"a":[1,2]}`, "RFC 8785 section 3.2.1"},
		{"escapes", jsontext.Value(`"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\u007f\u2028<"`), "\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\x7f\u2028<\"", "RFC 8785 section 3.2.2.2: the shortest"},
		{
			"order", jsontext.Value(`{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}`),
			"{\"\\r\":2,\"1\":4,\"\u0080\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\ufb33\":3}", "RFC 8785 section 3.2.3: by UTF-16, so the emoji before U+FB33",
		},
		{"numbers in strings", jsontext.Value(`["\"1E2","\\",1E2,"\\\"1.0",{"1.0":"-0"}]`), `["\"1E2","\\",100,"\\\"1.0",{"1.0":"-0"}]`, "only numbers are respelt"},
		{"prefixes", jsontext.Value(`{"ab":1,"a":2,"":3,"a\u0000":4}`), `{"":3,"a":2,"a\u0000":4,"ab":1}`, "the shorter first"},
		{"deep", jsontext.Value(strings.Repeat(`[{"b":`, 500) + "1E1" + strings.Repeat("}]", 500)), strings.Repeat(`[{"b":`, 500) + "10" + strings.Repeat("}]", 500), "depth is for the limits to judge"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := redact.Canonical(c.in)
			require.NoError(t, err, c.why)
			require.Equal(t, c.want, string(got), c.why)
		})
	}
}

func json2(s string) jsontext.Value { return jsontext.Value(s) }

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	type holder struct {
		In []any `json:"in"`
	}
	for _, c := range []struct {
		name string
		in   any
		why  string
	}{
		{"nothing", jsontext.Value(nil), "no text is not one JSON text"},
		{"white space alone", jsontext.Value(" "), "nor is this"},
		{"not JSON", jsontext.Value(`{"canary":canary}`), "grammar"},
		{"leading zero", jsontext.Value("01"), "grammar"},
		{"bare point", jsontext.Value("1."), "grammar"},
		{"trailing data", jsontext.Value(`{"canary":1} canary`), "one text"},
		{"two texts", jsontext.Value("1 2"), "one text"},
		{"duplicate name", jsontext.Value(`{"canary":1,"canary":2}`), "two readers would see two documents"},
		{"duplicate name, escaped", jsontext.Value(`{"canary":1,"c\u0061nary":2}`), "compared after unescaping"},
		{"duplicate name in a map of raw parts", map[string]any{"a": jsontext.Value(`{"canary":1,"canary":2}`)}, "raw parts too"},
		{"invalid UTF-8", jsontext.Value("\"canary\xff\""), "two texts must not become one"},
		{"invalid UTF-8 in a Go string", "canary\xff", "never repaired to U+FFFD"},
		{"invalid UTF-8 in a name", map[string]int{"canary\xff": 1}, "nor here"},
		{"lone surrogate", jsontext.Value(`"canary\ud800"`), "no UTF-8 form"},
		{"byte order mark", jsontext.Value("\ufeff{}"), "RFC 8259 section 8.1"},
		{"NaN", math.NaN(), "no JSON number"},
		{"infinity", holder{In: []any{math.Inf(1)}}, "no JSON number"},
		{"channel", make(chan int), "no JSON type"},
		{"huge exponent", jsontext.Value("1e1000000000"), "expanding it would hang a reader"},
		{"huge negative exponent", jsontext.Value("1e-1000000000"), "likewise"},
		{"exponent beyond int64", jsontext.Value("1e18446744073709551618"), "2^64+2 never wraps round to 2"},
		{"negative exponent beyond int64", jsontext.Value("1e-18446744073709551618"), "at the other end too"},
		{"secret", redact.NewSecret("canary"), "all secrets would be one value"},
		{"secret inside", map[string]any{"a": holder{In: []any{redact.NewSecret(7)}}}, "at any depth"},
		{"pointer to a secret inside", []any{new(redact.NewSecret("canary"))}, "also behind a pointer"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := redact.Canonical(c.in)
			require.ErrorIs(t, err, redact.ErrCanonical, c.why)
			require.Nil(t, got)
			require.NotContains(t, fmt.Sprintf("%v %+v", err, err), "canary", "no value in an error")
		})
	}
}

func TestCanonicalLeavesItsArgumentAlone(t *testing.T) {
	t.Parallel()
	in := jsontext.Value(`{ "b": 1E2, "a": 10 }`)
	kept := in.Clone()
	got, err := redact.Canonical(in)
	require.NoError(t, err)
	require.Equal(t, kept, in)
	got[0] = 'x'
	require.Equal(t, kept, in, "the result is not the argument's memory")
	in = jsontext.Value(`{"a":1}`)
	got, err = redact.Canonical(in)
	require.NoError(t, err)
	got[0] = 'x'
	require.Equal(t, `{"a":1}`, string(in), "nor where nothing had to be changed")
}

// Equal numbers have one spelling and different numbers two: judged by big.Rat, which knows nothing of spelling.
func TestCanonicalNumbersAreTheirValue(t *testing.T) {
	t.Parallel()
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		if rapid.Bool().Draw(t, "respell") {
			b = respell(t, a)
		}
		ca, err := redact.Canonical(jsontext.Value(a))
		require.NoError(t, err)
		cb, err := redact.Canonical(jsontext.Value(b))
		require.NoError(t, err)
		ra, rb := rational(t, a), rational(t, b)
		require.Equal(t, ra.Cmp(rb) == 0, string(ca) == string(cb), "%s %s", ca, cb)
		require.Zero(t, ra.Cmp(rational(t, string(ca))), "the value is kept")
	})
}

// respell shifts the point of a number and mends it in the exponent.
func respell(t *rapid.T, s string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	exp, _ := strconv.Atoi(exponent)
	n := rapid.IntRange(1, 9).Draw(t, "zeros")
	if strings.Contains(mantissa, ".") {
		return mantissa + strings.Repeat("0", n) + "E" + strconv.Itoa(exp)
	}
	return mantissa + "." + strings.Repeat("0", n) + "e" + fmt.Sprintf("%+d", exp)
}

func rational(t require.TestingT, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	require.True(t, ok, s)
	return r
}

// What a Go number encodes to is RFC 8785 to the byte, as the standard library has it.
func TestCanonicalDoublesAreRFC8785(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		if math.IsInf(f, 0) || math.IsNaN(f) {
			t.Skip()
		}
		got, err := redact.Canonical(f)
		require.NoError(t, err)
		want, err := json.Marshal(f)
		require.NoError(t, err)
		require.NoError(t, (*jsontext.Value)(&want).Canonicalize())
		require.Equal(t, string(want), string(got))
	})
}

func FuzzCanonicalNumbers(f *testing.F) {
	f.Add("9007199254740993", "9007199254740992")
	f.Add("1E2", "100.0")
	f.Add("-0.0e9", "0")
	f.Add("0.1", "0.1000000000000000055511151231257827")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range []string{a, b} {
			_, exponent, _ := strings.Cut(strings.ToLower(s), "e")
			if kind := jsontext.Value(s).Kind(); kind != '0' || !jsontext.Value(s).IsValid() || len(exponent) > 4 {
				t.Skip()
			}
		}
		ca, err := redact.Canonical(jsontext.Value(a))
		require.NoError(t, err)
		cb, err := redact.Canonical(jsontext.Value(b))
		require.NoError(t, err)
		ra, rb := rational(t, strings.TrimSpace(a)), rational(t, strings.TrimSpace(b))
		require.Equal(t, ra.Cmp(rb) == 0, string(ca) == string(cb), "%s %s", ca, cb)
		require.Zero(t, ra.Cmp(rational(t, string(ca))), "the value is kept")
	})
}

func FuzzCanonical(f *testing.F) {
	for _, s := range []string{
		`{"b":[1E2,-0,9007199254740993],"a":"\u00e9"}`, `[0.1e-5,1e400]`, `{"a":1,"\u0061":1}`, `"\ud83d\ude00"`, `1e999999999`, `[]`, ` null `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		once, err := redact.Canonical(jsontext.Value(doc))
		if err != nil {
			require.ErrorIs(t, err, redact.ErrCanonical)
			return
		}
		require.True(t, jsontext.Value(doc).IsValid(), "what the standard library refuses is refused")
		twice, err := redact.Canonical(jsontext.Value(once))
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice), "idempotent")

		// But for digits that a double does not hold, it is the standard library's canonical form.
		theirs, ours := jsontext.Value(doc).Clone(), jsontext.Value(once).Clone()
		require.NoError(t, theirs.Canonicalize())
		require.NoError(t, ours.Canonicalize())
		require.Equal(t, string(theirs), string(ours), "the same document")
	})
}
