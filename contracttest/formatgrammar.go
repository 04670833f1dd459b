package contracttest

import (
	"errors"
	"strconv"
	"strings"
)

// formatGrammar describes a format by patterns, so that texts of it can be made which have a given length and match a pattern.
type formatGrammar struct {
	within string  // every text that matches is of the format, by every reader
	around string  // every text of the format matches
	sizes  lengths // of the texts of the format, in code points
}

// The pieces of grammars.
const (
	dateWithin = `20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])`
	timeWithin = `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-](0[0-9]|1[0-1]):[0-5][0-9])`
	dateAround = `[0-9]{4}-[0-9]{2}-[0-9]{2}`
	timeAround = `[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})`
	hostWithin = `([a-z][a-z0-9]{0,30}\.){0,6}[a-z][a-z0-9]{0,30}`
	octet      = `(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	ipv4Within = `(` + octet + `\.){3}` + octet
	group      = `[0-9a-f]{1,4}`
	ipv6Within = `(` + group + `:){7}` + group + `|(` + group + `:){6}` + ipv4Within + `|::(` + group + `:){0,5}` + group + `|::`
	uuidWithin = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`
)

func grammars() map[string]formatGrammar {
	whole := func(pattern string) string { return `^(?:` + pattern + `)$` }
	return map[string]formatGrammar{
		"date":      {whole(dateWithin), whole(dateAround), lengths{10, 10}},
		"date-time": {whole(dateWithin + `T` + timeWithin), whole(dateAround + `[Tt]` + timeAround), lengths{20, endless}},
		"time":      {whole(timeWithin), whole(timeAround), lengths{9, endless}},
		"duration":  {whole(`P([0-9]+[YMDW]|T[0-9]+[HMS]|[0-9]+DT[0-9]+H)`), whole(`P[0-9YMDWTHS]+`), lengths{3, endless}},
		"email":     {whole(`[a-z0-9]{1,60}@` + hostWithin), whole(`[!-~]+@[A-Za-z0-9.-]+`), lengths{3, 254}},
		"hostname":  {whole(hostWithin), whole(`[A-Za-z0-9.-]+`), lengths{1, 253}},
		"ipv4":      {whole(ipv4Within), whole(`[0-9]{1,3}(\.[0-9]{1,3}){3}`), lengths{7, 15}},
		"ipv6":      {whole(ipv6Within), whole(`[0-9A-Fa-f:.]+`), lengths{2, 45}},
		"uri":       {whole(`https?://` + hostWithin + `(/[A-Za-z0-9._~/-]*)?|[a-z]+:[A-Za-z0-9]+`), whole(`[A-Za-z][A-Za-z0-9+.-]*:[!-~]*`), lengths{2, endless}},
		"uuid":      {whole(uuidWithin), whole(uuidWithin), lengths{36, 36}},
	}
}

// endless is the length of a format that has no longest text.
const endless = 1 << 30

// grammar returns the machine of the texts of a shape: its patterns and its format.
func (c *contract) grammar(s *shape) (*automaton, error) {
	patterns := s.patterns
	if g, ok := grammars()[s.format]; ok {
		patterns = append(patterns[:len(patterns):len(patterns)], g.within)
	}
	return c.automaton(patterns)
}

// isOf reports whether the judge takes a text for one of the format.
func (c *contract) isOf(format, text string) bool {
	schema, ok := c.formats[format]
	if !ok {
		schema = objectValue().with("format", textValue(format))
		c.formats[format] = schema
	}
	return c.holds(schema, textValue(text))
}

// nearest makes a text of the shape whose length is within l, as close as can be to the end that is near.
func (g *generator) nearest(s *shape, l lengths, near int) (string, error) {
	a, err := g.c.grammar(s)
	if err != nil {
		return "", err
	}
	if near == l.min {
		return a.shortest(l, 17)
	}
	return a.longest(l, 17)
}

// lengthIsImplied says what leaves no text whose length is within l: nothing, where that is not proved.
func (g *generator) lengthIsImplied(s *shape, l lengths) string {
	if l.min > g.limits.StringBytes {
		return "the limit of a string's bytes"
	}
	if sizes, ok := grammars()[s.format]; ok && (l.max < sizes.sizes.min || l.min > sizes.sizes.max) {
		return "the format"
	}
	if len(s.patterns) == 0 {
		return ""
	}
	a, err := g.c.automaton(s.patterns)
	if err != nil {
		return ""
	}
	if _, err := a.shortest(l, 17); errors.Is(err, errNoText) {
		return "the pattern"
	}
	return ""
}

// fraction is a date-time or a time of n characters whose fraction has more digits than a Go time holds; empty where the
// format is another.
func fraction(format string, n int) string {
	whole := map[string]string{"date-time": "2026-03-01T12:30:45.", "time": "12:30:45."}[format]
	if whole == "" || n < len(whole)+2 {
		return ""
	}
	return whole + strings.Repeat("1", n-len(whole)-1) + "Z"
}

// formatMisses are texts that match the patterns and are not of the format.
func (g *generator) formatMisses(p place, s *shape, l lengths) (out []mutation) {
	within := grammars()[s.format].within
	var list []string
	if a, err := g.c.grammar(s); err == nil {
		if base, err := a.shortest(l, 3); err == nil {
			for _, m := range a.misses(base, l) {
				list = append(list, m.text)
			}
		}
	}
	d, err := newDifference(s.patterns, []string{within})
	if err != nil {
		g.fail(p, err)
		return nil
	}
	switch text, err := d.shortest(l, 3); {
	case errors.Is(err, errNoText):
		g.implied(p, "format", "the pattern")
		return nil
	case err == nil:
		list = append(list, text)
	}
	patterns, err := g.c.automaton(s.patterns)
	if err != nil {
		g.fail(p, err)
		return nil
	}
	for _, text := range list {
		if len(out) < 3 && patterns.matches(text) && !g.c.isOf(s.format, text) {
			out = append(out, mutation{op: "format-near-" + strconv.Itoa(len(out)), keyword: "format", value: textValue(text), want: invalid("format", p.field), canary: []string{text}})
		}
	}
	return out
}

// besideThePattern is a text of the format that the patterns are against, and whether it is proved that there is none.
func besideThePattern(s *shape, l lengths) (text string, implied bool) {
	of := grammars()[s.format]
	if d, err := newDifference([]string{of.within}, s.patterns); err == nil {
		if text, err := d.shortest(l, 5); err == nil {
			return text, false
		}
	}
	d, err := newDifference([]string{of.around}, s.patterns)
	if err != nil {
		return "", false
	}
	_, err = d.shortest(l, 5)
	return "", errors.Is(err, errNoText)
}
