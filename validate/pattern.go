package validate

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// pattern is a regular expression of the part that RE2 and ECMA-262 read alike.
type pattern struct {
	source string
	re     *regexp.Regexp
	loops  segments   // nil: of another kind
	fast   *automaton // nil: too large, regexp matches
	max    int        // the longest match in code points of an anchored pattern; unset: no bound
}

func (p *pattern) match(s string) bool { return p.re.MatchString(s) }

func (p *pattern) matchBytes(text []byte) bool {
	if p.fast != nil {
		return p.fast.match(text)
	}
	return p.re.Match(text)
}

// compilePattern refuses what the two dialects read differently, so that every reader of the schema means the same.
func compilePattern(source string) (*pattern, error) {
	if err := commonDialect(source); err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, errors.New("not a regular expression of RE2")
	}
	narrow(tree)
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return nil, errors.New("not a regular expression of RE2")
	}
	return &pattern{source: source, re: re, loops: newSegments(tree), fast: newAutomaton(tree), max: longest(tree)}, nil
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
			if err := commonEscape(source[i:]); err != nil {
				return err
			}
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
		case strings.HasPrefix(source[i:], "(?") && !strings.HasPrefix(source[i:], "(?:"):
			return errors.New("(?…) other than (?:…) is not read alike by RE2 and ECMA-262")
		}
	}
	return nil
}

func commonEscape(rest string) error {
	switch c := rest[0]; {
	case strings.IndexByte(`dDwWtnrfv.*+?()[]{}|^$/\-`, c) >= 0:
		return nil
	case c == 'b' || c == 'B':
		return errors.New(`\b is not read alike by RE2 and ECMA-262 inside classes; write the characters`)
	case c == 'x' && len(rest) >= 3 && hexDigit(rest[1]) && hexDigit(rest[2]):
		return nil
	case c == 'p' || c == 'P':
		return unicodeEscape(rest)
	case c == 's' || c == 'S':
		return errors.New(`\s means other characters in RE2 than in ECMA-262; write them`)
	}
	return fmt.Errorf(`the escape \%c is not read alike by RE2 and ECMA-262`, rest[0])
}

// unicodeEscape admits \p{L} and the other general categories in short form, which both dialects have.
func unicodeEscape(rest string) error {
	end := strings.IndexByte(rest, '}')
	if len(rest) < 2 || rest[1] != '{' || end < 0 || len(rest[2:end]) > 2 {
		return errors.New(`only \p{…} with a general category in short form is read alike by RE2 and ECMA-262`)
	}
	return nil
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
	switch tree.Op {
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
