package export

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// span is one JSON value and where it stands in its document. Nothing is decoded: duplicates, spellings and bytes that
// are no UTF-8 are kept, since the boundary is to see them.
type span struct {
	doc        []byte
	start, end int
	names      []span // of an object: the member names, as strings
	values     []span // of an object or array
}

var errTrailing = errors.New("export: text after the value")

// parse reads one value. An error says that doc is not exactly one JSON value, duplicates and UTF-8 left aside.
func parse(doc []byte) (*span, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	s, err := read(dec, doc)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return &s, nil
}

func read(dec *jsontext.Decoder, doc []byte) (span, error) {
	kind := dec.PeekKind()
	if kind != jsontext.KindBeginObject && kind != jsontext.KindBeginArray {
		v, err := dec.ReadValue()
		if err != nil {
			return span{}, err
		}
		end := int(dec.InputOffset())
		return span{doc: doc, start: end - len(v), end: end}, nil
	}
	if _, err := dec.ReadToken(); err != nil {
		return span{}, err
	}
	s := span{doc: doc, start: int(dec.InputOffset()) - 1}
	for k := dec.PeekKind(); k != jsontext.KindEndObject && k != jsontext.KindEndArray; k = dec.PeekKind() {
		if kind == jsontext.KindBeginObject {
			name, err := read(dec, doc)
			if err != nil {
				return span{}, err
			}
			s.names = append(s.names, name)
		}
		v, err := read(dec, doc)
		if err != nil {
			return span{}, err
		}
		s.values = append(s.values, v)
	}
	_, err := dec.ReadToken()
	s.end = int(dec.InputOffset())
	return s, err
}

func (s *span) raw() jsontext.Value { return s.doc[s.start:s.end] }

func (s *span) kind() jsontext.Kind { return s.raw().Kind() }

func (s *span) is(k jsontext.Kind) bool { return s != nil && s.kind() == k }

// text is what a string says, byte for byte: what is no UTF-8 stays so.
func (s *span) text() string {
	raw := s.raw()
	return string(unquote(raw[1 : len(raw)-1]))
}

// member returns the value of a name; nil where there is none, the last where there are several.
func (s *span) member(name string) *span {
	for i := len(s.names) - 1; i >= 0; i-- {
		if s.names[i].text() == name {
			return &s.values[i]
		}
	}
	return nil
}

func (s *span) has(name string) bool { return s.member(name) != nil }

// unquote resolves the escapes of a valid string. A lone surrogate becomes bytes that are no UTF-8, so that whoever
// checks the text refuses it: it must not turn into a character that nobody wrote.
func unquote(in []byte) []byte {
	if bytes.IndexByte(in, '\\') < 0 {
		return in
	}
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); i++ {
		if in[i] != '\\' {
			out = append(out, in[i])
			continue
		}
		i++
		switch in[i] {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := unit(in[i+1:])
			i += 4
			if utf16.IsSurrogate(r) && i+6 < len(in) && in[i+1] == '\\' && in[i+2] == 'u' {
				if pair := utf16.DecodeRune(r, unit(in[i+3:])); pair != utf8.RuneError {
					r = pair
					i += 6
				}
			}
			if utf16.IsSurrogate(r) {
				out = append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf) //nolint:gosec // a surrogate has 16 bits
				continue
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, in[i])
		}
	}
	return out
}

// unit reads four hexadecimal digits.
func unit(in []byte) rune {
	var r rune
	for _, b := range in[:4] {
		r <<= 4
		switch {
		case b <= '9':
			r |= rune(b - '0')
		case b <= 'F':
			r |= rune(b - 'A' + 10)
		default:
			r |= rune(b - 'a' + 10)
		}
	}
	return r
}
