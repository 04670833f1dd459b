package validate

import "math/big"

// satisfiable refuses what no value can satisfy: a tool that admits nothing at a place is a mistake of its author, and
// one that lists a value which is refused tells a model to send it.
func (l *linter) satisfiable(n *node) {
	for _, v := range n.admitted() {
		if len(explain(n, v)) > 0 {
			l.fail(n, "enum, const: a value does not obey the schema that it stands in")
			break
		}
	}
	l.lengths(n)
	l.counts(n)
	if why := n.numbers(); why != "" {
		l.fail(n, "%s", why)
	}
	if n.propertyNames != nil && n.propertyNames.types != 0 && !n.propertyNames.types.has(stringType) {
		l.fail(n, "propertyNames: a name is a string, and no string obeys this")
	}
}

// lengths holds the bounds of a text against one another, its pattern and its format.
func (l *linter) lengths(n *node) {
	least, most := n.format.lengths()
	shortest, longest := max(n.minLength, least), most
	if n.maxLength >= 0 && (longest < 0 || n.maxLength < longest) {
		longest = n.maxLength
	}
	if n.pattern != nil {
		shortest = max(shortest, n.pattern.min)
		if n.pattern.max >= 0 && (longest < 0 || n.pattern.max < longest) {
			longest = n.pattern.max
		}
	}
	if longest >= 0 && shortest > longest {
		l.fail(n, "minLength, maxLength, pattern, format: no text is long and short enough")
	}
}

func (l *linter) counts(n *node) {
	above := func(least, most int) bool { return most >= 0 && least > most }
	items := n.maxItems
	if refuses(n.items) && (items < 0 || len(n.prefix) < items) {
		items = len(n.prefix)
	}
	if above(n.minItems, items) {
		l.fail(n, "minItems is above what maxItems and items admit: nothing can satisfy both")
	}
	members := n.maxProperties
	if refuses(n.additional) && len(n.patterns) == 0 && (members < 0 || len(n.properties) < members) {
		members = len(n.properties)
	}
	if above(max(n.minProperties, len(n.required)), members) {
		l.fail(n, "minProperties, or what is required, is above what maxProperties and additionalProperties admit: nothing can satisfy both")
	}
	if n.contains == nil {
		return
	}
	found := n.minContains
	if found < 0 {
		found = 1
	}
	if above(found, n.maxContains) || above(found, items) {
		l.fail(n, "minContains is above what maxContains and maxItems admit: nothing can satisfy both")
	}
}

// numbers says why no number lies within the bounds, "" where one does.
func (n *node) numbers() string {
	low, high := n.interval()
	if low == nil || high == nil {
		return ""
	}
	step := n.step()
	if step == nil {
		if c := low.at.Cmp(high.at); c > 0 || c == 0 && (low.open || high.open) {
			return "minimum is above maximum: nothing can satisfy both"
		}
		return ""
	}
	if low.next(step).Cmp(high.next(step)) > 0 {
		return "no whole number, or no multiple of multipleOf, lies between minimum and maximum"
	}
	return ""
}

// limit is one end of an interval of numbers.
type limit struct {
	at   *big.Rat
	open bool // at itself lies outside
	sign int  // 1: the lower end, -1: the upper end
}

// interval returns the tighter of the bounds at both ends, nil where there is none.
func (n *node) interval() (low, high *limit) {
	return tighter(n.minimum, n.exclusiveMinimum, 1), tighter(n.maximum, n.exclusiveMaximum, -1)
}

func tighter(closed, open *bound, sign int) *limit {
	switch {
	case closed == nil && open == nil:
		return nil
	case open == nil, closed != nil && sign*closed.compare(open.decimal) > 0:
		return &limit{closed.rat(), false, sign}
	}
	return &limit{open.rat(), true, sign}
}

// rat returns the number exactly; its exponent is within the limits of schema documents.
func (b *bound) rat() *big.Rat {
	r, _ := new(big.Rat).SetString(string(b.raw))
	return r
}

// step returns what every number that n admits is a multiple of, nil where there is nothing.
func (n *node) step() *big.Rat {
	whole := n.types.has(integerType) && !n.types.has(numberType)
	switch one := big.NewRat(1, 1); {
	case n.multipleOf == nil && !whole:
		return nil
	case n.multipleOf == nil:
		return one
	case !whole:
		return n.multipleOf.rat()
	default: // a multiple of both: p/q in lowest terms and 1 share the multiples of p
		return new(big.Rat).SetInt(n.multipleOf.rat().Num())
	}
}

// next returns the multiple of step that lies within, nearest to the end.
func (m *limit) next(step *big.Rat) *big.Rat {
	q := new(big.Rat).Quo(m.at, step)
	if m.sign < 0 {
		q.Neg(q)
	}
	k := ceiling(q)
	if m.open && new(big.Rat).SetInt(k).Cmp(q) == 0 {
		k.Add(k, big.NewInt(1))
	}
	if m.sign < 0 {
		k.Neg(k)
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(k), step)
}

func ceiling(q *big.Rat) *big.Int {
	k, rest := new(big.Int).DivMod(q.Num(), q.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		k.Add(k, big.NewInt(1))
	}
	return k
}
