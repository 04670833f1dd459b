package validate_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

func TestPatternsAgreeWithRegexp(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "a", "A", "AB", "ABC", "ABCD", "abc", "a-b", "a--b", "-a", "0", "007", "A1", "é", "Éa", "京", "京京", "😀", "\n", "a\n", "\na", "a\nb", "a b",
		"\r", "foo-bar", "ord_A1b2C3d4", "aaaaaaaaaaaaaaaaaaaab", "2024-02-29", "x@y.z", "\u2028", "a\r", "\\", "{", "}", "[a]", ".", "..", "ab", "abab", "ababab",
	}
	for _, c := range []struct {
		source string
		loops  bool
	}{
		{"^[A-Z]{3}$", true},
		{"^ord_[A-Za-z0-9]{8}$", true},
		{"^[a-z]+(-[a-z]+)*$", false},
		{"^[a-z]+-[a-z]+$", true},
		{"^[a-z]+[a-c]$", false},
		{"^[a-z]*[0-9]?$", false},
		{"^[a-z]?[0-9]+$", true},
		{"^(ab)+$", false},
		{"^(a|ab)(c|bcd)?$", false},
		{"a", false},
		{"b+", false},
		{"^a", false},
		{"a$", false},
		{"^$", false},
		{"", false},
		{"^\\p{Lu}.*$", false},
		{"^[^a]+$", false},
		{"^.{2}$", false},
		{"^(a|b|ab|京)*$", false},
		{"^\\d{4}-\\d{2}-\\d{2}$", true},
		{"[\\w.]+@\\w", false},
		{"^(a*)*b$", false},
		{"^[\\x41-\\x43]{2,}$", true},
		{"(^a|b$)", false},
		{"^[^\\n]$", false},
		{"$^", false},
		{"^[Aa]$", false},
		{"a|A", false},
		{"b*$^", false},
		{"^a{0}$", true},
	} {
		var have bool
		for _, text := range texts {
			automaton, loops, haveLoops, err := validate.Pattern(c.source, text)
			require.NoError(t, err, c.source)
			re := regexp.MustCompile(narrowed(c.source)).MatchString(text)
			require.Equal(t, re, automaton, "%s on %q", c.source, text)
			if haveLoops {
				require.Equal(t, re, loops, "%s on %q", c.source, text)
			}
			have = haveLoops
		}
		require.Equal(t, c.loops, have, c.source)
	}
}

// narrowed spells the dot out as both dialects read it; the patterns here escape it nowhere but in classes.
func narrowed(source string) string {
	if strings.Contains(source, "[") {
		return source
	}
	return strings.ReplaceAll(source, ".", "[^\\n\\r\u2028\u2029]")
}

func FuzzPattern(f *testing.F) {
	for _, source := range []string{"^[A-Z]{3}$", "(a|b)*c", "^a?b+[^c]$", "x{2,5}", "^(a{1,3}|b)+$", "^[a-f]{2}-[0-9]+$"} {
		f.Add(source, "abc")
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(source) > 60 || len(text) > 200 || !utf8.ValidString(text) {
			return
		}
		automaton, loops, haveLoops, err := validate.Pattern(source, text)
		if err != nil || strings.Contains(source, ".") {
			return
		}
		re := regexp.MustCompile(source).MatchString(text)
		if automaton != re {
			t.Fatalf("%q on %q: the automaton says %v", source, text, automaton)
		}
		if haveLoops && !strings.ContainsAny(text, "\"\\") && loops != re {
			t.Fatalf("%q on %q: the loops say %v", source, text, loops)
		}
	})
}

// TestTheDotMeansWhatBothDialectsMean: ECMA-262 leaves out four line terminators, RE2 one.
func TestTheDotMeansWhatBothDialectsMean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"a": true, "é": true, "\n": false, "\r": false, "\u2028": false, "\u2029": false, "\u0085": true} {
		automaton, _, _, err := validate.Pattern("^.$", text)
		require.NoError(t, err)
		require.Equal(t, want, automaton, "%q", text)
	}
}

func TestPatternsThatTheDialectsReadDifferentlyAreRefused(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`(?i)a`, `(?P<n>a)`, `(?=a)`, `(?!a)`, `(?<=a)`, `a\Z`, `\Aa`, `\ba`, `\s`, `[\s]`, `[[:alpha:]]`, `[]a]`, `[^]a]`, `\Q.\E`, `\pL`, `\p{Greek}`,
		`\u0041`, `\cA`, `\1`, `a**`, `a{1001}`, `(`, `[`, `\`, `\x{41}`, `a\-b`, `a{b`, `a]`,
		`\p{^L}`, `\P{^L}`, `\p{lu}`, `\p{l}`, `\p{ L}`, `\p{_L}`, `\p{Yi}`, `\p{Letter}`, `\p{Any}`, `\p{}`, `\p{`, `\p`, `\p{C}`, `\p{Cn}`, `[\p{lu}]`,
		`^*`, `$*`, `(^*)a`, `^+`, `^?`, `$+?`, `^{2}`, `a|$*`, `[\d-a]`, `[\w-.]`, `[a-\d]`, `[\p{L}-z]`, `[x\D-\W]`, `a{01}`, `a{0,02}`, `a{00}`, `a{1`, `a{,2}`,
	} {
		_, err := validate.Compile([]byte(`{"type":"string","maxLength":9,"pattern":` + string(quote(t, source)) + `}`))
		require.ErrorContains(t, err, "pattern: ", source)
	}
}

func TestPatternsThatNeedTooManyStatesAreRefused(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"(a|b)*a(a|b){12}", "^([a-z]{1,1000}){1,1000}$"} {
		_, _, _, err := validate.Pattern(source, "")
		require.Error(t, err, source)
	}
}

// TestPatternsTakeLinearTime also when they look catastrophic.
func TestPatternsTakeLinearTime(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a", 16_000) + "!"
	for _, source := range []string{"^(a+)+$", "^(a|aa)+$", "^(a*)*$", "(a|a)*b", "^(a?){30}a{30}$", "(a|b)*a(a|b){7}", "^\\\\p{Lu}?\\\\p{L}*$"} {
		s, err := validate.Compile([]byte(`{"type":"string","maxLength":20000,"pattern":"` + source + `"}`))
		require.NoError(t, err, source)
		doc := quote(t, text)
		requireCheap(t, func() { _ = s.Check(doc, validate.Limits{}) }, source)
	}
}
