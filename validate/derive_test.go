package validate_test

import (
	"encoding/json/jsontext"
	"errors"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// Types whose own encoding breaks the schema that would be derived from them.
type (
	marshals     struct{ A int }
	texts        string
	pointerHook  struct{ A int }
	aliased      struct{ A int }
	extended     struct{ A int }
	hooked       string
	badHook      string
	promoted     struct{ time.Time }
	selfEmbedded struct {
		A             int `json:"a"`
		*selfEmbedded     //nolint:unused // the fault
	}
)

func (marshals) MarshalJSON() ([]byte, error)        { return []byte(`"x"`), nil }
func (*texts) UnmarshalText([]byte) error            { return nil }
func (*pointerHook) JSONSchema() *jsonschema.Schema  { return &jsonschema.Schema{Type: "integer"} }
func (aliased) JSONSchemaAlias() any                 { return "" }
func (extended) JSONSchemaExtend(*jsonschema.Schema) {}
func (hooked) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"x", "y"}}
}
func (hooked) MarshalText() ([]byte, error)    { return []byte("x"), nil }
func (badHook) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

// faultsOf derives a struct with one field of the type.
func faultsOf[T any]() error {
	type in struct {
		F T `json:"f"`
	}
	_, err := validate.For[in]()
	return err
}

func TestTypesThatBreakTheirOwnSchemaAreRefused(t *testing.T) {
	t.Parallel()
	for why, err := range map[string]error{
		"bytes":                       faultsOf[[]byte](),
		"an array of bytes":           faultsOf[[4]byte](),
		"a URL":                       faultsOf[url.URL](),
		"a big integer":               faultsOf[big.Int](),
		"a duration":                  faultsOf[time.Duration](),
		"an address":                  faultsOf[netip.Addr](),
		"raw JSON":                    faultsOf[jsontext.Value](),
		"anything":                    faultsOf[any](),
		"a channel":                   faultsOf[chan int](),
		"a function":                  faultsOf[func()](),
		"a complex number":            faultsOf[complex128](),
		"a form of its own":           faultsOf[marshals](),
		"a text form of its own":      faultsOf[texts](),
		"a form promoted":             faultsOf[promoted](),
		"a hook on the pointer":       faultsOf[pointerHook](),
		"an alias":                    faultsOf[aliased](),
		"a hook that extends":         faultsOf[extended](),
		"a hook that leaves it open":  faultsOf[badHook](),
		"a pointer without omitzero":  faultsOf[*int](),
		"a pointer to a pointer":      faultsOf[**int](),
		"pointers in a list":          faultsOf[[]*int](),
		"pointers in a map":           faultsOf[map[string]*int](),
		"a map with numbers for keys": faultsOf[map[int]string](),
		"a map with keys of a form":   faultsOf[map[texts]string](),
		"deep in lists and maps":      faultsOf[[]map[string][]any](),
	} {
		require.Error(t, err, why)
		require.Regexp(t, `(?m)^f`, err.Error(), why)
	}
	require.NoError(t, faultsOf[hooked]())
	require.NoError(t, faultsOf[[3]bool]())
	require.NoError(t, faultsOf[struct{}]())
}

func TestFieldsThatEncodingWouldLoseAreRefused(t *testing.T) {
	t.Parallel()
	type embeddedA struct {
		X int `json:"x"`
	}
	type shadowed struct {
		embeddedA
		X int `json:"x"`
	}
	type pointerEmbedded struct{ *embeddedA }
	type oddName struct {
		A int `json:"a b"`
	}
	type oddOption struct {
		A int `json:"a,format:hex"`
	}
	type caseless struct {
		A int `json:"a,case:ignore"`
	}
	type hiddenFromSchema struct {
		A int `json:"a" jsonschema:"-"`
	}
	type contradictory struct {
		A int `json:"a,omitzero" jsonschema:"required"`
	}
	type embeddedNumber struct{ HiddenInt }
	for why, err := range map[string]error{
		"shadowed":          errOf[shadowed](),
		"embedded pointer":  errOf[pointerEmbedded](),
		"tag on unexported": deriveFault(reflect.StructOf([]reflect.StructField{{Name: "a", PkgPath: "x", Type: reflect.TypeFor[int](), Tag: `json:"a"`}})),
		"name":              errOf[oddName](),
		"option":            errOf[oddOption](),
		"case":              errOf[caseless](),
		"hidden":            errOf[hiddenFromSchema](),
		"contradiction":     errOf[contradictory](),
		"embedded number":   errOf[embeddedNumber](),
		"embeds itself":     errOf[selfEmbedded](),
	} {
		require.Error(t, err, why)
	}
}

func deriveFault(t reflect.Type) error {
	_, err := validate.Derive(t)
	return err
}

// HiddenInt is embedded, and no struct.
type HiddenInt int

func errOf[T any]() error {
	_, err := validate.For[T]()
	return err
}

func TestTagsAreUnderstoodOrRefused(t *testing.T) {
	t.Parallel()
	type in struct {
		A string     `json:"a" jsonschema:"maxlength=5"`
		B string     `json:"b" jsonschema:"required=true"`
		C int        `json:"c" jsonschema:"const=5"`
		D int        `json:"d" jsonschema:"minimum=many"`
		E int        `json:"e" jsonschema:"enum=1,enum=x"`
		F string     `json:"f" jsonschema:"pattern=^a{1,3}$"`
		G []string   `json:"g" jsonschema:"uniqueItems"`
		H bool       `json:"h" jsonschema:"default=yes"`
		I string     `json:"i" jsonschema:"minLength=1,minLength=2"`
		J string     `json:"j" jsonschema:"type=integer"`
		K string     `json:"k" jsonschema:"oneof_type=string;null"`
		L string     `json:"l" jsonschema_extras:"x=y"`
		M string     `json:"m" lint:" "`
		N string     `json:"n" redact:"top secret"`
		O struct{}   `json:"o" jsonschema:"minProperties=1"`
		P []nestedID `json:"p" jsonschema:"maxLength=1"`
		Q uint8      `json:"q" jsonschema:"minimum=-1"`
		R string     `json:"r" jsonschema:"maxLength=-1"`
		S int        `json:"s" jsonschema:"nullable"`
	}
	_, err := validate.For[in]()
	require.Error(t, err)
	for _, field := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s"} {
		require.Regexp(t, `(?m)^`+field+`: `, err.Error())
	}
}

func oneItem() reflect.Type {
	type item struct {
		A int `json:"a"`
	}
	return reflect.TypeFor[item]()
}

func otherItem() reflect.Type {
	type item struct {
		B bool `json:"b"`
	}
	return reflect.TypeFor[item]()
}

func TestTypesOfOneNameAreKeptApart(t *testing.T) {
	t.Parallel()
	field := func(name string, typ reflect.Type) reflect.StructField {
		return reflect.StructField{Name: name, Type: typ, Tag: reflect.StructTag(`json:"` + strings.ToLower(name) + `"`)}
	}
	doc, err := validate.Derive(reflect.StructOf([]reflect.StructField{
		field("X1", oneItem()), field("X2", oneItem()), field("Y1", otherItem()), field("Y2", otherItem()),
	}))
	require.NoError(t, err)
	require.Contains(t, string(doc), `"#/$defs/item"`)
	require.Contains(t, string(doc), `"#/$defs/item_2"`)
	s, err := validate.Compile(doc)
	require.NoError(t, err)
	require.NoError(t, s.Check([]byte(`{"x1":{"a":1},"x2":{"a":1},"y1":{"b":true},"y2":{"b":false}}`), validate.Limits{}))
	requireRule(t, s.Check([]byte(`{"x1":{"a":1},"x2":{"a":1},"y1":{"b":true},"y2":{"b":2}}`), validate.Limits{}), "y2.b", "type")
}

func TestEmbeddedStructsAreInlined(t *testing.T) {
	t.Parallel()
	type Deep struct {
		C int `json:"c"`
	}
	type middle struct {
		Deep
		B int `json:"b"`
	}
	type in struct {
		A int `json:"a"`
		middle
		Named Deep `json:"named"`
		D     int  `json:"d"`
	}
	s, err := validate.For[in]()
	require.NoError(t, err)
	const doc = `{"a":1,"c":2,"b":3,"named":{"c":4},"d":5}`
	v, err := s.Decode[in]([]byte(doc), validate.Limits{})
	require.NoError(t, err)
	require.Equal(t, []int{1, 2, 3, 4, 5}, []int{v.A, v.C, v.B, v.Named.C, v.D})
	out, err := s.Encode(v, validate.Limits{})
	require.NoError(t, err)
	require.Equal(t, doc, string(out), "in the order of encoding/json")
}

func TestRecursiveTypesEndAtTheDepthLimit(t *testing.T) {
	t.Parallel()
	s, err := validate.For[tree]()
	require.NoError(t, err)
	require.True(t, s.Compiled())
	doc := `null`
	for range 32 {
		doc = `{"label":"a","left":` + doc + `}`
	}
	require.NoError(t, s.Check([]byte(doc), validate.Limits{}))
	require.Equal(t, "TOO_DEEP", string(codeOf(t, s.Check([]byte(`{"label":"a","left":`+doc+`}`), validate.Limits{}))))

	var loop tree
	loop.Left = &loop
	_, err = s.Encode(loop, validate.Limits{})
	require.Equal(t, "OUTPUT_INVALID", string(codeOf(t, err)), "a value that contains itself has no document")
}

type forest []forest

type labelled struct {
	hookedText
	N int `json:"n" jsonschema:"minimum=1,example=7"`
}

type hookedText struct {
	Word word `json:"word"`
}

// word reads more strictly than its schema says.
type word string

func (word) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", MaxLength: ptr(uint64(10)), Description: "one word"}
}

func (w *word) UnmarshalText(text []byte) error {
	if strings.Contains(string(text), " ") {
		return errors.New("two words")
	}
	*w = word(text)
	return nil
}

func (w word) MarshalText() ([]byte, error) { return []byte(w), nil }

func ptr[T any](v T) *T { return &v }

func TestTypesThatSayTheirOwnSchema(t *testing.T) {
	t.Parallel()
	s, err := validate.For[labelled]()
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","properties":{
		"word":{"type":"string","maxLength":10,"description":"one word"},
		"n":{"type":"integer","minimum":1,"maximum":9223372036854775807,"examples":[7]}
	},"required":["word","n"],"additionalProperties":false}`, string(s.JSON()))
	_, err = s.Decode[labelled]([]byte(`{"word":"one","n":1}`), validate.Limits{})
	require.NoError(t, err)
	_, err = s.Decode[labelled]([]byte(`{"word":"one two","n":1}`), validate.Limits{})
	requireRule(t, err, "word", "type")
	require.NotContains(t, err.Error(), "two")
}

func TestContractsThatAreNoStructs(t *testing.T) {
	t.Parallel()
	s, err := validate.For[forest]()
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"array","items":{"$ref":"#"},"maxItems":100}`, string(s.JSON()))
	v, err := s.Decode[forest]([]byte(`[[],[[]]]`), validate.Limits{})
	require.NoError(t, err)
	require.Equal(t, forest{{}, {{}}}, v)

	m, err := validate.For[map[string][]int8]()
	require.NoError(t, err)
	requireRule(t, m.Check([]byte(`{"a":[1,300]}`), validate.Limits{}), "a[1]", "maximum")

	u, err := validate.For[validate.OneOf[shape, shapes]]()
	require.NoError(t, err)
	requireRule(t, u.Check([]byte(`{"kind":"group","name":"a","shapes":[{"kind":"circle"}]}`), validate.Limits{}), "shapes[0].radius", "required")

	n, err := validate.For[int16]()
	require.NoError(t, err)
	require.Equal(t, `{"type":"integer","minimum":-32768,"maximum":32767}`, string(n.JSON()))
	_, err = validate.For[*int]()
	require.Error(t, err)
}

func TestExamplesObeyTheirSchema(t *testing.T) {
	t.Parallel()
	type in struct {
		B string `json:"b" jsonschema:"maxLength=3,example=abcd"`
		D int    `json:"d" jsonschema:"maximum=3,example=1,example=2"`
	}
	_, err := validate.For[in]()
	require.ErrorContains(t, err, "b: examples")
	require.NotContains(t, err.Error(), "d: ")
}

// TestDefaultsThatNobodyFillsInAreRefused: the model would read that an absent member is 3, and the handler would get 0.
func TestDefaultsThatNobodyFillsInAreRefused(t *testing.T) {
	t.Parallel()
	type in struct {
		A int      `json:"a,omitzero" jsonschema:"maximum=3,default=3"`
		B bool     `json:"b,omitzero" jsonschema:"default=true"`
		C []string `json:"c,omitzero" jsonschema:"default=x"`
		D label    `json:"d,omitzero" jsonschema:"default=x"`
	}
	_, err := validate.For[in]()
	for _, field := range []string{"a", "b", "c", "d"} {
		require.ErrorContains(t, err, field+": a default would be published and never filled in")
	}
	_, err = validate.Compile([]byte(`{"type":"integer","maximum":3,"default":4}`))
	require.ErrorContains(t, err, "default", "in a document it is the author's word, and obeys the schema")
}

type (
	pointerValues string
	numberValues  int
	badKey        string
)

func (*pointerValues) Values() []string       { return []string{"a"} }
func (numberValues) Values() []string         { return []string{"1"} }
func (badKey) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "integer"} }

func TestValuesThatWouldBePassedOverAreRefused(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, faultsOf[pointerValues](), "f: ")
	require.ErrorContains(t, faultsOf[*pointerValues](), "f: ")
	require.ErrorContains(t, faultsOf[[]pointerValues](), "f[]: ")
	require.ErrorContains(t, faultsOf[numberValues](), "f: ")
	require.ErrorContains(t, faultsOf[map[pointerValues]int](), "f: ")
	require.ErrorContains(t, faultsOf[map[nothing]int](), "f{}: ")
	require.ErrorContains(t, faultsOf[map[badKey]int](), "f: propertyNames")
}

// TestKeysKeepWhatTheirTypeSays: an enumeration, a reference or a type with a schema of its own says it of names too.
func TestKeysKeepWhatTheirTypeSays(t *testing.T) {
	t.Parallel()
	type in struct {
		Stock map[colour]int                       `json:"stock" jsonschema:"maxProperties=2"`
		Refs  map[validate.Reference]string        `json:"refs,omitzero"`
		Own   map[hookedKey]bool                   `json:"own,omitzero"`
		Plain map[label]map[colour]map[string]bool `json:"plain,omitzero"`
	}
	s, err := validate.For[in]()
	require.NoError(t, err)
	require.True(t, s.Compiled())
	for doc, field := range map[string]string{
		`{"stock":{}}`:                                      "",
		`{"stock":{"red":1,"dark green":2}}`:                "",
		`{"stock":{"r\u0065d":1}}`:                          "",
		`{"stock":{"blue":1}}`:                              "stock.blue",
		`{"stock":{"red":1,"dark  green":2}}`:               "stock",
		`{"stock":{},"refs":{"a_-9":"x"}}`:                  "",
		`{"stock":{},"refs":{"a b":"x"}}`:                   "refs",
		`{"stock":{},"refs":{"":"x"}}`:                      "refs",
		`{"stock":{},"own":{"x":true}}`:                     "",
		`{"stock":{},"own":{"z":true}}`:                     "own.z",
		`{"stock":{},"plain":{"any":{"red":{"any":true}}}}`: "",
		`{"stock":{},"plain":{"any":{"any":{"any":true}}}}`: "plain.any.any",
	} {
		err := s.Check([]byte(doc), validate.Limits{})
		require.Equal(t, err == nil, s.Accepts([]byte(doc), validate.Limits{}), "the scan: %s", doc)
		if field == "" {
			require.NoError(t, err, doc)
			continue
		}
		requireRule(t, err, field, "propertyNames")
	}
}

type hookedKey string

func (hookedKey) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"x", "y"}}
}

func TestArraysOfUnionsAndDates(t *testing.T) {
	t.Parallel()
	require.NoError(t, faultsOf[[2]validate.OneOf[shape, shapes]]())
	require.NoError(t, faultsOf[[3]validate.Date]())
}

func TestTagsThatNothingSatisfiesAreRefused(t *testing.T) {
	t.Parallel()
	type in struct {
		A float64 `json:"a" jsonschema:"exclusiveMinimum=5,maximum=5"`
		B int     `json:"b" jsonschema:"minimum=0.5,maximum=0.7"`
		C int8    `json:"c" jsonschema:"enum=1,enum=300"`
		D int     `json:"d" jsonschema:"exclusiveMinimum=3,exclusiveMaximum=4"`
		E uint8   `json:"e" jsonschema:"multipleOf=300,minimum=1"`
		F string  `json:"f" jsonschema:"maxLength=2,pattern=^[A-Z]{3}$"`
		G string  `json:"g" jsonschema:"maxLength=5,format=uuid"`
		H string  `json:"h" jsonschema:"maxLength=2,enum=a,enum=abc"`
		I float32 `json:"i" jsonschema:"enum=1e39"`
		J float64 `json:"j" jsonschema:"enum=9007199254740993"`
		L int     `json:"l" jsonschema:"exclusiveMinimum=9223372036854775807"`
	}
	_, err := validate.For[in]()
	for _, field := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "l"} {
		require.ErrorContains(t, err, field+": ")
	}
	_, err = validate.For[struct {
		K string `json:"k" jsonschema:"maxLength=5,pattern=a^b"`
	}]()
	require.ErrorContains(t, err, "k: pattern: ")
}
