package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	jsonv1 "encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcontract/toolcontract/redact"
)

func ExampleCanary() {
	c, _ := redact.NewCanary("Zq7-canary-Kx9")
	for _, trace := range c.Search([]byte(`{"cause":"dial: WnE3LWNhbmFyeS1LeDk=","cut":"Zq7-can..."}`)) {
		fmt.Println(trace)
	}
	// Output:
	// whole, base64, at byte 16
	// 7 code points, raw, at byte 45
}

// encodings are the forms in which a text can leave, none of them known to the search.
var encodings = map[string]func(string) string{
	"raw": func(s string) string { return s },
	"JSON": func(s string) string {
		b, _ := jsonv1.Marshal(s)
		return string(b)
	},
	"JSON, all escaped": func(s string) string {
		var b strings.Builder
		for _, u := range s {
			if u > 0xffff {
				hi, lo := (u-0x10000)>>10+0xd800, (u-0x10000)&0x3ff+0xdc00
				fmt.Fprintf(&b, `\u%04x\u%04X`, hi, lo)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, u)
		}
		return b.String()
	},
	"Go":                strconv.Quote,
	"Go, ASCII":         strconv.QuoteToASCII,
	"Go, bytes escaped": func(s string) string { return `\x` + strings.Join(pairs(hex.EncodeToString([]byte(s))), `\x`) },
	"path":              url.PathEscape,
	"query":             url.QueryEscape,
	"percent, all": func(s string) string {
		return "%" + strings.Join(pairs(strings.ToUpper(hex.EncodeToString([]byte(s)))), "%")
	},
	"base64":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 url":   func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 +1":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x" + s + "yy")) },
	"base64 +2":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte("xx" + s + "y")) },
	"base64 cut":   func(s string) string { return base64.StdEncoding.EncodeToString([]byte("abc" + s))[1:] },
	"base64 path":  func(s string) string { return "a/b1/" + base64.StdEncoding.EncodeToString([]byte(s)) },
	"hex":          func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":          func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"hex odd":      func(s string) string { return "f" + hex.EncodeToString([]byte(s)) + "a" },
	"hex spaced":   func(s string) string { return fmt.Sprintf("% x", s) },
	"hex coloned":  func(s string) string { return strings.Join(pairs(hex.EncodeToString([]byte(s))), ":") },
	"hex of Go":    func(s string) string { return fmt.Sprintf("%#v", []byte(s)) },
	"hex # spaced": func(s string) string { return fmt.Sprintf("%# x", s) },
	"decimal":      func(s string) string { return fmt.Sprintf("%v", []byte(s)) },
	"JSON array": func(s string) string {
		return strings.ReplaceAll(fmt.Sprintf("%v", []byte(s)), " ", ",")
	},
}

func pairs(s string) []string {
	var out []string
	for ; s != ""; s = s[2:] {
		out = append(out, s[:2])
	}
	return out
}

func search(t require.TestingT, value, text string) []redact.Trace {
	c, err := redact.NewCanary(value)
	require.NoError(t, err)
	return c.Search([]byte(text))
}

func TestCanaryIsFoundInEveryForm(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"Zq7-canary-Kx9", `q"u\o/t e+d%20=&<b>`, "Zoë Čapek 東京都", "👩🏽🚒🦀🦞🐙🦑"} {
		for name, encode := range encodings {
			t.Run(name+" of "+value, func(t *testing.T) {
				t.Parallel()
				for _, around := range []string{"%s", `{"a":"before, %s after"}`, "x=%s;", "%s\n%[1]s"} {
					text := fmt.Sprintf(around, encode(value))
					traces := search(t, value, text)
					require.NotEmpty(t, traces, "%s", text)
					require.True(t, traces[0].Whole, "%v in %s", traces, text)
				}
			})
		}
	}
}

func TestCanaryIsFoundInFragments(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"Zq7-canary-Kx9", "Zoë Čapek 東京都", "👩🏽🚒🦀🦞🐙🦑🐢"} {
		runes := []rune(value)
		for name, encode := range encodings {
			t.Run(name+" of "+value, func(t *testing.T) {
				t.Parallel()
				for from := range len(runes) - redact.FragmentRunes + 1 {
					piece := string(runes[from : from+redact.FragmentRunes])
					traces := search(t, value, "<"+encode(piece)+">")
					require.NotEmpty(t, traces, "%s", encode(piece))
					require.GreaterOrEqual(t, traces[0].Runes, redact.FragmentRunes)
					require.False(t, traces[0].Whole)
				}
			})
		}
	}
}

func TestCanaryIsFoundInEncodingsOfEncodings(t *testing.T) {
	t.Parallel()
	value := "Zq7-canary-Kx9"
	for outer, encode := range encodings {
		for inner, within := range encodings {
			if strings.HasPrefix(inner, "decimal") && strings.HasPrefix(outer, "decimal") {
				continue
			}
			text := `{"cause":` + encode(`"`+within(value)+`"`) + "}"
			traces := search(t, value, text)
			require.NotEmpty(t, traces, "%s of %s: %s", outer, inner, text)
			require.True(t, traces[0].Whole, "%s of %s: %s", outer, inner, text)
		}
	}
}

func TestCanaryIsNotFoundInCleanText(t *testing.T) {
	t.Parallel()
	value := "Zq7-canary-Kx9"
	for name, encode := range encodings {
		for _, text := range []string{"", "canap", "q7-caZq7-c-Kx9", "a kanary in a mine", strings.Repeat("Zq7-c", 20), "%zz \\u12 \\x 0x0x 300 999"} {
			require.Empty(t, search(t, value, encode(text)), "%s of %s", name, text)
		}
	}
	for _, apart := range []string{"xxxxWnE3;LWNhxxxx", "0000005a7137;2d6361000000", "[90 113 55] ; [45 99 97]", "5a 71 37 ; 2d 63 61"} {
		require.Empty(t, search(t, value, apart), "two runs are not one text: %s", apart)
	}
	require.Empty(t, search(t, "abcdeé", "abcdeè"), "half of a code point is not the code point")
	require.Empty(t, search(t, "čšžřďť", "čšžxyz"), "six bytes are not six code points")
	require.Empty(t, redact.Canary{}.Search([]byte(value)), "the zero value finds nothing")
}

func TestCanaryTellsWhere(t *testing.T) {
	t.Parallel()
	value := "Zq7-canary-Kx9"
	for _, c := range []struct{ text, says string }{
		{"ab " + value, "whole, raw, at byte 3"},
		{"ab\\n " + value, "whole, raw, at byte 5"},
		{`ab "Zq7\u002dcanary-Kx9"`, "whole, escaped, at byte 4"},
		{"ab %5Aq7-canary-Kx9", "whole, percent, at byte 3"},
		{"id=" + encodings["hex"](value), "whole, hex, at byte 3"},
		{"ab [" + encodings["base64"](`{"a":"\u005aq7-canary-Kx9"}`) + "]", "whole, escaped in base64, at byte 12"},
		{"ab ary-Kx9", "7 code points, raw, at byte 3"},
	} {
		traces := search(t, value, c.text)
		require.NotEmpty(t, traces, c.text)
		require.Equal(t, c.says, traces[0].String())
		for _, other := range traces[1:] {
			require.NotEqual(t, traces[0].Offset, other.Offset, "once, in its simplest form: %v", traces)
		}
	}
}

func TestCanaryHidesItself(t *testing.T) {
	t.Parallel()
	c, err := redact.NewCanary(canary)
	require.NoError(t, err)
	for _, v := range []any{c, &c, struct{ c redact.Canary }{c}, c.Search([]byte(canary))} {
		for how, text := range shownBy(t, v) {
			require.Empty(t, c.Search([]byte(text)), how)
		}
	}
	require.NotEmpty(t, c.Search([]byte(fmt.Sprint(canary))), "the control")
}

func TestCanaryMustBeSearchable(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"", "short", "čšžřď", "invalid\xff"} {
		_, err := redact.NewCanary(value)
		require.ErrorIs(t, err, redact.ErrCanary, value)
	}
	_, err := redact.NewCanary("čšžřďť")
	require.NoError(t, err, "six code points suffice, whatever their bytes")
}

func TestCanaryInAnyText(t *testing.T) {
	t.Parallel()
	names := make([]string, 0, len(encodings))
	for name := range encodings {
		names = append(names, name)
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ019 -_/+=%\\\"'é漢🦀")), 8, 30, -1).Draw(t, "value")
		noise := rapid.StringOfN(rapid.RuneFrom([]rune(",;{}()!? ")), 0, 20, -1)
		encode := encodings[rapid.SampledFrom(names).Draw(t, "encoding")]
		text := noise.Draw(t, "before") + "|" + encode(value) + "|" + noise.Draw(t, "after")
		traces := search(t, value, text)
		require.NotEmpty(t, traces, "%s", text)
	})
}

func FuzzCanary(f *testing.F) {
	f.Add("Zq7-canary-Kx9", `{"a":"\u005aq7-canary-Kx9","b":"WnE3LWNhbmFyeS1LeDk="}`)
	f.Add("čšžřďť", "%C4%8D%C5 0x41, 0x42 [90 113 55]\\ud83d\\")
	f.Fuzz(func(t *testing.T, value, text string) {
		if len(text) > 4096 {
			t.Skip()
		}
		c, err := redact.NewCanary(value)
		if err != nil {
			require.ErrorIs(t, err, redact.ErrCanary)
			return
		}
		traces := c.Search([]byte(text))
		for _, trace := range traces {
			require.GreaterOrEqual(t, trace.Runes, redact.FragmentRunes)
			require.Less(t, trace.Offset, len(text))
		}
		require.Equal(t, strings.Contains(text, value), len(traces) > 0 && containsRaw(traces), "raw, whole")
		require.NotEmpty(t, c.Search([]byte(html.EscapeString("<")+text+value)))
	})
}

func containsRaw(traces []redact.Trace) bool {
	for _, t := range traces {
		if t.Whole && t.Form == "raw" {
			return true
		}
	}
	return false
}
