package validate

import (
	"errors"
	"regexp/syntax"
)

// pattern is a regular expression of the part that RE2 and ECMA-262 read alike.
type pattern struct {
	source string
	read   string   // as RE2 has to be given it, to mean the same
	loops  segments // nil: of another kind
	fast   *automaton
	max    int // the longest match in code points of an anchored pattern; unset: no bound
	min    int // no text that matches is shorter
}

func (p *pattern) match(text []byte) bool { return p.fast.match(text) }

// compilePattern refuses what the two dialects read differently, so that every reader of the schema means the same, and
// what would need too large a table: every pattern takes time linear in the text, and none of it to build at call time.
func compilePattern(source string) (*pattern, error) {
	read, err := commonDialect(source)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(read, syntax.Perl)
	if err != nil {
		return nil, errors.New("not a regular expression of RE2")
	}
	fast := newAutomaton(tree)
	if fast == nil {
		return nil, errors.New("needs too many states; use smaller bounds, or fewer choices")
	}
	if !fast.matchesAnything() {
		return nil, errors.New("matches no text at all")
	}
	return &pattern{source: source, read: read, loops: newSegments(tree), fast: fast, max: longest(tree), min: least(tree)}, nil
}

// longest returns how many code points a text can have that matches an expression anchored at both ends.
func longest(tree *syntax.Regexp) int {
	if tree.Op != syntax.OpConcat || len(tree.Sub) < 2 || tree.Sub[0].Op != syntax.OpBeginText || tree.Sub[len(tree.Sub)-1].Op != syntax.OpEndText {
		return unset
	}
	return width(tree)
}

// width returns the longest match of an expression, unset where it has no bound.
func width(tree *syntax.Regexp) int {
	switch tree.Op { //nolint:exhaustive // the others are as wide as what they hold
	case syntax.OpLiteral:
		return len(tree.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpStar, syntax.OpPlus:
		return unset
	case syntax.OpRepeat:
		n := width(tree.Sub[0])
		if n < 0 || tree.Max < 0 {
			return unset
		}
		return n * tree.Max
	}
	total := 0
	for _, sub := range tree.Sub {
		n := width(sub)
		if n < 0 {
			return unset
		}
		if tree.Op == syntax.OpAlternate {
			total = max(total, n)
		} else {
			total += n
		}
	}
	return total
}

// least returns the length of the shortest match of an expression, assertions aside.
func least(tree *syntax.Regexp) int {
	switch tree.Op { //nolint:exhaustive // the others are as wide as what they hold
	case syntax.OpLiteral:
		return len(tree.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpStar, syntax.OpQuest:
		return 0
	case syntax.OpRepeat:
		return tree.Min * least(tree.Sub[0])
	}
	total := 0
	for i, sub := range tree.Sub {
		switch n := least(sub); {
		case tree.Op != syntax.OpAlternate:
			total += n
		case i == 0 || n < total:
			total = n
		}
	}
	return total
}
