package contracttest

import (
	"math/big"
	"slices"
	"strconv"
)

// add takes one keyword into the shape. Keywords that are not known are an error: a bound without an operator is one
// that nobody checks.
func (s *shape) add(r rule) error {
	s.rules = append(s.rules, r)
	switch r.keyword {
	case "type":
		s.restrictTypes(r.arg)
	case "const":
		s.allow([]*value{r.arg}, "const")
	case "enum":
		s.allow(r.arg.elems, "enum")
	case "minimum":
		s.least(rational(r.arg.raw), false)
	case "exclusiveMinimum":
		s.least(rational(r.arg.raw), true)
	case "maximum":
		s.most(rational(r.arg.raw), false)
	case "exclusiveMaximum":
		s.most(rational(r.arg.raw), true)
	case "multipleOf":
		s.step = rational(r.arg.raw)
	case "minLength":
		s.minLen = max(s.minLen, count(r.arg))
	case "maxLength":
		s.maxLen = lower(s.maxLen, count(r.arg))
	case "pattern":
		s.patterns = append(s.patterns, r.arg.text)
	case "format":
		s.format = r.arg.text
	case "not":
		s.nots = append(s.nots, r.arg)
	default:
		return s.addStructure(r)
	}
	return nil
}

func (s *shape) addStructure(r rule) error {
	sub := func() []part { return []part{{schema: r.arg}} }
	switch r.keyword {
	case "minItems":
		s.minItems = max(s.minItems, count(r.arg))
	case "maxItems":
		s.maxItems = lower(s.maxItems, count(r.arg))
	case "uniqueItems":
		s.unique = r.arg.kind == 't'
	case "prefixItems":
		for _, e := range r.arg.elems {
			s.prefix = append(s.prefix, []part{{schema: e}})
		}
	case "items", "unevaluatedItems":
		if r.arg.kind == 'f' {
			s.itemsClosed = true
			break
		}
		s.items = append(s.items, sub()...)
	case "contains":
		s.contains = sub()
	case "minContains":
		s.minContains = count(r.arg)
	case "maxContains":
		s.maxContains = count(r.arg)
	case "properties":
		for i, name := range r.arg.names {
			s.property(name, part{schema: r.arg.elems[i]})
		}
	case "patternProperties":
		for i, pattern := range r.arg.names {
			s.byPattern = append(s.byPattern, patternProp{pattern, []part{{schema: r.arg.elems[i]}}})
		}
	case "additionalProperties", "unevaluatedProperties":
		switch r.arg.kind {
		case 'f':
			s.closed = r.keyword
		case 't':
		default:
			s.extra = append(s.extra, sub()...)
		}
	case "propertyNames":
		s.nameParts = append(s.nameParts, sub()...)
	case "required":
		for _, e := range r.arg.elems {
			if !slices.Contains(s.required, e.text) {
				s.required = append(s.required, e.text)
			}
		}
	case "minProperties":
		s.minProps = max(s.minProps, count(r.arg))
	case "maxProperties":
		s.maxProps = lower(s.maxProps, count(r.arg))
	case "dependentRequired":
		for i, name := range r.arg.names {
			d := dependency{name: name}
			for _, e := range r.arg.elems[i].elems {
				d.need = append(d.need, e.text)
			}
			s.needs = append(s.needs, d)
		}
	default:
		return &keywordError{r.keyword}
	}
	return nil
}

func count(v *value) int {
	n, err := strconv.Atoi(v.raw)
	if err != nil {
		return 0
	}
	return n
}

func lower(have, n int) int {
	if have < 0 {
		return n
	}
	return min(have, n)
}

func (s *shape) restrictTypes(arg *value) {
	list := make([]string, 0, 1+len(arg.elems))
	if arg.kind == '"' {
		list = append(list, arg.text)
	}
	for _, e := range arg.elems {
		list = append(list, e.text)
	}
	if s.types == nil {
		s.types = list
		return
	}
	var both []string
	for _, t := range s.types {
		switch {
		case slices.Contains(list, t):
			both = append(both, t)
		case t == "integer" && slices.Contains(list, "number"), t == "number" && slices.Contains(list, "integer"):
			both = append(both, "integer")
		}
	}
	s.types = both
	s.impossible = s.impossible || len(both) == 0
}

func (s *shape) allow(list []*value, by string) {
	s.allowedBy = by
	if s.allowed == nil {
		s.allowed = slices.Clone(list)
		return
	}
	s.allowed = slices.DeleteFunc(s.allowed, func(v *value) bool {
		return !slices.ContainsFunc(list, func(o *value) bool { return sameValue(v, o) })
	})
	s.impossible = s.impossible || len(s.allowed) == 0
}

func (s *shape) least(r *big.Rat, open bool) {
	if s.lo == nil || r.Cmp(s.lo) > 0 || r.Cmp(s.lo) == 0 && open {
		s.lo, s.loOpen = r, open
	}
}

func (s *shape) most(r *big.Rat, open bool) {
	if s.hi == nil || r.Cmp(s.hi) < 0 || r.Cmp(s.hi) == 0 && open {
		s.hi, s.hiOpen = r, open
	}
}

func (s *shape) property(name string, p part) {
	for i := range s.props {
		if s.props[i].name == name {
			s.props[i].parts = append(s.props[i].parts, p)
			return
		}
	}
	s.props = append(s.props, prop{name, []part{p}})
}

func (s *shape) prop(name string) *prop {
	for i := range s.props {
		if s.props[i].name == name {
			return &s.props[i]
		}
	}
	return nil
}

// is reports whether the shape admits values of a JSON Schema type.
func (s *shape) is(t string) bool {
	if s.allowed != nil {
		return slices.ContainsFunc(s.allowed, func(v *value) bool { return typeOf(v) == t || t == "number" && typeOf(v) == "integer" })
	}
	if s.types == nil {
		return s.implies(t)
	}
	return slices.Contains(s.types, t) || t == "integer" && slices.Contains(s.types, "number")
}

// implies guesses the type of a schema that names none from its keywords.
func (s *shape) implies(t string) bool {
	switch t {
	case "object":
		return len(s.props) > 0 || len(s.required) > 0 || s.closed != "" || s.extra != nil
	case "array":
		return s.items != nil || s.prefix != nil
	case "string":
		return len(s.patterns) > 0 || s.maxLen >= 0 || s.format != ""
	case "number":
		return s.lo != nil || s.hi != nil || s.step != nil
	}
	return false
}

func typeOf(v *value) string {
	switch v.kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '[':
		return "array"
	case '{':
		return "object"
	}
	if r := rational(v.raw); r != nil && r.IsInt() {
		return "integer"
	}
	return "number"
}

// inside reports whether a number obeys the shape's bounds and step.
func (s *shape) inside(r *big.Rat) bool {
	if s.lo != nil && (r.Cmp(s.lo) < 0 || s.loOpen && r.Cmp(s.lo) == 0) {
		return false
	}
	if s.hi != nil && (r.Cmp(s.hi) > 0 || s.hiOpen && r.Cmp(s.hi) == 0) {
		return false
	}
	return isMultiple(r, s.step) && (s.is("number") && !s.integer() || r.IsInt())
}

// integer reports whether the shape's numbers are whole.
func (s *shape) integer() bool {
	return slices.Contains(s.types, "integer") && !slices.Contains(s.types, "number")
}

// grain is the smallest step between numbers that the shape tells apart.
func (s *shape) grain() *big.Rat {
	switch {
	case s.step != nil && s.integer() && !s.step.IsInt():
		return ratOf(1)
	case s.step != nil:
		return s.step
	case s.integer():
		return ratOf(1)
	}
	return big.NewRat(1, 1_000_000)
}
