package validate_test

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/validate"
)

// wide are limits that short documents cannot exceed, so that the grammar alone decides.
func wide() validate.Limits {
	return validate.Limits{Bytes: 1 << 20, Depth: 1 << 10, Members: 1 << 10, Items: 1 << 16, StringBytes: 1 << 16, NumberDigits: 1 << 10, Exponent: 1 << 30}
}

// sameGrammar asks the scan, the slower pass and the standard library. The scan may leave a valid document to the
// slower pass; it may never accept more than it.
func sameGrammar(t *testing.T, doc []byte) {
	t.Helper()
	want := jsontext.Value(doc).IsValid()
	scan, reader := validate.ScanParses(doc, wide()), validate.ReaderParses(doc, wide())
	if reader != want || scan && !want || !scan && want && !rare(doc) {
		t.Fatalf("%q: the standard library says %v, the slower pass %v, the scan %v", doc, want, reader, scan)
	}
}

// rare reports what the scan leaves to the slower pass by design: U+0000, escapes in the names of a map, numbers of
// more than 39 significant digits, long exponents, and anything from 1024 bytes on.
func rare(doc []byte) bool {
	if len(doc) >= 1024 {
		return true
	}
	digits := 0
	for i, c := range doc {
		switch {
		case c == '\\':
			return true
		case c >= '0' && c <= '9':
			digits++
			if digits > 4 && i > 5 {
				return true
			}
		}
	}
	return false
}

func TestShortDocumentsExhaustively(t *testing.T) {
	t.Parallel()
	for name, alphabet := range map[string]string{
		"structure": "{}[]\":,0 ",
		"numbers":   "01-.eE+9 ,",
		"names":     "{}\":,a1",
		"strings":   "\"\\un0t/ \x7f\x1f\x20\x00",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			longest := 6
			if len(alphabet) > 8 {
				longest = 5
			}
			doc := make([]byte, 0, longest)
			var extend func()
			extend = func() {
				sameGrammar(t, doc)
				if len(doc) == longest {
					return
				}
				for i := range len(alphabet) {
					doc = append(doc, alphabet[i])
					extend()
					doc = doc[:len(doc)-1]
				}
			}
			extend()
		})
	}
}

func TestLiteralsAndWhiteSpaceExhaustively(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"true", "false", "null"} {
		for cut := range len(word) + 1 {
			for c := range 256 {
				sameGrammar(t, append([]byte(word[:cut]), byte(c)))
				sameGrammar(t, append([]byte{byte(c)}, word[:cut]...))
				sameGrammar(t, fmt.Appendf(nil, "[%s%c]", word[:cut], c))
			}
		}
	}
	for c := range 256 {
		for _, doc := range []string{"\x01[]", "[\x01]", "[1\x01]", "[1,\x01]", "{\x01}", "{\"a\"\x01:1}", "{\"a\":\x01 1}", "{\"a\":1\x01}", "{\"a\":1,\x01\"b\":1}", "[]\x01", "1\x01", "-\x01", "1.\x01", "1e\x01", "0\x01"} {
			b := []byte(doc)
			for i := range b {
				if b[i] == 1 {
					b[i] = byte(c)
				}
			}
			sameGrammar(t, b)
		}
	}
}

func TestStringBytesExhaustively(t *testing.T) {
	t.Parallel()
	edges := []byte{0x00, 0x1f, 0x20, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff, '"', '\\'}
	for a := range 256 {
		sameGrammar(t, []byte{'"', byte(a), '"'})
		for b := range 256 {
			sameGrammar(t, []byte{'"', byte(a), byte(b), '"'})
			sameGrammar(t, []byte{'{', '"', byte(a), byte(b), '"', ':', '1', '}'})
			if a < 0xc0 || !bytes.Contains(edges, []byte{byte(b)}) {
				continue
			}
			for _, c := range edges {
				sameGrammar(t, []byte{'"', byte(a), byte(b), c, '"'})
				for _, d := range edges {
					sameGrammar(t, []byte{'"', byte(a), byte(b), c, d, '"'})
				}
			}
		}
	}
	for r := rune(0x20); r <= utf8.MaxRune; r += 61 {
		sameGrammar(t, []byte(`"`+string(r)+`"`))
	}
}

func TestEscapesExhaustively(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		sameGrammar(t, []byte{'"', '\\', byte(c), '"'})
		sameGrammar(t, []byte{'"', '\\', byte(c)})
		for at := range 4 { // every byte in every place of \u0041
			doc := []byte(`"\u0041"`)
			doc[3+at] = byte(c)
			sameGrammar(t, doc)
		}
	}
	for u := range 0x10000 {
		sameGrammar(t, fmt.Appendf(nil, `"\u%04x"`, u))
		sameGrammar(t, fmt.Appendf(nil, `{"\u%04X":0}`, u))
	}
	edges := []int{0x0000, 0x0022, 0x005c, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xfffd, 0xffff}
	for _, a := range edges {
		for _, b := range edges {
			for _, between := range []string{"", "x", `\\`, `\n`, `\`} {
				sameGrammar(t, fmt.Appendf(nil, `"\u%04x%s\u%04X"`, a, between, b))
			}
			for cut := range 12 {
				sameGrammar(t, fmt.Appendf(nil, `"\u%04x\u%04x`, a, b)[:cut+1])
				sameGrammar(t, append(fmt.Appendf(nil, `"\u%04x\u%04x`, a, b)[:cut+1], '"'))
			}
		}
	}
}

func TestNamesInEverySpellingAreOne(t *testing.T) {
	t.Parallel()
	for r := rune(1); r < 0x3000; r++ {
		if r >= 0xd800 && r < 0xe000 || r == '"' || r == '\\' || r < 0x20 {
			continue
		}
		doc := fmt.Appendf(nil, `{"%c":1,"\u%04x":2}`, r, r)
		require.False(t, validate.ScanParses(doc, wide()))
		require.False(t, validate.ReaderParses(doc, wide()))
		doc = fmt.Appendf(nil, `{"%c":1,"%cx":2}`, r, r)
		require.True(t, validate.ScanParses(doc, wide()))
	}
}

func FuzzParse(f *testing.F) {
	for _, doc := range []string{`{"a":[1,2.5e3,"x\u00e9\ud83d\ude00",null,true,{}]}`, `[[[]]]`, `{"a":1,"\u0061":2}`, "\ufeff{}", `"\ud800"`, `-0.0e-0`, `1e9999999`, `{"":{"":[]}}`} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		want := jsontext.Value(doc).IsValid()
		l := wide()
		l.NumberDigits, l.StringBytes, l.Depth = 1<<20, 1<<20, 1<<20
		if len(doc) > 1<<12 {
			return
		}
		require.Equal(t, want, validate.ReaderParses(doc, l))
		if validate.ScanParses(doc, l) {
			require.True(t, want, "the scan accepts what the standard library refuses")
		}
		if validate.ScanParses(doc, validate.Limits{}) {
			require.True(t, validate.ReaderParses(doc, validate.Limits{}), "the scan overlooks a limit")
		}
	})
}
