package contracttest

import (
	"errors"
	"math/big"
	"slices"
	"strconv"

	"github.com/toolcontract/toolcontract/validate"
)

// size says which valid instance is built.
type size int

const (
	smallest size = iota // what is required, and nothing else
	largest              // every optional member, two elements, longer texts
)

// builder makes valid instances of a contract. salt tells apart what is built for the elements of one array. choose,
// where it is set, decides everything that is free.
type builder struct {
	c       *contract
	size    size
	salt    int
	choose  func(n int) int
	witness map[*value]witness
}

var errNoInstance = errors.New("contracttest: no valid instance was found; give Examples")

// maxNesting bounds how deep a recursive schema is followed for a carrier.
const maxNesting = 24

// build returns the valid instance of least depth.
func (b *builder) build(ps []part) (*value, error) {
	var err error
	for depth := 1; depth <= maxNesting; depth++ {
		var v *value
		if v, err = b.within(ps, depth); err == nil {
			if b.size == largest && depth+2 <= maxNesting {
				if more, err := b.within(ps, depth+2); err == nil {
					return more, nil
				}
			}
			return v, nil
		}
		if !errors.Is(err, errNoInstance) {
			return nil, err
		}
	}
	return nil, err
}

// within builds an instance that is nested at most depth deep.
func (b *builder) within(ps []part, depth int) (*value, error) {
	if depth == 0 {
		return nil, errNoInstance
	}
	list, err := b.c.shapes(ps)
	if err != nil {
		return nil, err
	}
	first := 0
	if b.choose != nil && len(list) > 0 {
		first = b.choose(len(list))
	}
	err = errNoInstance
	for i := range list {
		var v *value
		if v, err = b.shape(list[(first+i)%len(list)], depth); err == nil {
			return v, nil
		}
		if !errors.Is(err, errNoInstance) && !errors.Is(err, errNoText) {
			return nil, err
		}
	}
	return nil, errors.Join(errNoInstance, err)
}

func (b *builder) pick(n, otherwise int) int {
	if n <= 1 {
		return 0
	}
	if b.choose != nil {
		return b.choose(n)
	}
	return otherwise % n
}

// negationTries is how many values are built until one is not what a shape excludes.
const negationTries = 12

// shape builds a value of one shape that none of its negations holds for.
func (b *builder) shape(s *shape, depth int) (*value, error) {
	if len(s.nots) == 0 {
		return b.plain(s, depth)
	}
	sub := *b
	for i := range negationTries {
		sub.salt = b.salt + i
		v, err := sub.plain(s, depth)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(s.nots, func(not *value) bool { return b.c.holds(not, v) }) {
			return v, nil
		}
	}
	return nil, errNoInstance
}

// holds reports whether the judge takes the value for one of the schema.
func (c *contract) holds(schema, v *value) bool {
	j, ok := c.judges[schema]
	if !ok {
		var err error
		if j, err = newJudge(schema.bytes(), validate.Limits{}); err != nil {
			j = nil
		}
		c.judges[schema] = j
	}
	return j != nil && j.schemaVerdict(v).valid()
}

func (b *builder) plain(s *shape, depth int) (*value, error) {
	if s.allowed != nil {
		list := slices.DeleteFunc(slices.Clone(s.allowed), func(v *value) bool {
			return s.types != nil && !slices.Contains(s.types, typeOf(v)) && !(typeOf(v) == "integer" && slices.Contains(s.types, "number"))
		})
		if len(list) == 0 {
			return nil, errNoInstance
		}
		return list[b.pick(len(list), b.salt)].clone(), nil
	}
	switch {
	case s.is("object"):
		return b.object(s, depth)
	case s.is("array"):
		return b.array(s, depth)
	case s.is("string"):
		text, err := b.text(s)
		if err != nil {
			return nil, err
		}
		return textValue(text), nil
	case s.is("number"), s.is("integer"):
		return b.number(s)
	case s.is("boolean"):
		return rawValue([]string{"true", "false"}[b.pick(2, b.salt)]), nil
	case s.is("null"):
		return rawValue("null"), nil
	case s.types == nil:
		return textValue(canaryText(8, b.salt)), nil
	}
	return nil, errNoInstance
}

func (b *builder) number(s *shape) (*value, error) {
	grain := s.grain()
	if grain.Cmp(big.NewRat(1, 1000)) < 0 {
		grain = big.NewRat(1, 100)
	}
	start := ratOf(int64(7 + b.salt))
	if b.choose != nil {
		start = ratOf(int64(b.choose(1 << 16)))
	}
	candidates := []*big.Rat{ceilTo(start, grain)}
	if s.lo != nil {
		candidates = append(candidates, ceilTo(s.lo, grain), new(big.Rat).Add(ceilTo(s.lo, grain), new(big.Rat).Mul(grain, ratOf(int64(1+b.salt)))))
	}
	if s.hi != nil {
		candidates = append(candidates, floorTo(s.hi, grain), new(big.Rat).Sub(floorTo(s.hi, grain), new(big.Rat).Mul(grain, ratOf(int64(1+b.salt)))))
	}
	if s.lo != nil && s.hi != nil {
		mid := new(big.Rat).Mul(new(big.Rat).Add(s.lo, s.hi), big.NewRat(1, 2))
		candidates = append(candidates, mid)
	}
	for _, r := range append(candidates, ratOf(0)) {
		if s.inside(r) {
			return numberValue(spell(r)), nil
		}
	}
	return nil, errNoInstance
}

func (b *builder) array(s *shape, depth int) (*value, error) {
	n := s.minItems
	if b.size == largest || b.choose != nil {
		most := 2
		if s.maxItems >= 0 {
			most = min(most, s.maxItems)
		}
		if s.itemsClosed {
			most = min(most, len(s.prefix))
		}
		n = max(n, most)
		if b.choose != nil && n > s.minItems {
			n = s.minItems + b.choose(n-s.minItems+1)
		}
	}
	least := max(s.minItems, s.counted())
	n = max(n, least)
	out := arrayValue()
	for i := range n {
		elem, err := b.element(s, i, depth)
		if err != nil && i >= least && errors.Is(err, errNoInstance) {
			break // nested as deep as is wanted
		}
		if err != nil {
			return nil, err
		}
		out.elems = append(out.elems, elem)
	}
	return out, nil
}

// counted is how many elements must be of the kind that the array contains: the first ones, in what is built here.
func (s *shape) counted() int {
	if s.contains == nil || s.minContains == 0 {
		return 0
	}
	return max(1, s.minContains)
}

// elementParts are the schemas that speak of the element i.
func (s *shape) elementParts(i int) []part {
	var ps []part
	switch {
	case i < len(s.prefix):
		ps = slices.Clone(s.prefix[i])
	default:
		ps = slices.Clone(s.items)
	}
	if len(ps) == 0 && s.contains == nil {
		return []part{{schema: rawValue("true")}}
	}
	if i < s.counted() {
		ps = append(ps, s.contains...)
	}
	return ps
}

func (b *builder) element(s *shape, i, depth int) (*value, error) {
	sub := *b
	sub.salt = b.salt + i*31
	if s.unique {
		sub.salt = b.salt + i
	}
	return sub.within(s.elementParts(i), depth-1)
}

func (b *builder) object(s *shape, depth int) (*value, error) {
	out := objectValue()
	for _, p := range s.props {
		needed := slices.Contains(s.required, p.name)
		if slices.Contains(s.excludedMembers, p.name) || !needed && !b.optional(s, out, p.name) {
			continue
		}
		elem, err := b.within(p.parts, depth-1)
		if err != nil {
			if !needed && errors.Is(err, errNoInstance) {
				continue
			}
			return nil, err
		}
		out.names, out.elems = append(out.names, p.name), append(out.elems, elem)
	}
	for _, name := range s.required {
		if out.index(name) < 0 {
			if err := b.further(s, out, name, depth); err != nil {
				return nil, err
			}
		}
	}
	if err := b.completed(s, out, depth); err != nil {
		return nil, err
	}
	return out, nil
}

// optional decides whether a member that may be missing is there.
func (b *builder) optional(s *shape, out *value, name string) bool {
	if s.maxProps >= 0 && s.together(out, name) > s.maxProps {
		return false
	}
	if b.choose != nil {
		return b.choose(2) == 1
	}
	return b.size == largest
}

// completed adds the members that others need, and as many as there must be.
func (b *builder) completed(s *shape, out *value, depth int) error {
	if err := b.neededToo(s, out, depth); err != nil {
		return err
	}
	for _, p := range s.props {
		if len(out.names) >= s.minProps {
			break
		}
		if out.index(p.name) >= 0 || slices.Contains(s.excludedMembers, p.name) || s.maxProps >= 0 && s.together(out, p.name) > s.maxProps {
			continue
		}
		if err := b.further(s, out, p.name, depth); err != nil {
			return err
		}
		if err := b.neededToo(s, out, depth); err != nil {
			return err
		}
	}
	want := s.minProps
	if (b.size == largest || b.choose != nil) && (s.extra != nil || s.byPattern != nil) {
		want = max(want, min(2, lowerOr(s.maxProps, 2)))
	}
	for i := 0; len(out.names) < want; i++ {
		name, err := b.name(s, i)
		if err != nil {
			return err
		}
		if out.index(name) >= 0 {
			if i > want+8 {
				return errNoInstance
			}
			continue
		}
		if err := b.further(s, out, name, depth); err != nil {
			if len(out.names) >= s.minProps && errors.Is(err, errNoInstance) {
				break
			}
			return err
		}
	}
	return nil
}

// neededToo adds the members that those which are there need.
func (b *builder) neededToo(s *shape, out *value, depth int) error {
	for again := true; again; {
		again = false
		for _, d := range s.needs {
			if out.index(d.name) < 0 {
				continue
			}
			for _, name := range d.need {
				if out.index(name) < 0 {
					if err := b.further(s, out, name, depth); err != nil {
						return err
					}
					again = true
				}
			}
		}
	}
	return nil
}

// together is how many members there are with one more and all that it needs.
func (s *shape) together(v *value, name string) int {
	names := append(slices.Clone(v.names), name)
	for i := len(v.names); i < len(names); i++ {
		for _, d := range s.needs {
			for _, need := range d.need {
				if d.name == names[i] && !slices.Contains(names, need) {
					names = append(names, need)
				}
			}
		}
	}
	return len(names)
}

func lowerOr(n, otherwise int) int {
	if n < 0 {
		return otherwise
	}
	return n
}

// further adds a member by its name.
func (b *builder) further(s *shape, out *value, name string, depth int) error {
	elem, err := b.within(s.memberParts(name), depth-1)
	if err != nil {
		return err
	}
	out.names, out.elems = append(out.names, name), append(out.elems, elem)
	return nil
}

// memberParts are the schemas that speak of a member.
func (s *shape) memberParts(name string) []part {
	var ps []part
	if p := s.prop(name); p != nil {
		ps = append(ps, p.parts...)
	}
	for _, p := range s.byPattern {
		if a, err := newAutomaton(p.pattern); err == nil && a.matches(name) {
			ps = append(ps, p.parts...)
		}
	}
	if len(ps) == 0 {
		ps = append(ps, s.extra...)
	}
	if len(ps) == 0 {
		ps = []part{{schema: rawValue(`true`)}}
	}
	return ps
}

// name makes a key of a map.
func (b *builder) name(s *shape, i int) (string, error) {
	switch {
	case len(s.nameParts) > 0:
		sub := *b
		sub.salt = b.salt + i
		v, err := sub.within(s.nameParts, maxNesting)
		if err != nil {
			return "", err
		}
		return v.text, nil
	case len(s.byPattern) > 0 && s.extra == nil:
		a, err := newAutomaton(s.byPattern[0].pattern)
		if err != nil {
			return "", err
		}
		return a.shortest(newBounds(0, 64), i)
	}
	return "key_" + strconv.Itoa(i+1), nil
}
