package contracttest

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// witness is what an author gives where the generator cannot know.
type witness struct{ valid, invalid []string }

// witnessOf returns the author's witness for a shape, false where there is none.
func (b *builder) witnessOf(s *shape) (witness, bool) {
	for _, schema := range s.sources {
		if w, ok := b.witness[schema]; ok {
			return w, true
		}
	}
	return witness{}, false
}

// text makes a text that the shape admits: one that could be recognised wherever it turns up.
func (b *builder) text(s *shape) (string, error) {
	if w, ok := b.witnessOf(s); ok && len(w.valid) > 0 {
		return w.valid[b.pick(len(w.valid), b.salt)], nil
	}
	if s.format != "" {
		return b.formatted(s)
	}
	l := newBounds(s.minLen, s.maxLen)
	want := 8
	switch {
	case b.choose != nil:
		want = l.min + b.choose(40)
	case b.size == largest:
		want = 24
	}
	want = min(max(want, l.min), l.max)
	if len(s.patterns) == 0 {
		if b.choose != nil && b.choose(8) == 0 {
			return runesOf("𝛼é漢\u0301 ", want), nil
		}
		return canaryText(want, b.salt), nil
	}
	a, err := b.c.automaton(s.patterns)
	if err != nil {
		return "", err
	}
	text, err := a.shortest(lengths{want, l.max}, b.salt)
	if errors.Is(err, errNoText) {
		return a.shortest(l, b.salt)
	}
	return text, err
}

func (b *builder) formatted(s *shape) (string, error) {
	list := b.c.fitting(s, formats()[s.format].valid)
	if more := b.c.fitting(s, []string{numbered(s.format, b.salt)}); b.salt >= len(list) && b.choose == nil && len(more) > 0 {
		return more[0], nil
	}
	if len(list) == 0 {
		a, err := b.c.grammar(s)
		if err != nil {
			return "", err
		}
		return a.shortest(newBounds(s.minLen, s.maxLen), b.salt)
	}
	return list[b.pick(len(list), b.salt)], nil
}

// fitting keeps the texts that lengths and patterns admit.
func (c *contract) fitting(s *shape, list []string) (out []string) {
	var a *automaton
	if len(s.patterns) > 0 {
		var err error
		if a, err = c.automaton(s.patterns); err != nil {
			return nil
		}
	}
	for _, text := range list {
		n := utf8.RuneCountInString(text)
		if n >= s.minLen && (s.maxLen < 0 || n <= s.maxLen) && (a == nil || a.matches(text)) {
			out = append(out, text)
		}
	}
	return out
}

// automaton returns the machine of some patterns, made once.
func (c *contract) automaton(patterns []string) (*automaton, error) {
	key := strings.Join(patterns, "\x00")
	if a, ok := c.machines[key]; ok {
		return a, nil
	}
	a, err := newAutomaton(patterns...)
	if err == nil {
		c.machines[key] = a
	}
	return a, err
}
