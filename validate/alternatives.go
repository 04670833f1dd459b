package validate

// side says on which side of a containment a schema stands, and so in which direction it may be simplified.
type side bool

const (
	contained  side = false // may be taken for more than it admits
	containing side = true  // may be taken for less
)

// maxAlternatives bounds how many ways of obeying a schema are told apart.
const maxAlternatives = 64

// shape is one way of obeying a list of schemas: the schemas whose own keywords all hold together, one branch of each
// choice among them.
type shape struct {
	parts  []*node
	label  string  // the kind of a union's branch
	except []*node // branches of a oneOf that must not hold beside the chosen one
}

func (s shape) and(t shape) shape {
	out := shape{label: s.label, parts: append(append([]*node{}, s.parts...), t.parts...), except: append(append([]*node{}, s.except...), t.except...)}
	if out.label == "" {
		out.label = t.label
	}
	return out
}

// alternatives returns the shapes of a list of schemas: of a contained side, each document obeys at least one; of a
// containing side, what obeys one is admitted, and shapes may be missing.
func (c *containment) alternatives(list []*node, on side) []shape {
	out := []shape{{}}
	for _, n := range list {
		out = c.product(out, c.expand(n, on), on)
	}
	return out
}

// product combines the shapes of two schemas. Where there are too many, a contained side forgets the second, and a
// containing one admits nothing.
func (c *containment) product(a, b []shape, on side) []shape {
	if len(a)*len(b) > maxAlternatives {
		if on == containing {
			return nil
		}
		return a
	}
	out := make([]shape, 0, len(a)*len(b))
	for _, s := range a {
		for _, t := range b {
			out = append(out, s.and(t))
		}
	}
	return out
}

func (c *containment) expand(n *node, on side) []shape {
	if known, ok := c.expanded[expansion{n, on}]; ok {
		return known
	}
	out := []shape{{parts: []*node{n}}}
	if n.ref != nil {
		out = c.product(out, c.expand(n.ref, on), on)
	}
	for _, sub := range n.allOf {
		out = c.product(out, c.expand(sub, on), on)
	}
	if n.anyOf != nil {
		var choice []shape
		for _, sub := range n.anyOf {
			choice = append(choice, c.expand(sub, on)...)
		}
		out = c.product(out, choice, on)
	}
	if n.oneOf != nil {
		out = c.product(out, c.exactlyOne(n, on), on)
	}
	for i := range out {
		out[i].parts = append(out[i].parts, c.closers(n, out[i].parts, on)...)
	}
	c.expanded[expansion{n, on}] = out
	return out
}

type expansion struct {
	node *node
	on   side
}

func (c *containment) exactlyOne(n *node, on side) (choice []shape) {
	for i, sub := range n.oneOf {
		for _, s := range c.expand(sub, on) {
			s = s.and(shape{})
			switch {
			case n.union != nil:
				s.label = sub.follow().property(discriminator).constant.text
			case on == containing:
				s.except = append(append(s.except, n.oneOf[:i]...), n.oneOf[i+1:]...)
			}
			choice = append(choice, s)
		}
	}
	return choice
}

// closers says what unevaluatedProperties and unevaluatedItems say as additionalProperties and items of schemas made for
// it. A containing side counts as looked at what the parts of the shape surely look at, a contained one whatever a schema
// for the same value may look at.
func (c *containment) closers(n *node, parts []*node, on side) (out []*node) {
	if on == contained {
		parts = annotations(n)
	}
	if n.unevaluatedProperties != nil {
		if closer := closeMembers(n, parts); closer != nil {
			out = append(out, closer)
		}
	}
	if n.unevaluatedItems != nil {
		if closer := closeItems(n, parts, on); closer != nil {
			out = append(out, closer)
		}
	}
	return out
}

// annotations returns n and the schemas for the same value whose looking counts, whether they hold or not.
func annotations(n *node) []*node {
	list := []*node{n}
	for i := 0; i < len(list) && len(list) <= maxApplied; i++ {
		list = append(list, list[i].annotating()...)
	}
	return list
}

var admitsAll = func() *node { yes := true; n := blank(); n.verdict = &yes; return n }() //nolint:gochecknoglobals // a constant that Go cannot spell as one

func closeMembers(n *node, parts []*node) *node {
	closer := blank()
	closer.index = map[string]int{}
	closer.additional = n.unevaluatedProperties
	for _, p := range parts {
		if p.additional != nil || p != n && p.unevaluatedProperties != nil {
			return nil // every member is looked at
		}
		for _, m := range p.properties {
			if _, twice := closer.index[m.name]; !twice {
				closer.index[m.name] = len(closer.properties)
				closer.properties = append(closer.properties, property{m.name, admitsAll})
			}
		}
		for _, m := range p.patterns {
			closer.patterns = append(closer.patterns, patternProperty{m.pattern, admitsAll})
		}
	}
	return closer
}

func closeItems(n *node, parts []*node, on side) *node {
	closer := blank()
	closer.items = n.unevaluatedItems
	for _, p := range parts {
		if p.items != nil || p != n && p.unevaluatedItems != nil || on == contained && p.contains != nil {
			return nil // every item is, or may be, looked at
		}
		for len(closer.prefix) < len(p.prefix) {
			closer.prefix = append(closer.prefix, admitsAll)
		}
	}
	return closer
}

// blank is a schema that says nothing.
func blank() *node {
	return &node{
		minLength: unset, maxLength: unset, minItems: unset, maxItems: unset,
		minContains: unset, maxContains: unset, minProperties: unset, maxProperties: unset,
	}
}

// typesOf returns the types of values that all the schemas admit; number stands for integer too.
func typesOf(parts []*node) types {
	t := anyType | integerType
	for _, p := range parts {
		if refuses(p) {
			return 0
		}
		if p.types != 0 {
			t &= widen(p.types)
		}
	}
	return t
}

// widen lets number stand for integer too.
func widen(t types) types {
	if t.has(numberType) {
		t |= integerType
	}
	return t
}
