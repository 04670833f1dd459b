package contracttest

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The units that texts of an exact length are made of.
const (
	astral    = "𝛼𝒷" // four bytes and two UTF-16 units a character
	combining = "e\u0301"
)

// texts sends texts at and beyond each bound of a string.
func (g *generator) texts(p place, at int, s *shape) {
	out := g.textsOf(p, s)
	g.apply(p, at, s, func(cur *value) []mutation {
		rs := []rune(cur.text)
		if len(rs) == 0 {
			return out
		}
		nul := string(rs[:len(rs)/2]) + "\x00" + string(rs[len(rs)/2+1:])
		return append(slices.Clip(out), mutation{op: "nul", keyword: "limits", value: textValue(nul), want: invalid("nul", p.field)})
	})
}

// textsOf makes the texts of a place, whatever stands around it.
func (g *generator) textsOf(p place, s *shape) []mutation {
	if w, given := g.builder(smallest).witnessOf(s); given && len(w.invalid) > 0 {
		return g.givenTexts(p, s, w)
	}
	out := g.textLengths(p, s)
	switch {
	case s.format != "":
		out = append(out, g.formatTexts(p, s)...)
	case len(s.patterns) > 0:
		out = append(out, g.patternTexts(p, s)...)
	default:
		out = append(out, freeTexts(s)...)
	}
	if !g.once["string"] {
		g.once["string"] = true
		long := canaryText(g.limits.StringBytes+1, 9)
		out = append(out, mutation{op: "string-over-limit", keyword: "limits", value: textValue(long), want: tooLarge(p.field), form: true})
	}
	return out
}

func (g *generator) givenTexts(p place, s *shape, w witness) (out []mutation) {
	keyword := "pattern"
	if s.format != "" {
		keyword = "format"
	}
	for i, text := range w.valid {
		out = append(out, mutation{op: keyword + "-witness-" + strconv.Itoa(i), keyword: keyword, value: textValue(text)})
	}
	for i, text := range w.invalid {
		out = append(out, mutation{op: keyword + "-counter-" + strconv.Itoa(i), keyword: keyword, value: textValue(text), want: invalid(keyword, p.field), canary: []string{text}})
	}
	return append(out, g.textLengths(p, s)...)
}

// freeTexts are texts that a boundary must hand on as they are.
func freeTexts(s *shape) (out []mutation) {
	fits := func(text string) bool {
		n := utf8.RuneCountInString(text)
		return n >= s.minLen && (s.maxLen < 0 || n <= s.maxLen)
	}
	pad := func(text string) string {
		if n := s.minLen - utf8.RuneCountInString(text); n > 0 {
			return text + canaryText(n, 21)
		}
		return text
	}
	for _, t := range []struct{ op, text string }{
		{"empty", ""},
		{"spaces-kept", " " + canaryText(max(1, s.minLen-2), 11) + " "},
		{"case-kept", pad("aBc")},
		{"composed-kept", pad("\u00e9e\u0301")},
		{"escapes-kept", pad("\"\\/<&>\u2028")},
		{"newline-kept", pad("a\nb")},
		{"digits-kept", pad("007")},
		{"word-kept", pad("null")},
	} {
		if fits(t.text) && (t.op != "spaces-kept" || s.minLen <= utf8.RuneCountInString(t.text)) {
			out = append(out, mutation{op: "text-" + t.op, keyword: "valid", value: textValue(t.text)})
		}
	}
	return out
}

// textLengths are texts of exactly the bound, and one off it.
func (g *generator) textLengths(p place, s *shape) (out []mutation) {
	if s.has("minLength") && s.minLen > 0 {
		out = append(out, g.exact("minLength-exact", "minLength", s, s.minLen)...)
		out = append(out, g.off("minLength-under", "minLength", p, s, lengths{0, s.minLen - 1}, s.minLen-1)...)
	}
	if s.has("maxLength") {
		out = append(out, g.exact("maxLength-exact", "maxLength", s, s.maxLen)...)
		over := lengths{s.maxLen + 1, max(s.maxLen+1, min(s.maxLen+unboundedText, g.limits.StringBytes))}
		out = append(out, g.off("maxLength-over", "maxLength", p, s, over, s.maxLen+1)...)
		if far := s.maxLen*10 + 10; len(s.patterns) == 0 && s.format == "" && far <= g.limits.StringBytes {
			text := canaryText(far, 13)
			out = append(out, mutation{op: "maxLength-far-over", keyword: "maxLength", value: textValue(text), want: invalid("maxLength", p.field), canary: []string{text}})
		}
	}
	return out
}

func (s *shape) has(keyword string) bool {
	for _, r := range s.rules {
		if r.keyword == keyword {
			return true
		}
	}
	return false
}

// exact makes valid texts of n characters: in ASCII, beyond the basic plane, with combining marks.
func (g *generator) exact(op, keyword string, s *shape, n int) (out []mutation) {
	for _, t := range g.ofLength(s, n) {
		out = append(out, mutation{op: joinOp(op, t.how), keyword: keyword, value: textValue(t.text)})
	}
	return out
}

// off makes texts of n characters that only the length is against, or one of a length within l where there are none.
func (g *generator) off(op, keyword string, p place, s *shape, l lengths, n int) (out []mutation) {
	list := g.ofLength(s, n)
	if len(list) == 0 {
		if by := g.lengthIsImplied(s, l); by != "" {
			g.implied(p, keyword, by)
			return nil
		}
		text, err := g.nearest(s, l, n)
		want := invalid(keyword, p.field)
		if long := fraction(s.format, n); err != nil && len(g.c.fitting(s.unbounded(), []string{long})) == 1 {
			text, err, want.Rule = long, nil, "" // a Go type may end before
		}
		if err != nil {
			return nil // which the coverage tells
		}
		return []mutation{{op: op, keyword: keyword, value: textValue(text), want: want, canary: []string{text}}}
	}
	for _, t := range list {
		out = append(out, mutation{op: joinOp(op, t.how), keyword: keyword, value: textValue(t.text), want: invalid(keyword, p.field), canary: []string{t.text}})
	}
	return out
}

// unbounded is the shape without its bounds of length.
func (s *shape) unbounded() *shape {
	free := *s
	free.minLen, free.maxLen = 0, -1
	return &free
}

func joinOp(op, how string) string {
	if how == "" {
		return op
	}
	return op + "-" + how
}

func (g *generator) ofLength(s *shape, n int) (out []miss) {
	switch {
	case n < 0 || n > g.limits.StringBytes:
		return nil
	case len(s.patterns) > 0:
		text, err := g.nearest(s, lengths{n, n}, n)
		if err != nil {
			return nil
		}
		return []miss{{"", text}}
	case s.format != "":
		for _, text := range append(formats()[s.format].valid, sized(s.format, n)) {
			if utf8.RuneCountInString(text) == n {
				return []miss{{"", text}}
			}
		}
		if text, err := g.nearest(s, lengths{n, n}, n); err == nil {
			return []miss{{"", text}}
		}
		return nil
	}
	out = append(out, miss{"", canaryText(n, 17)})
	if n > 0 && 4*n <= g.limits.StringBytes && 4*n < g.limits.Bytes/2 {
		out = append(out, miss{"astral", runesOf(astral, n)})
		if n > 1 {
			out = append(out, miss{"combining", runesOf(combining, n)})
		}
	}
	return out
}

func (g *generator) formatTexts(p place, s *shape) (out []mutation) {
	w := formats()[s.format]
	for i, text := range w.valid {
		if len(g.c.fitting(s, []string{text})) == 1 {
			out = append(out, mutation{op: "format-witness-" + strconv.Itoa(i), keyword: "format", value: textValue(text)})
		}
	}
	for i, text := range w.invalid {
		if len(g.c.fitting(s, []string{text})) == 1 {
			out = append(out, mutation{op: "format-counter-" + strconv.Itoa(i), keyword: "format", value: textValue(text), want: invalid("format", p.field), canary: []string{text}})
		}
	}
	l := newBounds(s.minLen, min(lowerOr(s.maxLen, unboundedText), g.limits.StringBytes/4))
	if s.has("pattern") && (len(out) == 0 || !out[0].valid()) {
		if a, err := g.c.grammar(s); err == nil {
			if text, err := a.shortest(l, 1); err == nil {
				out = append(out, mutation{op: "format-built", keyword: "format", value: textValue(text)})
			}
		}
	}
	if !hasInvalid(out) {
		out = append(out, g.formatMisses(p, s, l)...)
	}
	if s.has("pattern") {
		out = append(out, g.patternMisses(p, s, w.valid, l)...)
	}
	return out
}

// patternMisses are well-formed texts that only the pattern is against.
func (g *generator) patternMisses(p place, s *shape, list []string, l lengths) (out []mutation) {
	a, err := g.c.automaton(s.patterns)
	if err != nil {
		g.fail(p, err)
		return nil
	}
	for i, text := range list {
		if n := utf8.RuneCountInString(text); !a.matches(text) && n >= s.minLen && (s.maxLen < 0 || n <= s.maxLen) {
			out = append(out, mutation{op: "pattern-miss-" + strconv.Itoa(i), keyword: "pattern", value: textValue(text), want: invalid("pattern", p.field), canary: []string{text}})
		}
	}
	if len(out) > 0 {
		return out
	}
	text, implied := besideThePattern(s, l)
	if implied {
		g.implied(p, "pattern", "the format")
	}
	if text != "" {
		out = append(out, mutation{op: "pattern-miss-built", keyword: "pattern", value: textValue(text), want: invalid("pattern", p.field), canary: []string{text}})
	}
	return out
}

// patternTexts are texts that match, and texts within the lengths that all but match.
func (g *generator) patternTexts(p place, s *shape) (out []mutation) {
	a, err := g.c.automaton(s.patterns)
	if err != nil {
		g.fail(p, err)
		return nil
	}
	l := newBounds(s.minLen, min(lowerOr(s.maxLen, unboundedText), g.limits.StringBytes/4))
	short, err := a.shortest(l, 1)
	if err != nil {
		g.fail(p, err)
		return nil
	}
	long, err := a.longest(l, 2)
	if err != nil {
		g.fail(p, err)
		return nil
	}
	for _, t := range []miss{{"shortest", short}, {"longest", long}} {
		out = append(out, mutation{op: "pattern-" + t.how, keyword: "pattern", value: textValue(t.text)})
	}
	for i, text := range g.alternatives(s, a, l) {
		out = append(out, mutation{op: "pattern-alternative-" + strconv.Itoa(i), keyword: "pattern", value: textValue(text)})
	}
	misses := a.misses(short, l)
	if n := utf8.RuneCountInString(long); n <= 256 {
		misses = append(misses, a.misses(long, l)...)
	}
	misses = append(misses, affixes(a, l, short, long)...)
	seen, count := map[string]bool{}, map[string]int{}
	for _, m := range misses {
		if seen[m.text] {
			continue
		}
		seen[m.text] = true
		op := "pattern-" + m.how + "-" + strconv.Itoa(count[m.how])
		count[m.how]++
		out = append(out, mutation{op: op, keyword: "pattern", value: textValue(m.text), want: invalid("pattern", p.field), canary: []string{m.text}})
	}
	if len(seen) == 0 {
		g.implied(p, "pattern", "every text of these lengths matches")
	}
	return out
}

// affixes are texts around one that matches: what an unanchored, multi-line or case-blind matcher lets through.
func affixes(a *automaton, l lengths, short, long string) (out []miss) {
	mid := short
	if t, err := a.shortest(lengths{min(max(8, l.min), l.max), l.max}, 4); err == nil {
		mid = t
	}
	for _, t := range []miss{
		{"newline-after", mid + "\n"},
		{"newline-before", "\n" + mid},
		{"line-of-many", "x\n" + mid + "\nx"},
		{"before", "x" + mid},
		{"after", mid + "x"},
		{"space-before", " " + mid},
		{"space-after", mid + " "},
		{"upper", strings.ToUpper(mid)},
		{"lower", strings.ToLower(mid)},
		{"upper", strings.ToUpper(long)},
		{"lower", strings.ToLower(long)},
		{"far", "\u2603 " + canaryText(min(max(l.min, 8), max(l.max-2, 0)), 6)},
		{"far", runesOf("\u2603", l.min)},
		{"empty", ""},
		{"fullwidth", fullwidth(mid)},
	} {
		if l.holds(utf8.RuneCountInString(t.text)) && !a.matches(t.text) {
			out = append(out, t)
		}
	}
	return out
}

// fullwidth replaces the digits by those that unicode.IsDigit takes and [0-9] does not.
func fullwidth(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + '０'
		}
		return r
	}, text)
}
