package validate

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/envelope"
)

// kind is the kind of a JSON value; the zero value is none.
type kind uint8

const (
	nullKind kind = iota + 1
	boolKind
	numberKind
	stringKind
	arrayKind
	objectKind
)

// value is a document in memory: what the slower pass reads to say where and why a document is refused.
type value struct {
	kind  kind
	raw   []byte   // the value as it was sent, without white space around it
	text  string   // of a string, unescaped
	names []string // of an object, unescaped, in the order sent
	elems []value  // of an array, or beside names
}

// member returns the value of the member of that name, nil where there is none.
func (v *value) member(name string) *value {
	for i, n := range v.names {
		if n == name {
			return &v.elems[i]
		}
	}
	return nil
}

// reader reads one document from left to right and stops at the first thing that the limits, the grammar (RFC 8259)
// or the rule of unique names (RFC 7493 section 2.3) refuse.
type reader struct {
	doc   []byte
	pos   int
	limit Limits
	at    place
	fault *envelope.Error
}

// read returns the document in memory, or the error that names the first fault: size, UTF-8, then from the left.
func read(doc []byte, l Limits) (value, *envelope.Error) {
	l = l.filled()
	if len(doc) > l.Bytes {
		return value{}, tooLarge("")
	}
	if !utf8.Valid(doc) {
		return value{}, envelope.New(envelope.MalformedJSON)
	}
	r := reader{doc: doc, limit: l}
	r.space()
	v, ok := r.value(0)
	if !ok {
		return value{}, r.fault
	}
	r.space()
	if r.pos != len(doc) {
		return value{}, envelope.New(envelope.TrailingData)
	}
	return v, nil
}

func tooLarge(field string) *envelope.Error {
	e := envelope.New(envelope.PayloadTooLarge)
	e.Field, e.Rule = field, "limit"
	return e
}

func (r *reader) malformed() bool {
	r.fault = envelope.New(envelope.MalformedJSON)
	return false
}

func (r *reader) exceeded() bool {
	r.fault = tooLarge(r.at.String())
	return false
}

func (r *reader) space() {
	for r.pos < len(r.doc) {
		switch r.doc[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// next returns the byte at the position, 0 at the end of the document; a real NUL is no token of JSON either.
func (r *reader) next() byte {
	if r.pos < len(r.doc) {
		return r.doc[r.pos]
	}
	return 0
}

func (r *reader) value(depth int) (v value, ok bool) {
	start := r.pos
	switch c := r.next(); c {
	case '{':
		v, ok = r.object(depth + 1)
	case '[':
		v, ok = r.array(depth + 1)
	case '"':
		v.kind = stringKind
		v.text, ok = r.text()
		if ok && len(v.text) > r.limit.StringBytes {
			ok = r.exceeded()
		}
	case 't':
		v.kind, ok = boolKind, r.literal("true")
	case 'f':
		v.kind, ok = boolKind, r.literal("false")
	case 'n':
		v.kind, ok = nullKind, r.literal("null")
	default:
		v.kind, ok = numberKind, r.number()
	}
	v.raw = r.doc[start:r.pos]
	return v, ok
}

func (r *reader) literal(word string) bool {
	if len(r.doc)-r.pos < len(word) || string(r.doc[r.pos:r.pos+len(word)]) != word {
		return r.malformed()
	}
	r.pos += len(word)
	if wordByte(r.next()) {
		return r.malformed()
	}
	return true
}

func (r *reader) object(depth int) (v value, ok bool) {
	if depth > r.limit.Depth {
		r.fault = envelope.New(envelope.TooDeep)
		return v, false
	}
	v.kind = objectKind
	r.pos++
	r.space()
	if r.next() == '}' {
		r.pos++
		return v, true
	}
	var seen names
	for {
		name, ok := r.name(len(v.names), &seen)
		if !ok {
			return v, false
		}
		r.at = append(r.at, member(name))
		elem, ok := r.value(depth)
		if !ok {
			return v, false
		}
		r.at = r.at[:len(r.at)-1]
		v.names, v.elems = append(v.names, name), append(v.elems, elem)
		if done, ok := r.separator('}'); done || !ok {
			return v, ok
		}
	}
}

// name reads a member name, the colon and the space around it. n members of the object have been read.
func (r *reader) name(n int, seen *names) (string, bool) {
	if r.next() != '"' {
		return "", r.malformed()
	}
	name, ok := r.text()
	switch {
	case !ok:
		return "", false
	case n >= r.limit.Members, len(name) > r.limit.StringBytes:
		return "", r.exceeded()
	case !seen.add(name):
		r.fault = envelope.New(envelope.DuplicateMember).At(r.at.with(member(name)).String())
		return "", false
	}
	r.space()
	if r.next() != ':' {
		return "", r.malformed()
	}
	r.pos++
	r.space()
	return name, true
}

func (r *reader) array(depth int) (v value, ok bool) {
	if depth > r.limit.Depth {
		r.fault = envelope.New(envelope.TooDeep)
		return v, false
	}
	v.kind = arrayKind
	r.pos++
	r.space()
	if r.next() == ']' {
		r.pos++
		return v, true
	}
	for {
		if len(v.elems) >= r.limit.Items {
			return v, r.exceeded()
		}
		r.at = append(r.at, element(len(v.elems)))
		elem, ok := r.value(depth)
		if !ok {
			return v, false
		}
		r.at = r.at[:len(r.at)-1]
		v.elems = append(v.elems, elem)
		if done, ok := r.separator(']'); done || !ok {
			return v, ok
		}
	}
}

// separator reads what stands after an element: a comma and the space after it, or the end.
func (r *reader) separator(end byte) (done, ok bool) {
	r.space()
	switch r.next() {
	case end:
		r.pos++
		return true, true
	case ',':
		r.pos++
		r.space()
		return false, true
	}
	return false, r.malformed()
}

func (r *reader) number() bool {
	if r.next() == '-' {
		r.pos++
	}
	digits := 0
	switch c := r.next(); {
	case c == '0':
		r.pos++
		digits = 1
	case c >= '1' && c <= '9':
		digits = r.digits()
	default:
		return r.malformed()
	}
	if r.next() == '.' {
		r.pos++
		n := r.digits()
		if n == 0 {
			return r.malformed()
		}
		digits += n
	}
	exponent := 0
	if c := r.next(); c == 'e' || c == 'E' {
		r.pos++
		if c := r.next(); c == '+' || c == '-' {
			r.pos++
		}
		from := r.pos
		n := r.digits()
		if n == 0 {
			return r.malformed()
		}
		digits += n
		exponent = saturated(r.doc[from:r.pos])
	}
	if c := r.next(); wordByte(c) {
		return r.malformed() // 01, 1.2.3, 12ab: one word, not a number and something after it
	}
	if digits > r.limit.NumberDigits || exponent > r.limit.Exponent {
		return r.exceeded()
	}
	return true
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '.' || c == '+' || c == '-' || c == '_'
}

func (r *reader) digits() (n int) {
	for c := r.next(); c >= '0' && c <= '9'; c = r.next() {
		r.pos++
		n++
	}
	return n
}

// saturated reads decimal digits; what exceeds a billion is a billion.
func saturated(digits []byte) int {
	n := 0
	for _, c := range digits {
		if n = n*10 + int(c-'0'); n > 1e9 {
			return 1e9
		}
	}
	return n
}

// text reads a string and unescapes it.
func (r *reader) text() (string, bool) {
	start := r.pos + 1
	for i := start; i < len(r.doc); i++ {
		switch c := r.doc[i]; {
		case c == '"':
			r.pos = i + 1
			return string(r.doc[start:i]), true
		case c == '\\':
			return r.escaped(start, i)
		case c < ' ':
			return "", r.malformed()
		}
	}
	return "", r.malformed()
}

// escaped goes on with a string that began at start and has its first escape at i.
func (r *reader) escaped(start, i int) (string, bool) {
	text := append(make([]byte, 0, i-start+16), r.doc[start:i]...)
	for i < len(r.doc) {
		switch c := r.doc[i]; {
		case c == '"':
			r.pos = i + 1
			return string(text), true
		case c < ' ':
			return "", r.malformed()
		case c != '\\':
			text = append(text, c)
			i++
		default:
			c, n := unescape(r.doc[i:])
			if n == 0 {
				return "", r.malformed()
			}
			text = utf8.AppendRune(text, c)
			i += n
		}
	}
	return "", r.malformed()
}

// unescape reads the escape at the beginning of b and returns its length, 0 where it is none: RFC 8259 section 7,
// and no half of a surrogate pair (RFC 7493 section 2.1).
func unescape(b []byte) (rune, int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		first, ok := hex4(b)
		if !ok {
			return 0, 0
		}
		if !utf16.IsSurrogate(first) {
			return first, 6
		}
		second, ok := hex4(b[6:])
		if pair := utf16.DecodeRune(first, second); ok && pair != utf8.RuneError {
			return pair, 12
		}
	}
	return 0, 0
}

// hex4 reads \uXXXX at the beginning of b.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// names is a set of member names: a list while it is short, since most objects are.
type names struct {
	list []string
	set  map[string]struct{}
}

func (s *names) add(name string) bool {
	if s.set != nil {
		if _, ok := s.set[name]; ok {
			return false
		}
		s.set[name] = struct{}{}
		return true
	}
	for _, n := range s.list {
		if n == name {
			return false
		}
	}
	s.list = append(s.list, name)
	if len(s.list) > 16 {
		s.set = make(map[string]struct{}, 2*len(s.list))
		for _, n := range s.list {
			s.set[n] = struct{}{}
		}
	}
	return true
}
