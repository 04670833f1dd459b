package trace

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/validate"
)

// places is what a schema declares and what of it is hidden. A nil map hides everything.
type places map[string]bool

func placesOf(s *validate.Schema) places {
	p := places{}
	for _, f := range s.Fields() {
		p[f.Path] = false
	}
	for _, path := range s.Hidden() {
		p[path] = true
	}
	return p
}

// with hides more places.
func (p places) with(hidden []string) places {
	p = maps.Clone(p)
	for _, path := range hidden {
		if _, ok := p[path]; ok {
			p[path] = true
		}
	}
	return p
}

// plain is a path with its indexes left out, as a schema declares it.
func plain(path string) string { return indexes.ReplaceAllString(path, "[]") }

var indexes = regexp.MustCompile(`\[[0-9]+\]`)

// listed are places of which only the hidden ones are known; all others are declared.
func listed(hidden []string) places {
	if slices.Contains(hidden, "*") {
		return nil
	}
	p := places{"*": false}
	for _, path := range hidden {
		p[path] = true
	}
	return p
}

// child is the declared path of a member or an item; ok says that there is one.
func (p places) child(path, plain, open string) (at string, hidden, ok bool) {
	if p == nil {
		return "", true, false
	}
	for _, at := range []string{path + plain, path + open} {
		if hidden, ok := p[strings.TrimPrefix(at, ".")]; ok {
			return strings.TrimPrefix(at, "."), hidden, true
		}
	}
	if _, rest := p["*"]; rest {
		return strings.TrimPrefix(path+plain, "."), false, true
	}
	return undeclared, true, false
}

// undeclared is the path of everything below what nobody declares: it is of no use, and grows with the depth.
const undeclared = "\x00"

// leaf is a string, a number or a boolean on its way into a saved document.
type leaf struct {
	path   string
	hidden bool
	name   bool // of a member that nobody declares
	value  jsontext.Value
}

// rewrite copies a document, each scalar and each undeclared name as replace says. What is no JSON is an error.
func rewrite(doc []byte, p places, replace func(l leaf) jsontext.Value) ([]byte, error) {
	var out bytes.Buffer
	w := rewriter{
		dec: jsontext.NewDecoder(bytes.NewReader(doc)), enc: jsontext.NewEncoder(&out), places: p, replace: replace,
	}
	if err := w.value("", p == nil); err != nil {
		return nil, err
	}
	if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

var errTrailing = errors.New("trace: more than one document")

type rewriter struct {
	dec     *jsontext.Decoder
	enc     *jsontext.Encoder
	places  places
	replace func(l leaf) jsontext.Value
}

func (w *rewriter) value(path string, hidden bool) error {
	switch kind := w.dec.PeekKind(); kind {
	case '{':
		return w.object(path, hidden)
	case '[':
		return w.array(path, hidden)
	case '"', '0', 't', 'f':
		v, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		return w.enc.WriteValue(w.replace(leaf{path: path, hidden: hidden, value: v}))
	default:
		v, err := w.dec.ReadValue()
		if err != nil {
			return err
		}
		return w.enc.WriteValue(v)
	}
}

func (w *rewriter) object(path string, hidden bool) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	if err := w.enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for w.dec.PeekKind() != '}' {
		name, err := w.dec.ReadToken()
		if err != nil {
			return err
		}
		text := name.String()
		at, secret, ok := w.places.child(path, "."+text, "{}")
		if !ok || strings.HasSuffix(at, "{}") { // the sender's own name
			quoted, err := jsontext.AppendQuote(nil, text)
			if err != nil {
				return err
			}
			if err := w.enc.WriteValue(w.replace(leaf{path: at, hidden: true, name: true, value: quoted})); err != nil {
				return err
			}
		} else if err := w.enc.WriteToken(jsontext.String(text)); err != nil {
			return err
		}
		if err := w.value(at, hidden || secret); err != nil {
			return err
		}
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	return w.enc.WriteToken(jsontext.EndObject)
}

func (w *rewriter) array(path string, hidden bool) error {
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	if err := w.enc.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for w.dec.PeekKind() != ']' {
		if w.dec.PeekKind() == 0 {
			return io.ErrUnexpectedEOF
		}
		at, secret, _ := w.places.child(path, "[]", "[]")
		if err := w.value(at, hidden || secret); err != nil {
			return err
		}
	}
	if _, err := w.dec.ReadToken(); err != nil {
		return err
	}
	return w.enc.WriteToken(jsontext.EndArray)
}

// text is what a quoted value says.
func text(v jsontext.Value) string {
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(b)
}

func quoted(s string) jsontext.Value {
	v, err := jsontext.AppendQuote(nil, s)
	if err != nil { // not UTF-8, which a stand-in never is
		return jsontext.Value(`""`)
	}
	return v
}
