package validate_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func list(n int, item string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(item+",", n), ",") + "]"
}

func members(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`"m` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26)) + `":1,`)
	}
	return "{" + strings.TrimSuffix(b.String(), ",") + "}"
}

func TestLimitsAtTheirEdges(t *testing.T) {
	t.Parallel()
	l := validate.Limits{Bytes: 400, Depth: 3, Members: 2, Items: 4, StringBytes: 80, NumberDigits: 10, Exponent: 20}
	for _, c := range []struct {
		name, doc string
		code      envelope.Code // empty: accepted
		field     string
	}{
		{"bytes", `"` + strings.Repeat("a", 70) + `"` + strings.Repeat(" ", 328), "", ""},
		{"bytes and one", `"` + strings.Repeat("a", 70) + `"` + strings.Repeat(" ", 329), envelope.PayloadTooLarge, ""},
		{"depth", nested(3), "", ""},
		{"depth and one", nested(4), envelope.TooDeep, ""},
		{"depth within a member", `{"a":[[[]]]}`, envelope.TooDeep, ""},
		{"members", `{"a":1,"b":2}`, "", ""},
		{"members and one", `{"a":1,"b":2,"c":3}`, envelope.PayloadTooLarge, ""},
		{"members within", `{"x":{"a":1,"b":2,"c":3}}`, envelope.PayloadTooLarge, "x"},
		{"items", list(4, "1"), "", ""},
		{"items and one", list(5, "1"), envelope.PayloadTooLarge, ""},
		{"items within", `{"x":[` + list(5, "1") + `]}`, envelope.PayloadTooLarge, "x[0]"},
		{"string", `"` + strings.Repeat("a", 80) + `"`, "", ""},
		{"string and one", `["` + strings.Repeat("a", 81) + `"]`, envelope.PayloadTooLarge, "[0]"},
		{"string by its bytes", `"` + strings.Repeat("é", 40) + `"`, "", ""},
		{"string by its bytes and one", `"` + strings.Repeat("é", 40) + `a"`, envelope.PayloadTooLarge, ""},
		{"escapes count as what they say", `"` + strings.Repeat(`\u0061`, 60) + `"`, "", ""},
		{"a name", `{"` + strings.Repeat("a", 80) + `":1}`, "", ""},
		{"a name and one", `{"x":{"` + strings.Repeat("a", 81) + `":1}}`, envelope.PayloadTooLarge, "x"},
		{"digits", "1234567890", "", ""},
		{"digits and one", "[12345678901]", envelope.PayloadTooLarge, "[0]"},
		{"digits of every part", "12345.678e9", "", ""},
		{"digits of every part and one", "12345.6789e10", envelope.PayloadTooLarge, ""},
		{"exponent", "1e20", "", ""},
		{"exponent and one", "1e21", envelope.PayloadTooLarge, ""},
		{"negative exponent", "1e-20", "", ""},
		{"negative exponent and one", "1e-21", envelope.PayloadTooLarge, ""},
		{"exponent with zeros", "1e0000020", "", ""},
	} {
		err := validate.Parse([]byte(c.doc), l)
		if c.code == "" {
			require.NoError(t, err, c.name)
			continue
		}
		rule := "limit"
		if c.code == envelope.TooDeep {
			rule = ""
		}
		requireRefusal(t, err, c.code, c.field, rule)
		require.False(t, validate.ScanParses([]byte(c.doc), l), c.name)
	}
}

func TestTheFirstFaultFromTheLeftIsReported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, doc string
		code      envelope.Code
		field     string
	}{
		{"duplicate before bad grammar", `{"a":1,"a":2,x}`, envelope.DuplicateMember, "a"},
		{"bad grammar before duplicate", `{"a":1,x,"a":2}`, envelope.MalformedJSON, ""},
		{"bad UTF-8 before everything", "{\"a\":1,\"a\":2,\"b\":\"\xff\"}", envelope.MalformedJSON, ""},
		{"depth before grammar", nested(33)[:40] + "x", envelope.TooDeep, ""},
		{"duplicate within", `{"a":[{"b":1,"\u0062":2}]}`, envelope.DuplicateMember, "a[0].b"},
		{"duplicate that cannot be shown", `{"a":{"b c":1,"b c":2}}`, envelope.DuplicateMember, "a"},
		{"below a name that cannot be shown", `{"a":{"b c":{"d":1,"d":2}}}`, envelope.DuplicateMember, "a"},
		{"two texts", `{} {}`, envelope.TrailingData, ""},
		{"trailing comma", `[1],`, envelope.TrailingData, ""},
		{"byte order mark", "\ufeff{}", envelope.MalformedJSON, ""},
		{"a number that runs on", `01`, envelope.MalformedJSON, ""},
		{"a word that runs on", `nullx`, envelope.MalformedJSON, ""},
		{"nothing", ``, envelope.MalformedJSON, ""},
	} {
		err := validate.Parse([]byte(c.doc), validate.Limits{})
		requireRefusal(t, err, c.code, c.field, "")
	}
}

func TestZeroLimitsAreTheDefaults(t *testing.T) {
	t.Parallel()
	require.NoError(t, validate.Parse([]byte(nested(32)), validate.Limits{Depth: -1}))
	require.Equal(t, envelope.TooDeep, codeOf(t, validate.Parse([]byte(nested(33)), validate.Limits{})))
	require.NoError(t, validate.Parse([]byte(members(256)), validate.Limits{}))
	require.Equal(t, envelope.PayloadTooLarge, codeOf(t, validate.Parse([]byte(members(257)), validate.Limits{})))
	require.NoError(t, validate.Parse([]byte(list(1024, "1")), validate.Limits{}))
	require.Equal(t, envelope.PayloadTooLarge, codeOf(t, validate.Parse([]byte(list(1025, "1")), validate.Limits{})))
}

// TestHostileDocumentsAreCheap: each is answered within ten milliseconds at the default limits.
func TestHostileDocumentsAreCheap(t *testing.T) {
	t.Parallel()
	type args struct {
		N     int               `json:"n,omitzero"`
		F     []float64         `json:"f,omitzero" jsonschema:"maxItems=1000"`
		S     string            `json:"s,omitzero" jsonschema:"pattern=^(a|aa)+$"`
		M     map[string]string `json:"m,omitzero" jsonschema:"maxProperties=100000"`
		Tags  []string          `json:"tags,omitzero" jsonschema:"maxItems=100000,uniqueItems=true"`
		Tree  *tree             `json:"tree,omitzero"`
		Shape *group            `json:"shape,omitzero"`
	}
	s, err := validate.For[args]()
	require.NoError(t, err)
	general, err := validate.Compile([]byte(`{"type":"object","properties":{"x":{"type":"number","multipleOf":0.01,"not":{"const":3}}},"additionalProperties":false}`))
	require.NoError(t, err)
	composed, err := validate.Compile([]byte(`{"type":"object","allOf":[{"properties":{"v":{"type":"integer"},"kid":{"$ref":"#"}}},{"properties":{"v":{"type":"integer","minimum":0}}}],"unevaluatedProperties":false}`))
	require.NoError(t, err)
	require.False(t, composed.Compiled())
	deep := strings.Repeat(`{"shapes":[`, 15) + strings.Repeat(`],"kind":"group","name":"x"}`, 15)
	for _, c := range []struct {
		name   string
		schema *validate.Schema
		doc    string
	}{
		{"exponents", s, `{"f":` + list(50, "1e999999") + `}`},
		{"exponents within the limit", s, `{"f":` + list(1000, "1e400") + `}`},
		{"a small exponent", s, `{"n":-1e-999999}`},
		{"a large exponent", s, `{"n":1e9999999}`},
		{"exponent beside multipleOf", general, `{"x":1e400}`},
		{"small exponent beside multipleOf", general, `{"x":1e-400}`},
		{"a hundred thousand brackets", s, strings.Repeat("[", 100_000)},
		{"as many as fit", s, strings.Repeat("[", 65_000)},
		{"objects in one another", s, strings.Repeat(`{"a":`, 10_000)},
		{"ten megabytes of text", s, `{"s":"` + strings.Repeat("a", 10<<20) + `"}`},
		{"a text that fits", s, `{"s":"` + strings.Repeat("a", 16_000) + `b"}`},
		{"many texts", s, `{"tags":` + list(1024, `"`+strings.Repeat("a", 55)+`"`) + `}`},
		{"fifty thousand members", s, members(50_000)},
		{"as many members as fit", s, `{"m":` + members(256) + `}`},
		{"a number of many digits", s, `{"n":` + strings.Repeat("9", 60_000) + `}`},
		{"escapes", s, `{"s":"` + strings.Repeat(`\u0061`, 10_000) + `"}`},
		{"backslashes", s, `{"s":"` + strings.Repeat(`\\`, 30_000)},
		{"white space", s, strings.Repeat(" ", 65_000)},
		{"unions with the discriminator last", s, `{"shape":` + strings.TrimSuffix(deep, `}`) + `}}`},
		{"a composed schema within itself", composed, strings.Repeat(`{"v":1,"kid":`, 31) + `{}` + strings.Repeat("}", 31)},
		{"a composed schema within itself, refused", composed, strings.Repeat(`{"v":1,"kid":`, 31) + `{"v":-1}` + strings.Repeat("}", 31)},
		{"nullable within itself", s, `{"tree":` + strings.Repeat(`{"label":"a","left":`, 30) + `1` + strings.Repeat("}", 31)},
		{"commas", s, strings.Repeat(",", 65_000)},
		{"quotes", s, strings.Repeat(`"`, 65_000)},
	} {
		doc := []byte(c.doc)
		requireCheap(t, func() { _ = c.schema.Check(doc, validate.Limits{}) }, c.name)
	}
}

func TestAValidDocumentCostsNoAllocation(t *testing.T) {
	s, err := validate.For[everything]()
	require.NoError(t, err)
	doc := []byte(`{"short":-5,"word":7,"long":9007199254740993,"huge":18446744073709551615,"small":1.5,"large":2e3,"step":14,"flag":true,
		"text":"\u00e9é京","state":"half open","code":"EUR","at":"2024-02-29T12:00:00Z","id":"123e4567-e89b-12d3-a456-426614174000","day":"2024-02-29",
		"tags":["a","b","c","d","e","f","g","h","i","j","k","l","m","n","o","p","q","r"],"pair":[true,false],"counts":{"a":1,"b":2,"\u0063":3},
		"shape":{"radius":2.25,"kind":"circle"},"null":null,"grid":[[1,2],[]]}`)
	require.NoError(t, s.Check(doc, validate.Limits{}))
	require.True(t, s.Accepts(doc, validate.Limits{}))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if s.Check(doc, validate.Limits{}) != nil {
			t.Fail()
		}
	}))
}

// requireCheap: what check does with a document of 64 KiB at most takes no longer than encoding/json takes to read twenty of
// that size. The two are timed in turns, so that a machine with other things to do is slow for both.
func requireCheap(t *testing.T, check func(), name string) {
	t.Helper()
	plain := []byte("[" + strings.Repeat("1,", 32<<10-2) + "1]")
	timed := func(f func()) time.Duration {
		start := time.Now()
		f()
		return time.Since(start)
	}
	checking, reading := time.Hour, time.Hour
	for range 50 {
		checking = min(checking, timed(check))
		reading = min(reading, timed(func() {
			var v any
			_ = json.Unmarshal(plain, &v)
		}))
		if checking < 20*reading {
			return
		}
	}
	require.Failf(t, "too dear", "%s: %v, and encoding/json takes %v", name, checking, reading)
}

func TestASchemaThatFansOutIsRefused(t *testing.T) {
	t.Parallel()
	defs := make([]string, 0, 12)
	for i := range 12 {
		next := string(rune('a' + i + 1))
		defs = append(defs, `"`+string(rune('a'+i))+`":{"allOf":[{"$ref":"#/$defs/`+next+`"},{"$ref":"#/$defs/`+next+`"}]}`)
	}
	_, err := validate.Compile([]byte(`{"type":"object","allOf":[{"$ref":"#/$defs/a"}],"unevaluatedProperties":false,"$defs":{` +
		strings.Join(defs, ",") + `,"m":{"properties":{"v":{"type":"integer"}}}}}`))
	require.ErrorContains(t, err, "more than 1000 schemas")
}
