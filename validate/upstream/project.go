package upstream

import (
	"bytes"
	"encoding/json/jsontext"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// finding is a broken rule that a schema's own check would not tell in the order of the contract: declared fields in
// their order first, unknown names last.
type finding struct {
	key   []int // the steps to the place, as positions in the declared order
	field string
	rule  string
}

// before reports whether f stands before g in the order of the contract. A place stands before what is inside it.
func (f *finding) before(g *finding) bool { return slices.Compare(f.key, g.key) < 0 }

// projection writes of a document what a shape declares, in the order of the declaration, and notes the first finding.
// The document has passed the limits and the grammar.
type projection struct {
	selecting    bool     // undeclared members are left out in silence, but for:
	refused      []string // names that speak against the whole answer
	digits, most int      // of one number, and its largest exponent

	key   []int
	path  []string // "items", "[3]"
	first *finding
}

func (p *projection) note(rule string) {
	if p.first == nil {
		p.first = &finding{slices.Clone(p.key), p.place(), rule}
	}
}

func (p *projection) place() string {
	var b strings.Builder
	for _, step := range p.path {
		if b.Len() > 0 && step[0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

func (p *projection) enter(position int, step string) {
	p.key, p.path = append(p.key, position), append(p.path, step)
}

func (p *projection) leave() { p.key, p.path = p.key[:len(p.key)-1], p.path[:len(p.path)-1] }

// value appends what of v the shape declares.
func (p *projection) value(out []byte, s *shape, v jsontext.Value) ([]byte, error) {
	switch kind := v.Kind(); {
	case kind == '{' && s.union != nil:
		return p.branch(out, s, v)
	case kind == '{' && s.values != nil:
		return p.entries(out, s, v)
	case kind == '{' && s.object:
		return p.object(out, s, v)
	case kind == '[' && s.items != nil:
		return p.array(out, s, v)
	case kind == '0':
		return p.number(out, s, v), nil
	}
	return append(out, v...), nil // a value of another type is the check's to refuse
}

// number refuses what only other languages' readers take for a whole number, and numbers whose comparison would cost.
// Null stands in for them, which nothing takes for a number.
func (p *projection) number(out []byte, s *shape, v jsontext.Value) []byte {
	mantissa, exponent, scientific := bytes.Cut(bytes.ToLower(v), []byte{'e'})
	size, err := 0, error(nil)
	if scientific {
		size, err = strconv.Atoi(string(exponent))
	}
	switch {
	case digits(v) > p.digits, err != nil, max(size, -size) > p.most:
		p.note("limit")
		return append(out, "null"...)
	case s.integer && (scientific || bytes.IndexByte(mantissa, '.') >= 0):
		p.note("type")
		return append(out, "null"...)
	}
	return append(out, v...)
}

func digits(number []byte) (n int) {
	for _, c := range number {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

func (p *projection) array(out []byte, s *shape, v jsontext.Value) ([]byte, error) {
	out = append(out, '[')
	err := eachElement(v, func(i int, elem jsontext.Value) (err error) {
		if i > 0 {
			out = append(out, ',')
		}
		p.enter(i, "["+strconv.Itoa(i)+"]")
		out, err = p.value(out, s.items, elem)
		p.leave()
		return err
	})
	return append(out, ']'), err
}

// entries projects the values of a map. Its keys are the upstream's text: a finding inside names the map.
func (p *projection) entries(out []byte, s *shape, v jsontext.Value) ([]byte, error) {
	out = append(out, '{')
	i := 0
	err := eachMember(v, func(name string, value jsontext.Value) error {
		inner := projection{selecting: p.selecting, refused: p.refused, digits: p.digits, most: p.most}
		projected, err := inner.value(nil, s.values, value)
		if inner.first != nil {
			p.key = append(p.key, i)
			p.note(inner.first.rule)
			p.key = p.key[:len(p.key)-1]
		}
		i++
		out = appendMember(out, name, projected)
		return err
	})
	return append(out, '}'), err
}

// branch projects the variant that "kind" names. Where it names none, the check says so.
func (p *projection) branch(out []byte, s *shape, v jsontext.Value) ([]byte, error) {
	var kind jsontext.Value
	err := eachMember(v, func(name string, value jsontext.Value) error {
		if name == discriminator {
			kind = value
		}
		return nil
	})
	if err != nil || kind == nil {
		return append(out, "{}"...), err
	}
	var text string
	if kind.Kind() == '"' {
		unquoted, err := jsontext.AppendUnquote(nil, kind)
		if err != nil {
			return out, err
		}
		text = string(unquoted)
	}
	if s, ok := s.union[text]; ok {
		return p.object(out, s, v)
	}
	return append(appendMember(append(out, '{'), discriminator, kind), '}'), nil
}

func (p *projection) object(out []byte, s *shape, v jsontext.Value) ([]byte, error) {
	var few [16]jsontext.Value
	sent := few[:0]
	if len(s.names) > len(few) {
		sent = make([]jsontext.Value, 0, len(s.names))
	}
	sent = sent[:len(s.names)]
	unknown := ""
	err := eachMember(v, func(name string, value jsontext.Value) error {
		if i := s.index(name); i >= 0 {
			sent[i] = value
		} else if unknown == "" {
			unknown = p.unknown(s, name)
		}
		return nil
	})
	if err != nil {
		return out, err
	}
	out = append(out, '{')
	begun := len(out)
	for i, name := range s.names {
		p.enter(i, name)
		switch {
		case sent[i] != nil:
			if len(out) > begun {
				out = append(out, ',')
			}
			out = append(append(append(out, '"'), name...), `":`...) // declared names need no escape
			out, err = p.value(out, s.members[i], sent[i])
		case s.required[i]:
			p.note("required")
		}
		p.leave()
		if err != nil {
			return out, err
		}
	}
	if unknown != "" {
		p.key = append(p.key, len(s.names))
		p.note(unknown)
		p.key = p.key[:len(p.key)-1]
	}
	return append(out, '}'), nil
}

// unknown says which rule an undeclared name breaks, "" where it breaks none. The name itself is the upstream's text.
func (p *projection) unknown(s *shape, name string) string {
	switch {
	case !p.selecting:
		return "additionalProperties"
	case slices.Contains(p.refused, name):
		return "refused_name"
	case s.cased(name):
		return "case"
	}
	return ""
}

// locate returns the key of a place that the schema's check named.
func (s *shape) locate(field string) []int {
	var key []int
	for at := []*shape{s}; field != "" && len(at) > 0; {
		if rest, ok := strings.CutPrefix(field, "["); ok {
			number, after, _ := strings.Cut(rest, "]")
			i, err := strconv.Atoi(number)
			if err != nil {
				return key
			}
			key, field = append(key, i), strings.TrimPrefix(after, ".")
			at = each(at, func(s *shape) *shape { return s.items })
			continue
		}
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			end = len(field)
		}
		name, position := field[:end], -1
		at = each(at, func(s *shape) *shape {
			i := s.index(name)
			if i < 0 {
				return nil
			}
			position = i
			return s.members[i]
		})
		if position < 0 {
			return key
		}
		key, field = append(key, position), strings.TrimPrefix(field[end:], ".")
	}
	return key
}

// each steps from shapes, and the branches of unions among them, to what stands inside.
func each(at []*shape, step func(*shape) *shape) (out []*shape) {
	for _, s := range at {
		if next := step(s); next != nil {
			out = append(out, next)
		}
		for _, kind := range slices.Sorted(maps.Keys(s.union)) {
			if next := step(s.union[kind]); next != nil {
				out = append(out, next)
			}
		}
	}
	return out
}
