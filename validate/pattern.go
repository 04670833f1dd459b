package validate

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// pattern is a regular expression of the part that RE2 and ECMA-262 read alike.
type pattern struct {
	source string
	loops  segments // nil: of another kind
	fast   *automaton
	max    int // the longest match in code points of an anchored pattern; unset: no bound
}

func (p *pattern) match(text []byte) bool { return p.fast.match(text) }

// compilePattern refuses what the two dialects read differently, so that every reader of the schema means the same, and
// what would need too large a table: every pattern takes time linear in the text, and none of it to build at call time.
func compilePattern(source string) (*pattern, error) {
	if err := commonDialect(source); err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, errors.New("not a regular expression of RE2")
	}
	narrow(tree)
	fast := newAutomaton(tree)
	if fast == nil {
		return nil, errors.New("needs too many states; use smaller bounds, or fewer choices")
	}
	return &pattern{source: source, loops: newSegments(tree), fast: fast, max: longest(tree)}, nil
}

// narrow gives the dot what both dialects let it match: RE2 leaves out the line feed alone, ECMA-262 every line
// terminator. Where they disagree about a text, it is refused.
func narrow(tree *syntax.Regexp) {
	if tree.Op == syntax.OpAnyCharNotNL {
		*tree = syntax.Regexp{Op: syntax.OpCharClass, Rune: []rune{
			0, '\n' - 1, '\n' + 1, '\r' - 1, '\r' + 1, 0x2028 - 1, 0x2029 + 1, utf8.MaxRune,
		}}
	}
	for _, sub := range tree.Sub {
		narrow(sub)
	}
}

// commonDialect looks for constructs that only one dialect has or that mean another thing in the other.
func commonDialect(source string) error {
	inClass := false
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case c == '\\':
			i++
			if i == len(source) {
				return errors.New("a backslash at the end")
			}
			n, err := commonEscape(source[i:], inClass)
			if err != nil {
				return err
			}
			i += n - 1
		case inClass:
			if c == ']' {
				inClass = false
			}
			if strings.HasPrefix(source[i:], "[:") {
				return errors.New("[[:name:]] is not read alike by ECMA-262; write the characters")
			}
		case c == '[':
			inClass = true
			if strings.HasPrefix(source[i+1:], "]") || strings.HasPrefix(source[i+1:], "^]") {
				return errors.New("an empty class is not read alike by RE2 and ECMA-262; escape the bracket")
			}
		case c == ']' || c == '}':
			return errors.New("a bracket that closes nothing is not read alike by RE2 and ECMA-262; escape it")
		case c == '{':
			end := quantifier(source[i:])
			if end == 0 {
				return errors.New("a brace that is no {m}, {m,} or {m,n} is not read alike by RE2 and ECMA-262; escape it")
			}
			i += end - 1
		case strings.HasPrefix(source[i:], "(?") && !strings.HasPrefix(source[i:], "(?:"):
			return errors.New("(?…) other than (?:…) is not read alike by RE2 and ECMA-262")
		}
	}
	return nil
}

// quantifier returns the length of the {m}, {m,} or {m,n} that s begins with, 0 where it does not.
func quantifier(s string) int {
	i, digits, comma := 1, 0, false
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == ',' && digits > 0 && !comma:
			comma = true
		case c == '}' && digits > 0:
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// commonEscape returns the length of what follows a backslash.
func commonEscape(rest string, inClass bool) (int, error) {
	switch c := rest[0]; {
	case strings.IndexByte(`dDwWtnrfv.*+?()[]{}|^$/\`, c) >= 0, c == '-' && inClass:
		return 1, nil
	case c == 'b' || c == 'B':
		return 0, errors.New(`\b is not read alike by RE2 and ECMA-262 inside classes; write the characters`)
	case c == 'x' && len(rest) >= 3 && hexDigit(rest[1]) && hexDigit(rest[2]):
		return 3, nil
	case c == 'p' || c == 'P':
		return unicodeEscape(rest)
	case c == 's' || c == 'S':
		return 0, errors.New(`\s means other characters in RE2 than in ECMA-262; write them`)
	}
	return 0, fmt.Errorf(`the escape \%c is not read alike by RE2 and ECMA-262`, rest[0])
}

// unicodeEscape admits \p{L} and the other general categories in short form, which both dialects have.
func unicodeEscape(rest string) (int, error) {
	end := strings.IndexByte(rest, '}')
	if len(rest) < 2 || rest[1] != '{' || end < 0 || len(rest[2:end]) > 2 {
		return 0, errors.New(`only \p{…} with a general category in short form is read alike by RE2 and ECMA-262`)
	}
	return end + 1, nil
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
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
