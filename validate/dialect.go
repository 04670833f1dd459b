package validate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// commonDialect refuses constructs that only one of RE2 (as Go reads it) and ECMA-262 (section 22.2, with the flag u, as
// JSON Schema core 6.4 asks) has, or that mean another thing in the other. What both refuse is left to the parser. It
// returns the pattern as RE2 has to be given it: with the dot spelt out.
func commonDialect(source string) (string, error) {
	d := dialect{rest: source}
	for d.rest != "" {
		if err := d.term(); err != nil {
			return "", err
		}
	}
	return d.read.String(), nil
}

// dot is what both dialects let the dot match: RE2 leaves out the line feed alone, ECMA-262 every line terminator. Where
// they disagree about a text, it is refused.
const dot = `[^\n\r\x{2028}\x{2029}]`

// dialect reads a pattern from left to right.
type dialect struct {
	rest      string
	read      strings.Builder
	assertion bool // what was read last is ^ or $, which ECMA-262 does not let be repeated
}

// skip goes on by n bytes, which stay as they are.
func (d *dialect) skip(n int) {
	d.read.WriteString(d.rest[:n])
	d.rest = d.rest[n:]
}

// term reads one step: a group's bracket, an assertion, an atom or a quantifier.
func (d *dialect) term() error {
	c := d.rest[0]
	if strings.IndexByte("*+?{", c) >= 0 {
		return d.quantifier()
	}
	d.assertion = c == '^' || c == '$'
	switch {
	case c == '\\':
		_, err := d.escape(false)
		return err
	case c == '[':
		return d.class()
	case c == '.':
		d.read.WriteString(dot)
		d.rest = d.rest[1:]
		return nil
	case c == ']' || c == '}':
		return errors.New("a bracket that closes nothing is not read alike by RE2 and ECMA-262; escape it")
	case strings.HasPrefix(d.rest, "(?:"):
		d.skip(len("(?:"))
		return nil
	case strings.HasPrefix(d.rest, "(?"):
		return errors.New("(?…) other than (?:…) is not read alike by RE2 and ECMA-262")
	}
	_, n := utf8.DecodeRuneInString(d.rest)
	d.skip(n)
	return nil
}

// quantifier reads *, +, ? or {m}, {m,}, {m,n}; the ? after it that makes it lazy is read as another one.
func (d *dialect) quantifier() error {
	if d.assertion {
		return errors.New("^ and $ cannot be repeated in ECMA-262")
	}
	if d.rest[0] != '{' {
		d.skip(1)
		return nil
	}
	n := braces(d.rest)
	if n == 0 {
		return errors.New("a brace that is no {m}, {m,} or {m,n} of numbers without leading zeros is not read alike by RE2 and ECMA-262; escape it")
	}
	d.skip(n)
	return nil
}

// braces returns the length of the {m}, {m,} or {m,n} that s begins with, 0 where it does not. RE2 takes a number with
// leading zeros, and so the braces, for text.
func braces(s string) int {
	body, _, closed := strings.Cut(s[1:], "}")
	low, high, bounds := strings.Cut(body, ",")
	if !closed || !plainCount(low) || bounds && high != "" && !plainCount(high) {
		return 0
	}
	return len(body) + 2
}

func plainCount(s string) bool { return allDigits([]byte(s)) && (s[0] != '0' || s == "0") }

// class reads [...]. A range has a single character at both ends: RE2 takes the hyphen beside \d for itself, ECMA-262
// refuses it.
func (d *dialect) class() error {
	d.skip(1)
	if strings.HasPrefix(d.rest, "^") {
		d.skip(1)
	}
	if strings.HasPrefix(d.rest, "]") {
		return errors.New("an empty class is not read alike by RE2 and ECMA-262; escape the bracket")
	}
	for d.rest != "" && d.rest[0] != ']' {
		set, err := d.classAtom()
		if err != nil {
			return err
		}
		if !strings.HasPrefix(d.rest, "-") || strings.HasPrefix(d.rest, "-]") {
			continue
		}
		d.skip(1)
		upper := false
		if d.rest != "" {
			upper, err = d.classAtom()
		}
		if err != nil {
			return err
		}
		if set || upper {
			return errors.New("a range from or to a class such as \\d is not read alike by RE2 and ECMA-262; put the hyphen last")
		}
	}
	if d.rest != "" {
		d.skip(1)
	}
	return nil
}

// classAtom reads one character of a class, or an escape that stands for many.
func (d *dialect) classAtom() (set bool, err error) {
	switch {
	case d.rest[0] == '\\':
		return d.escape(true)
	case strings.HasPrefix(d.rest, "[:"):
		return false, errors.New("[[:name:]] is not read alike by ECMA-262; write the characters")
	}
	_, n := utf8.DecodeRuneInString(d.rest)
	d.skip(n)
	return false, nil
}

// escape reads a backslash and what belongs to it, and reports whether it stands for more than one character.
func (d *dialect) escape(inClass bool) (set bool, err error) {
	d.skip(1)
	if d.rest == "" {
		return false, errors.New("a backslash at the end")
	}
	switch c := d.rest[0]; {
	case strings.IndexByte(`dDwW`, c) >= 0:
		set = true
		d.skip(1)
	case strings.IndexByte(`tnrfv.*+?()[]{}|^$/\`, c) >= 0, c == '-' && inClass:
		d.skip(1)
	case c == 'x' && len(d.rest) >= 3 && hexDigit(d.rest[1]) && hexDigit(d.rest[2]):
		d.skip(3)
	case c == 'p' || c == 'P':
		n := category(d.rest)
		if n == 0 {
			return false, errors.New(`only \p{…} with the short name of a general category, as in \p{Lu}, is read alike by RE2 and ECMA-262`)
		}
		set = true
		d.skip(n)
	case c == 'b' || c == 'B':
		return false, errors.New(`\b is not read alike by RE2 and ECMA-262 inside classes; write the characters`)
	case c == 's' || c == 'S':
		return false, errors.New(`\s means other characters in RE2 than in ECMA-262; write them`)
	default:
		return false, fmt.Errorf(`the escape \%c is not read alike by RE2 and ECMA-262`, c)
	}
	return set, nil
}

// category returns the length of p{…} with the short name of a general category. RE2 reads other spellings of them too
// (\p{lu}, \p{^L}, \p{Letter}) and scripts without their "Script=". C and Cn are left out: what is not assigned is
// another set in every version of Unicode.
func category(rest string) int {
	name, _, closed := strings.Cut(rest[1:], "}")
	name, opened := strings.CutPrefix(name, "{")
	if !closed || !opened {
		return 0
	}
	switch name {
	case "L", "LC", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No",
		"P", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cs":
		return len("p{}") + len(name)
	}
	return 0
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
