package validate_test

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"uuid"

	kaptinlin "github.com/kaptinlin/jsonschema"
	santhosh "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// subject is a schema and what three readers say of a document.
type subject struct {
	name      string
	schema    *validate.Schema
	decode    func([]byte) error // of the Go type alone, by encoding/json; nil for documents
	kaptinlin *kaptinlin.Schema
	santhosh  *santhosh.Schema
}

type shape interface{ shape() }

type circle struct {
	Radius float64 `json:"radius" jsonschema:"minimum=0,maximum=1000"`
}

type group struct {
	Name   string                          `json:"name" jsonschema:"maxLength=20"`
	Shapes []validate.OneOf[shape, shapes] `json:"shapes" jsonschema:"maxItems=3"`
	Inner  *inner                          `json:"inner,omitzero"`
}

type inner struct {
	Note string `json:"note"`
}

func (circle) shape() {}
func (group) shape()  {}

type shapes struct{}

func (shapes) Cases() []validate.Case[shape] {
	return []validate.Case[shape]{validate.Of[shape, circle]("circle"), validate.Of[shape, group]("group")}
}

type tree struct {
	Label string `json:"label" jsonschema:"pattern=^[a-z]+(-[a-z]+)*$"`
	Left  *tree  `json:"left" jsonschema:"nullable"`
	Kids  []tree `json:"kids,omitzero" jsonschema:"maxItems=2"`
}

type everything struct {
	Short    int8                          `json:"short"`
	Word     uint16                        `json:"word"`
	Long     int64                         `json:"long"`
	Huge     uint64                        `json:"huge"`
	Small    float32                       `json:"small"`
	Large    float64                       `json:"large,omitzero" jsonschema:"exclusiveMinimum=-5,maximum=1e6"`
	Step     int                           `json:"step,omitzero" jsonschema:"minimum=0,maximum=700,multipleOf=7"`
	Flag     bool                          `json:"flag"`
	Text     string                        `json:"text" jsonschema:"minLength=2,maxLength=9"`
	State    string                        `json:"state" jsonschema:"enum=open,enum=half open,enum=shut-down-entirely"`
	Code     string                        `json:"code,omitzero" jsonschema:"pattern=^[A-Z]{3}$"`
	At       time.Time                     `json:"at"`
	ID       uuid.UUID                     `json:"id"`
	Day      string                        `json:"day,omitzero" jsonschema:"format=date"`
	Tags     []string                      `json:"tags" jsonschema:"uniqueItems=true,maxItems=40"`
	Pair     [2]bool                       `json:"pair"`
	Counts   map[string]int8               `json:"counts"`
	Shape    validate.OneOf[shape, shapes] `json:"shape"`
	Optional *int                          `json:"optional,omitzero"`
	Null     *string                       `json:"null" jsonschema:"nullable"`
	Grid     [][]int                       `json:"grid,omitzero" jsonschema:"maxItems=3"`
}

func forSubject[T any](tb testing.TB, name string) subject {
	tb.Helper()
	s, err := validate.For[T]()
	require.NoError(tb, err)
	return judged(tb, name, s, func(doc []byte) error {
		var v T
		return json.Unmarshal(doc, &v, json.RejectUnknownMembers(true))
	})
}

func judged(tb testing.TB, name string, s *validate.Schema, decode func([]byte) error) subject {
	tb.Helper()
	kc := kaptinlin.NewCompiler()
	kc.SetAssertFormat(true)
	ks, err := kc.Compile(s.JSON())
	require.NoError(tb, err)
	parsed, err := santhosh.UnmarshalJSON(bytes.NewReader(s.JSON()))
	require.NoError(tb, err)
	sc := santhosh.NewCompiler()
	sc.DefaultDraft(santhosh.Draft2020)
	sc.AssertFormat()
	require.NoError(tb, sc.AddResource("schema.json", parsed))
	ss, err := sc.Compile("schema.json")
	require.NoError(tb, err)
	return subject{name, s, decode, ks, ss}
}

func subjects(tb testing.TB) []subject {
	tb.Helper()
	list := make([]subject, 0, 16)
	list = append(list,
		forSubject[everything](tb, "everything"), forSubject[tree](tb, "tree"), forSubject[group](tb, "group"),
		forSubject[addressChangeArgs](tb, "address change"), forSubject[ordersArgs](tb, "orders"), forSubject[order](tb, "order"),
	)
	documents := map[string]string{
		"composed": `{"type":"object","allOf":[{"$ref":"#/$defs/who"},{"properties":{"b":{"type":"integer"}},"required":["b"]}],"properties":{"c":{"type":"array","prefixItems":[{"type":"boolean"},{"type":"null"}],"items":false,"maxItems":2}},"unevaluatedProperties":false,
			"$defs":{"who":{"type":"object","properties":{"a":{"type":"string","maxLength":5}},"dependentRequired":{"a":["b"]}}}}`,
		"several":  `{"type":["object","null"],"properties":{"v":{"type":["string","integer","boolean"],"maxLength":3,"maximum":9},"w":{"enum":[1,"a",null,true,2.50]},"x":{"type":"number","multipleOf":0.01,"exclusiveMaximum":10},"y":{"const":5}},"required":["v"],"minProperties":2,"maxProperties":3,"additionalProperties":false}`,
		"texts":    `{"type":"array","maxItems":20,"items":{"anyOf":[{"type":"string","maxLength":64,"pattern":"^\\p{Lu}.*$"},{"type":"null"}]}}`,
		"formats":  `{"type":"object","properties":{"a":{"type":"string","maxLength":64,"format":"time"},"c":{"type":"string","format":"ipv4"},"d":{"type":"string","format":"ipv6"},"e":{"type":"string","maxLength":100,"format":"uri"},"f":{"type":"string","format":"hostname"},"g":{"type":"string","maxLength":30,"format":"duration"},"h":{"type":"string","format":"email"},"i":{"type":"string","format":"uuid"}},"additionalProperties":false}`,
		"patterns": `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string","maxLength":5},"other":{"type":"null"}},"required":["id"],"patternProperties":{"^n[0-9]?$":{"type":["integer","string"],"maxLength":9},"^q":{"type":["null","boolean"]},"^m":{"$ref":"#"}},"propertyNames":{"pattern":"^[a-z]+[0-9]*$","maxLength":8},"additionalProperties":{"type":"boolean"},"maxProperties":20,"minProperties":1}`,
		"keys":     `{"type":"object","propertyNames":{"enum":["a","b","c d"]},"additionalProperties":{"type":"array","items":{"$ref":"#"},"maxItems":2},"maxProperties":2}`,
		"general":  `{"type":"object","properties":{"a":{"type":"integer","not":{"const":3}},"b":{"oneOf":[{"type":"integer","multipleOf":3},{"type":"integer","multipleOf":2}]}},"if":{"required":["a"]},"then":{"required":["b"]},"additionalProperties":false}`,
	}
	for _, name := range slices.Sorted(maps.Keys(documents)) { // a fuzzer names its subject by number
		s, err := validate.Compile([]byte(documents[name]))
		require.NoError(tb, err, name)
		require.Equal(tb, name != "general", s.Compiled(), name)
		list = append(list, judged(tb, name, s, nil))
	}
	return list
}

// agree compares the scan, the slower pass, the decoder and both judges on one document.
func agree(t *testing.T, s subject, doc []byte, l validate.Limits) {
	t.Helper()
	ours := s.schema.Check(doc, l) == nil
	if scan := s.schema.Accepts(doc, l); scan && !s.schema.Explains(doc, l) {
		t.Fatalf("%s: the scan accepts what the slower pass refuses: %s", s.name, doc)
	}
	if ours && s.decode != nil {
		if err := s.decode(doc); err != nil {
			t.Fatalf("%s: accepted, and encoding/json refuses it: %v: %s", s.name, err, doc)
		}
	}
	if !validate.ReaderParses(doc, l) {
		return // the judges know neither limits nor duplicates
	}
	if strings.Contains(string(doc), `\u0000`) {
		return // ours alone
	}
	k := s.kaptinlin.ValidateJSON(doc).IsValid()
	v, err := santhosh.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatalf("%s: parsed here and not there: %v: %s", s.name, err, doc)
	}
	sv := s.santhosh.Validate(v) == nil
	if ours && !(k && sv) {
		t.Fatalf("%s: accepted here; kaptinlin says %v, santhosh %v: %s", s.name, k, sv, doc)
	}
	if !ours && k && sv && !stricter(s, doc) {
		t.Fatalf("%s: refused here, accepted by both judges: %v: %s", s.name, s.schema.Check(doc, l), doc)
	}
}

// stricter reports refusals that are this library's own: what the Go type cannot hold, formats in a narrower reading.
func stricter(s subject, doc []byte) bool {
	return s.decode != nil && (s.decode(doc) != nil || rounded(doc)) || s.name == "formats"
}

// rounded reports whether a float of the subjects would hold another number than is written in doc, and not for a
// fraction's sake.
func rounded(doc []byte) bool {
	bits := map[string]int{"small": 32, "large": 64, "radius": 64, "ratio": 64}
	dec := jsontext.NewDecoder(bytes.NewReader(doc))
	last := ""
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return false
		}
		text := token.String()
		if token.Kind() == '0' && bits[last] != 0 {
			f, _ := strconv.ParseFloat(text, bits[last])
			written, ok := new(big.Rat).SetString(text)
			held := new(big.Rat).SetFloat64(f)
			if ok && written.Cmp(held) != 0 && (written.IsInt() || f == 0 || math.Abs(f) >= 1<<24 || math.Abs(f) < 0x1p-126) {
				return true
			}
		}
		last = text
	}
}

func TestGeneratedDocuments(t *testing.T) {
	t.Parallel()
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			valid, scanned := 0, 0
			for seed := range uint64(600) {
				doc := newGenerator(seed, s.schema.JSON(), seed%2 == 1).document()
				l := validate.Limits{}
				if seed%5 == 0 {
					l = validate.Limits{Depth: 3, Members: 4, Items: 3, StringBytes: 80, NumberDigits: 5, Exponent: 1}
				}
				agree(t, s, doc, l)
				if s.schema.Check(doc, l) == nil {
					valid++
					if s.schema.Accepts(doc, l) {
						scanned++
					}
				}
			}
			require.Greater(t, valid, 60, "the generator finds no valid documents")
			if s.schema.Compiled() {
				require.Greater(t, float64(scanned), 0.4*float64(valid), "valid documents take the fast path, but for escapes where the discriminator stands")
			}
			t.Logf("%d valid, %d of them by the scan", valid, scanned)
		})
	}
}

func FuzzCheck(f *testing.F) {
	list := subjects(f)
	for i, s := range list {
		for seed := range uint64(3) {
			f.Add(uint8(i), newGenerator(seed, s.schema.JSON(), false).document())
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, doc []byte) {
		agree(t, list[int(which)%len(list)], doc, validate.Limits{})
	})
}

func FuzzGenerated(f *testing.F) {
	list := subjects(f)
	for i := range list {
		f.Add(uint8(i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, which uint8, seed uint64) {
		s := list[int(which)%len(list)]
		agree(t, s, newGenerator(seed, s.schema.JSON(), seed%3 > 0).document(), validate.Limits{})
	})
}

// roundTrip decodes a document, encodes what came of it and decodes that: the schema accepts what T writes, and T reads
// what the schema accepts.
func roundTrip[T any](t *testing.T, s *validate.Schema, doc []byte) {
	t.Helper()
	v, err := s.Decode[T](doc, validate.Limits{})
	if err != nil {
		require.Error(t, s.Check(doc, validate.Limits{}), "accepted and not read: %s", doc)
		return
	}
	out, err := s.Encode(v, validate.Limits{})
	require.NoError(t, err, "read and not written again: %s", doc)
	again, err := s.Decode[T](out, validate.Limits{})
	require.NoError(t, err, "%s", out)
	second, err := s.Encode(again, validate.Limits{})
	require.NoError(t, err)
	require.Equal(t, string(out), string(second))
}

func FuzzDecode(f *testing.F) {
	schemas := map[uint8]*validate.Schema{}
	add := func(n uint8, s *validate.Schema, err error) {
		require.NoError(f, err)
		schemas[n] = s
		for seed := range uint64(4) {
			f.Add(n, newGenerator(seed, s.JSON(), false).document())
		}
	}
	s, err := validate.For[tree]()
	add(0, s, err)
	s, err = validate.For[drawing]()
	add(1, s, err)
	s, err = validate.For[ordersArgs]()
	add(2, s, err)
	f.Fuzz(func(t *testing.T, which uint8, doc []byte) {
		switch which % 3 {
		case 0:
			roundTrip[tree](t, schemas[0], doc)
		case 1:
			roundTrip[drawing](t, schemas[1], doc)
		case 2:
			if strings.Contains(string(doc), `"limit":0`) || strings.Contains(string(doc), `"status":""`) {
				return
			}
			roundTrip[ordersArgs](t, schemas[2], doc)
		}
	})
}

func FuzzEncode(f *testing.F) {
	s, err := validate.For[everything](validate.Output())
	require.NoError(f, err)
	judge := judged(f, "everything", s, nil)
	f.Add(int8(1), uint16(2), int64(3), uint64(4), float32(5), 6.5, 7, true, "text", "open", "EUR", int64(8), "tag", "key")
	f.Add(int8(-128), uint16(65535), int64(-1<<63), uint64(1<<64-1), float32(-0.1), -4.99, 0, false, "é\u2028", "half open", "", int64(-62135596800), "", "\x00")
	f.Fuzz(func(t *testing.T, short int8, word uint16, long int64, huge uint64, small float32, large float64, step int, flag bool, text, state, code string, at int64, tag, key string) {
		v := everything{
			Short: short, Word: word, Long: long, Huge: huge, Small: small, Large: large, Step: step, Flag: flag, Text: text, State: state, Code: code,
			At: time.Unix(at, 0).UTC(), Tags: []string{tag}, Counts: map[string]int8{key: short},
			Shape: validate.OneOf[shape, shapes]{Value: circle{Radius: large}}, Null: &tag,
		}
		out, err := s.Encode(v, validate.Limits{})
		if err != nil {
			require.Equal(t, "OUTPUT_INVALID", string(codeOf(t, err)))
			return
		}
		require.NoError(t, s.Check(out, validate.Limits{}))
		require.True(t, judge.kaptinlin.ValidateJSON(out).IsValid(), "%s", out)
		roundTrip[everything](t, s, out)
	})
}
