package contracttest

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// judge decides the label of a case from its final bytes: limits, a strict parse by the standard library, and a JSON
// Schema validator that is not this library's. It knows nothing of what an operator meant.
type judge struct {
	schema *jsonschema.Schema
	limits validate.Limits
}

// verdict is what the judge says. Code is empty for a valid document. Of a document that breaks its schema, found is each
// broken keyword and where.
type verdict struct {
	code  envelope.Code
	found []finding
}

type finding struct{ keyword, pointer string }

func (v verdict) valid() bool { return v.code == "" }

// noLoader refuses to fetch anything.
type noLoader struct{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("contracttest: the schema refers to another document")
}

func newJudge(doc []byte, limits validate.Limits) (*judge, error) {
	v, err := parseValue(doc)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.AssertFormat()
	if err := c.AddResource("mem:///contract.json", v.any()); err != nil {
		return nil, fmt.Errorf("contracttest: the judge does not take the schema: %w", err)
	}
	s, err := c.Compile("mem:///contract.json")
	if err != nil {
		return nil, fmt.Errorf("contracttest: the judge does not take the schema: %w", err)
	}
	return &judge{s, filled(limits)}, nil
}

// filled puts the library's defaults in the place of zero fields.
func filled(l validate.Limits) validate.Limits {
	d := validate.Defaults()
	or := func(n, zero int) int {
		if n <= 0 {
			return zero
		}
		return n
	}
	return validate.Limits{
		Bytes: or(l.Bytes, d.Bytes), Depth: or(l.Depth, d.Depth), Members: or(l.Members, d.Members), Items: or(l.Items, d.Items),
		StringBytes: or(l.StringBytes, d.StringBytes), NumberDigits: or(l.NumberDigits, d.NumberDigits), Exponent: or(l.Exponent, d.Exponent),
	}
}

func (j *judge) verdict(doc []byte) verdict {
	if code := j.form(doc); code != "" {
		return verdict{code: code}
	}
	v, err := parseValue(doc)
	if err != nil {
		return verdict{code: envelope.MalformedJSON}
	}
	if holdsNul(v) {
		return verdict{code: envelope.InvalidArgument, found: []finding{{"nul", ""}}}
	}
	return j.schemaVerdict(v)
}

func (j *judge) schemaVerdict(v *value) verdict {
	err := j.schema.Validate(v.any())
	if err == nil {
		return verdict{}
	}
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		return verdict{code: envelope.Internal}
	}
	out := verdict{code: envelope.InvalidArgument}
	leaves(broken, &out.found)
	return out
}

func leaves(e *jsonschema.ValidationError, into *[]finding) {
	keyword := ""
	switch path := e.ErrorKind.KeywordPath(); e.ErrorKind.(type) {
	case *kind.Not:
		keyword = "not"
	case *kind.FalseSchema: // a schema that is false speaks for the keyword that it stands under
		keyword = e.SchemaURL[strings.LastIndexByte(e.SchemaURL, '/')+1:]
	default:
		if len(path) > 0 {
			keyword = path[0]
		}
	}
	if keyword != "" {
		*into = append(*into, finding{keyword, strings.Join(e.InstanceLocation, "/")})
	}
	for _, cause := range e.Causes {
		leaves(cause, into)
	}
}

func holdsNul(v *value) bool {
	if v.kind == '"' {
		return strings.IndexByte(v.text, 0) >= 0
	}
	for _, e := range v.elems {
		if holdsNul(e) {
			return true
		}
	}
	for _, name := range v.names {
		if strings.IndexByte(name, 0) >= 0 {
			return true
		}
	}
	return false
}

// form looks at size, encoding, grammar, unique names and limits, from the left, and stops at the first fault.
func (j *judge) form(doc []byte) envelope.Code {
	if len(doc) > j.limits.Bytes {
		return envelope.PayloadTooLarge
	}
	if !utf8.Valid(doc) {
		return envelope.MalformedJSON
	}
	dec := jsontext.NewDecoder(bytes.NewReader(doc))
	for started := false; !started || dec.StackDepth() > 0; started = true {
		tok, err := dec.ReadToken()
		if err != nil {
			return grammar(err)
		}
		if code := j.token(dec, tok); code != "" {
			return code
		}
	}
	rest := doc[dec.InputOffset():]
	if word := bytes.TrimLeft(rest, " \t\r\n"); len(word) > 0 {
		if len(word) == len(rest) && scalarEnd(doc, int(dec.InputOffset())) && wordByte(word[0]) {
			return envelope.MalformedJSON // 01 is one word and no number
		}
		return envelope.TrailingData
	}
	return ""
}

func scalarEnd(doc []byte, end int) bool { return end > 0 && wordByte(doc[end-1]) }

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '+' || c == '-' || c == '_'
}

func grammar(err error) envelope.Code {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return envelope.DuplicateMember
	}
	return envelope.MalformedJSON
}

// token holds one token to the limits.
func (j *judge) token(dec *jsontext.Decoder, tok jsontext.Token) envelope.Code {
	if depth := dec.StackDepth(); depth > j.limits.Depth {
		return envelope.TooDeep
	}
	is := tok.Kind()
	if is == '}' || is == ']' {
		return ""
	}
	at := dec.StackDepth()
	if is == '{' || is == '[' {
		at--
	}
	if at > 0 {
		parent, n := dec.StackIndex(at)
		limit := int64(j.limits.Items)
		if parent == '{' {
			n, limit = (n+1)/2, int64(j.limits.Members)
		}
		if n > limit {
			return envelope.PayloadTooLarge
		}
	}
	switch is {
	case '"':
		if len(tok.String()) > j.limits.StringBytes {
			return envelope.PayloadTooLarge
		}
	case '0':
		if !j.numberFits(tok.String()) {
			return envelope.PayloadTooLarge
		}
	}
	return ""
}

func (j *judge) numberFits(raw string) bool {
	digits := 0
	for _, c := range raw {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	if digits > j.limits.NumberDigits {
		return false
	}
	i := strings.IndexAny(raw, "eE")
	if i < 0 {
		return true
	}
	exp := strings.TrimLeft(strings.TrimLeft(raw[i+1:], "+-"), "0")
	if len(exp) > 9 {
		return false
	}
	n := 0
	for _, c := range exp {
		n = n*10 + int(c-'0')
	}
	return n <= j.limits.Exponent
}
