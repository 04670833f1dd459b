package contracttest

import (
	"regexp"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestStringsMatching(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern  string
		min, max int
		why      string
		every    bool // matches every text
	}{
		{"^[A-Z]{2}$", 0, -1, "a country", false},
		{"^p_[A-Za-z0-9]{4,64}$", 0, -1, "an opaque id", false},
		{"^case_[A-Za-z0-9]{16}$", 0, 64, "a fixed length", false},
		{"^(a|bb|ccc)+$", 0, 4096, "a loop of alternatives to an exact length", false},
		{"^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$", 15, 34, "an IBAN in form", false},
		{"[0-9]", 3, 8, "unanchored", false},
		{"foo", 6, 10, "an unanchored literal", false},
		{"^[^@]+@[^@]+\\.[a-z]{2,6}$", 0, 254, "an address in form", false},
		{"^(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", 0, -1, "a date in form", false},
		{"^\\+?[1-9][0-9]{1,14}$", 0, 32, "a telephone number", false},
		{"^[a-z0-9]+(-[a-z0-9]+)*$", 1, 63, "a slug", false},
		{"^.{0,100}$", 0, 100, "the dot: all but line ends", false},
		{"^\\p{L}[\\p{L} '-]*$", 1, 80, "letters of every script", false},
		{"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}$", 0, -1, "hexadecimal groups", false},
		{"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", 0, 4096, "base64", false},
		{"^$", 0, 10, "only the empty text", false},
		{"x*", 0, 5, "everything", true},
		{"^v[0-9]+\\.[0-9]+\\.[0-9]+$", 0, 20, "a version", false},
	} {
		t.Run(tt.pattern, func(t *testing.T) {
			t.Parallel()
			re := regexp.MustCompile(tt.pattern)
			begin := time.Now()
			short, long, near, err := StringsMatching(tt.pattern, tt.min, tt.max)
			require.NoError(t, err, tt.why)
			require.Less(t, time.Since(begin), 10*time.Second)
			for _, s := range []string{short, long} {
				require.Regexp(t, re, s, tt.why)
				require.GreaterOrEqual(t, utf8.RuneCountInString(s), tt.min)
				require.LessOrEqual(t, utf8.RuneCountInString(s), newBounds(tt.min, tt.max).max)
			}
			require.LessOrEqual(t, len([]rune(short)), len([]rune(long)))
			if tt.every {
				require.Empty(t, near)
				return
			}
			if tt.pattern != "^$" || near != "" {
				require.NotRegexp(t, re, near, tt.why)
			}
		})
	}
}

func TestStringsMatchingReachesExactLengths(t *testing.T) {
	t.Parallel()
	_, long, _, err := StringsMatching("^[a-z]+(_[a-z]+)*$", 4096, 4096)
	require.NoError(t, err)
	require.Len(t, long, 4096)
	_, _, _, err = StringsMatching("^(ab)+$", 7, 7)
	require.ErrorIs(t, err, errNoText, "an odd length is proved empty")
	_, _, _, err = StringsMatching("^[A-Z]{2}$", 3, 10)
	require.ErrorIs(t, err, errNoText)
}

func FuzzStringsMatching(f *testing.F) {
	for _, pattern := range []string{`^(a*)*b$`, `^([a-z]*)*$`, `^(()|(a?)*)+$`, `^(?:a|b)$|c`, `^[A-Z]{2}[0-9]{2}$`, `(|x)*$`} {
		f.Add(pattern, 0, 20)
		f.Add(pattern, 20, 20)
	}
	f.Fuzz(func(t *testing.T, pattern string, least, most int) {
		re, err := regexp.Compile(pattern)
		if err != nil || len(pattern) > 40 || most > 64 || most < 0 {
			return
		}
		short, long, near, err := StringsMatching(pattern, least, most)
		if err != nil {
			return
		}
		require.Regexp(t, re, short)
		require.Regexp(t, re, long)
		if near != "" {
			require.NotRegexp(t, re, near)
		}
	})
}
