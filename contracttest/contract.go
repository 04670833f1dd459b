package contracttest

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// contract is a published schema, read as a tree.
type contract struct {
	root     *value
	cache    map[*value][]*shape
	machines map[string]*automaton
	formats  map[string]*value // a schema of each, for the judge
	judges   map[*value]*judge
}

// part is one schema that speaks of a place, and how it was reached from the place's own.
type part struct {
	schema *value
	at     string // "oneOf/1"; empty for the place's own schema
}

// rule is one keyword that speaks of a place.
type rule struct {
	keyword, at string
	arg         *value
}

// shape is one way to be valid: all keywords that speak of a place once every choice (oneOf, anyOf, if) is made.
type shape struct {
	at       string
	sources  []*value // the schemas that speak here
	rules    []rule
	captured string // anyOf or oneOf: a fault inside is reported as that keyword, at the place
	tagged   *value // the oneOf that is told apart by "kind"

	types           []string // nil: any
	allowed         []*value // of enum and const; nil: any
	allowedBy       string
	lo, hi          *big.Rat
	loOpen, hiOpen  bool
	step            *big.Rat
	minLen, maxLen  int
	patterns        []string
	format          string
	minItems        int
	maxItems        int
	unique          bool
	prefix          [][]part
	items           []part
	itemsClosed     bool
	contains        []part
	minContains     int
	maxContains     int
	props           []prop
	required        []string
	closed          string // additionalProperties or unevaluatedProperties
	extra           []part // schema of further members
	byPattern       []patternProp
	nameParts       []part
	minProps        int
	maxProps        int
	needs           []dependency
	nots            []*value
	impossible      bool
	conditional     bool
	excludedMembers []string // absent by a choice (dependentSchemas)
}

type prop struct {
	name  string
	parts []part
}

type patternProp struct {
	pattern string
	parts   []part
}

type dependency struct {
	name string
	need []string
}

func newContract(doc []byte) (*contract, error) {
	root, err := parseValue(doc)
	if err != nil {
		return nil, fmt.Errorf("contracttest: the published schema: %w", err)
	}
	return &contract{root: root, cache: map[*value][]*shape{}, machines: map[string]*automaton{}, judges: map[*value]*judge{}, formats: map[string]*value{}}, nil
}

func (c *contract) whole() []part { return []part{{schema: c.root}} }

// keywordError names a keyword that no operator knows: a bound that nobody would check.
type keywordError struct{ keyword string }

func (e *keywordError) Error() string {
	return fmt.Sprintf("contracttest: the keyword %q has no operator", e.keyword)
}

// maxShapes bounds the ways in which one place can be valid.
const maxShapes = 64

var errShapes = errors.New("contracttest: a place has more than 64 shapes")

// shapes returns the ways in which a value can be valid under all of the parts.
func (c *contract) shapes(ps []part) ([]*shape, error) {
	if len(ps) == 1 && ps[0].at == "" {
		if s, ok := c.cache[ps[0].schema]; ok {
			return s, nil
		}
	}
	list := []*shape{newShape()}
	for _, p := range ps {
		var err error
		if list, err = c.apply(list, p); err != nil {
			return nil, err
		}
	}
	list = slices.DeleteFunc(list, func(s *shape) bool { return s.impossible })
	if len(ps) == 1 && ps[0].at == "" {
		c.cache[ps[0].schema] = list
	}
	return list, nil
}

func newShape() *shape {
	return &shape{minLen: 0, maxLen: -1, maxItems: -1, maxContains: -1, minContains: -1, maxProps: -1}
}

func (s *shape) clone() *shape {
	c := *s
	c.rules, c.sources = slices.Clone(s.rules), slices.Clone(s.sources)
	c.types, c.allowed, c.patterns = slices.Clone(s.types), slices.Clone(s.allowed), slices.Clone(s.patterns)
	c.prefix = slices.Clone(s.prefix)
	c.items = slices.Clone(s.items)
	c.contains = slices.Clone(s.contains)
	c.props = slices.Clone(s.props)
	for i := range c.props {
		c.props[i].parts = slices.Clone(c.props[i].parts)
	}
	c.required, c.extra = slices.Clone(s.required), slices.Clone(s.extra)
	c.byPattern, c.nameParts = slices.Clone(s.byPattern), slices.Clone(s.nameParts)
	c.needs, c.nots = slices.Clone(s.needs), slices.Clone(s.nots)
	c.excludedMembers = slices.Clone(s.excludedMembers)
	return &c
}

func clones(list []*shape) []*shape {
	out := make([]*shape, len(list))
	for i, s := range list {
		out[i] = s.clone()
	}
	return out
}

// apply adds one schema to each of the shapes.
func (c *contract) apply(list []*shape, p part) ([]*shape, error) {
	switch p.schema.kind {
	case 't':
		return list, nil
	case 'f':
		return nil, nil
	case '{':
	default:
		return nil, errors.New("contracttest: a schema is an object or a boolean")
	}
	for _, s := range list {
		s.sources = append(s.sources, p.schema)
	}
	for i, keyword := range p.schema.names {
		var err error
		if list, err = c.keyword(list, p, keyword, p.schema.elems[i]); err != nil {
			return nil, err
		}
		if len(list) > maxShapes {
			return nil, errShapes
		}
	}
	return list, nil
}

func (c *contract) keyword(list []*shape, p part, keyword string, arg *value) ([]*shape, error) {
	switch keyword {
	case "$schema", "$id", "$comment", "$defs", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
		"then", "else":
		return list, nil
	case "$ref":
		target, err := c.resolve(arg.text)
		if err != nil {
			return nil, err
		}
		return c.apply(list, part{target, p.at})
	case "allOf":
		for i, sub := range arg.elems {
			var err error
			if list, err = c.apply(list, part{sub, joinName(p.at, "allOf", strconv.Itoa(i))}); err != nil {
				return nil, err
			}
		}
		return list, nil
	case "anyOf", "oneOf":
		return c.choice(list, p, keyword, arg)
	case "if":
		return c.conditional(list, p, arg)
	case "dependentSchemas":
		return c.dependent(list, p, arg)
	}
	for _, s := range list {
		if err := s.add(rule{keyword, p.at, arg}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (c *contract) choice(list []*shape, p part, keyword string, arg *value) ([]*shape, error) {
	tagged := keyword == "oneOf" && c.isTagged(arg)
	var out []*shape
	for i, sub := range arg.elems {
		branch, err := c.apply(clones(list), part{sub, joinName(p.at, keyword, strconv.Itoa(i))})
		if err != nil {
			return nil, err
		}
		for _, s := range branch {
			s.at = joinName(p.at, keyword, strconv.Itoa(i))
			switch {
			case tagged:
				s.tagged = arg
			case keyword == "anyOf" && nullable(arg):
				if sub.member("type") != nil && sub.member("type").text == "null" {
					s.at = joinName(p.at, keyword, "null")
				}
			default:
				s.captured = keyword
			}
		}
		out = append(out, branch...)
	}
	return out, nil
}

// conditional splits each shape in the one for which the condition holds and the one for which it does not.
func (c *contract) conditional(list []*shape, p part, condition *value) ([]*shape, error) {
	holds, err := c.apply(clones(list), part{condition, joinName(p.at, "if")})
	if err != nil {
		return nil, err
	}
	if then := p.schema.member("then"); then != nil {
		if holds, err = c.apply(holds, part{then, joinName(p.at, "then")}); err != nil {
			return nil, err
		}
	}
	for _, s := range holds {
		s.at, s.conditional = joinName(p.at, "then"), true
	}
	fails := clones(list)
	for _, s := range fails {
		s.nots = append(s.nots, condition)
		s.at = joinName(p.at, "else")
	}
	if otherwise := p.schema.member("else"); otherwise != nil {
		if fails, err = c.apply(fails, part{otherwise, joinName(p.at, "else")}); err != nil {
			return nil, err
		}
	}
	return append(holds, fails...), nil
}

func (c *contract) dependent(list []*shape, p part, arg *value) ([]*shape, error) {
	for i, name := range arg.names {
		with := clones(list)
		for _, s := range with {
			s.required = append(s.required, name)
			s.at = joinName(p.at, "dependentSchemas", name)
		}
		with, err := c.apply(with, part{arg.elems[i], joinName(p.at, "dependentSchemas", name)})
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			s.excludedMembers = append(s.excludedMembers, name)
		}
		list = append(list, with...)
	}
	return list, nil
}

// isTagged reports whether a oneOf is a closed union told apart by the constant member "kind".
func (c *contract) isTagged(oneOf *value) bool {
	for _, sub := range oneOf.elems {
		branch := c.follow(sub)
		props, required := branch.member("properties"), branch.member("required")
		if props == nil || required == nil || props.member("kind") == nil || props.member("kind").member("const") == nil {
			return false
		}
		if a := branch.member("additionalProperties"); a == nil || a.kind != 'f' {
			return false
		}
	}
	return true
}

func nullable(anyOf *value) bool {
	for _, sub := range anyOf.elems {
		if t := sub.member("type"); t != nil && t.text == "null" && len(sub.names) == 1 {
			return len(anyOf.elems) == 2
		}
	}
	return false
}

func (c *contract) follow(v *value) *value {
	for range 16 {
		ref := v.member("$ref")
		if ref == nil {
			return v
		}
		next, err := c.resolve(ref.text)
		if err != nil {
			return v
		}
		v = next
	}
	return v
}

// resolve follows a reference within the document (RFC 6901 in a fragment).
func (c *contract) resolve(ref string) (*value, error) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("contracttest: the reference leaves the document")
	}
	v := c.root
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if v.kind == '[' {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v.elems) {
				return nil, errors.New("contracttest: a reference to nothing")
			}
			v = v.elems[i]
			continue
		}
		if v = v.member(token); v == nil {
			return nil, errors.New("contracttest: a reference to nothing")
		}
	}
	return v, nil
}

func joinName(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "/")
}
