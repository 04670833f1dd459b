package contracttest

import (
	"slices"
)

// StringsMatching returns the shortest and the longest text of least to most code points that match the pattern, and one
// within the same bounds that all but matches. A negative most is 4096. The pattern is RE2's; it matches anywhere in a
// text unless it is anchored. nearMiss is empty where every text of these lengths matches. The same arguments give the
// same texts. The error says that no text of these lengths matches, or that the pattern is beyond what is followed.
func StringsMatching(pattern string, least, most int) (short, long, nearMiss string, err error) {
	a, err := newAutomaton(pattern)
	if err != nil {
		return "", "", "", err
	}
	b := newBounds(least, most)
	if short, err = a.shortest(b, 0); err != nil {
		return "", "", "", err
	}
	if long, err = a.longest(b, 0); err != nil {
		return "", "", "", err
	}
	near := a.misses(short, b)
	if len(near) == 0 {
		near = a.misses(long, b)
	}
	if len(near) > 0 {
		nearMiss = near[0].text
	}
	return short, long, nearMiss, nil
}

// lengths are bounds in code points.
type lengths struct{ min, max int }

// unboundedText is how far texts without an upper bound are followed.
const unboundedText = 4096

func newBounds(least, most int) lengths {
	if most < 0 {
		most = max(unboundedText, least)
	}
	return lengths{max(least, 0), most}
}

func (l lengths) holds(n int) bool { return n >= l.min && n <= l.max }

// layer says for each state that a text of one length reaches how it was reached.
type layer []hop

type hop struct{ from, class int32 }

var nowhere = hop{-1, -1} //nolint:gochecknoglobals // a constant

// layers walks the machine one character at a time and calls visit for each length until it says stop.
func (a *automaton) layers(most int, visit func(n int, accepting int) (stop bool)) ([]layer, error) {
	first := layer{{-1, 0}}
	all := []layer{first}
	for n := 0; ; n++ {
		cur := all[n]
		accepting := -1
		for s, h := range cur {
			if h != nowhere && a.states[s].accept {
				accepting = s
				break
			}
		}
		if visit(n, accepting) || n == most {
			return all, nil
		}
		next := layer{}
		alive := false
		for s := range cur {
			if cur[s] == nowhere {
				continue
			}
			for c := range a.classes {
				to := a.step(s, c)
				if len(a.states) > maxStates {
					return nil, errPatternSize
				}
				if a.dead(to) {
					continue
				}
				for len(next) <= to {
					next = append(next, nowhere)
				}
				if next[to] == nowhere {
					next[to] = hop{int32(s), int32(c)}
					alive = true
				}
			}
		}
		if !alive {
			return all, nil
		}
		all = append(all, next)
	}
}

// dead reports whether a state has no thread left in one of the patterns.
func (a *automaton) dead(state int) bool {
	for _, t := range a.states[state].sets {
		if !t.matched && len(t.pcs) == 0 {
			return true
		}
	}
	return false
}

// text writes the way to a state of the last of n layers.
func (a *automaton) text(all []layer, n, state, salt int) string {
	rs := make([]rune, n)
	for i := n; i > 0; i-- {
		h := all[i][state]
		rs[i-1] = a.classes[h.class].pick(i + salt*7919)
		state = int(h.from)
	}
	return string(rs)
}

func (a *automaton) shortest(b lengths, salt int) (string, error) {
	at, state := -1, 0
	all, err := a.layers(b.max, func(n, accepting int) bool {
		if n < b.min || accepting < 0 {
			return false
		}
		at, state = n, accepting
		return true
	})
	if err != nil {
		return "", err
	}
	if at < 0 {
		return "", errNoText
	}
	return a.text(all, at, state, salt), nil
}

func (a *automaton) longest(b lengths, salt int) (string, error) {
	at, state := -1, 0
	all, err := a.layers(b.max, func(n, accepting int) bool {
		if n >= b.min && accepting >= 0 {
			at, state = n, accepting
		}
		return false
	})
	if err != nil {
		return "", err
	}
	if at < 0 {
		return "", errNoText
	}
	return a.text(all, at, state, salt), nil
}

// miss is a text that all but matches, and what was done to one that does.
type miss struct{ how, text string }

// maxMisses bounds the near misses of one kind.
const maxMisses = 12

// misses changes, doubles and drops one character at a time, at the borders of what the pattern tells apart, and keeps
// what then fails within the bounds.
func (a *automaton) misses(base string, b lengths) []miss {
	rs := []rune(base)
	var out []miss
	seen := map[string]bool{}
	keep := func(how, text string, n int, count *int) {
		if *count >= maxMisses || !b.holds(n) || seen[text] || a.matches(text) {
			return
		}
		seen[text] = true
		*count++
		out = append(out, miss{how, text})
	}
	at := positions(len(rs))
	var flips, affixes, extras, drops int
	borders := a.borders()
	for _, r := range borders {
		for _, i := range at {
			keep("flip", string(slices.Concat(rs[:i], []rune{r}, rs[i+1:])), len(rs), &flips)
		}
	}
	for _, r := range borders {
		keep("affix", base+string(r), len(rs)+1, &affixes)
	}
	for _, i := range at {
		keep("longer", string(slices.Concat(rs[:i+1], rs[i:])), len(rs)+1, &extras)
		keep("shorter", string(slices.Concat(rs[:i], rs[i+1:])), len(rs)-1, &drops)
	}
	return out
}

// positions are places in a text: all of a short one, the ends and some between of a long one.
func positions(n int) []int {
	var at []int
	for i := range n {
		if n <= 12 || i < 4 || i >= n-4 || i%(n/4) == 0 {
			at = append(at, i)
		}
	}
	return at
}

// borders is one character of each class, and the first and the last of those written.
func (a *automaton) borders() []rune {
	out := make([]rune, 0, 3*len(a.classes))
	for _, c := range a.classes {
		out = append(out, c.members[0])
	}
	for _, c := range a.classes {
		out = append(out, slices.Min(c.members), slices.Max(c.members))
	}
	seen := map[rune]bool{}
	return slices.DeleteFunc(out, func(r rune) bool {
		had := seen[r]
		seen[r] = true
		return had
	})
}
