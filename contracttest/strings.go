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

// dead reports whether a state has no thread left in one of the patterns that must match.
func (a *automaton) dead(state int) bool {
	for _, t := range a.states[state].sets[:a.needed] {
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

// The most near misses of one kind.
const (
	maxFlips  = 160
	maxMisses = 12
)

// misses changes, doubles and drops one character at a time, at the borders of what the pattern tells apart, and keeps
// what then fails within the bounds.
func (a *automaton) misses(base string, b lengths) []miss {
	rs := []rune(base)
	var out []miss
	seen := map[string]bool{}
	keep := func(how, text string, n, most int, count *int) {
		if *count >= most || !b.holds(n) || seen[text] || a.matches(text) {
			return
		}
		seen[text] = true
		*count++
		out = append(out, miss{how, text})
	}
	var flips, affixes, extras, drops int
	borders := a.borders()
	for _, i := range a.parts(rs) {
		near := borders
		if a.fixed(rs, i) { // one character alone may stand here: a few others tell
			near = append([]rune{rs[i] - 1, rs[i] + 1}, borders[:min(len(borders), 3)]...)
		}
		for _, r := range near {
			keep("flip", string(slices.Concat(rs[:i], []rune{r}, rs[i+1:])), len(rs), maxFlips, &flips)
		}
	}
	for _, r := range borders {
		keep("affix", base+string(r), len(rs)+1, maxMisses, &affixes)
	}
	for _, i := range positions(len(rs)) {
		keep("longer", string(slices.Concat(rs[:i+1], rs[i:])), len(rs)+1, maxMisses, &extras)
		keep("shorter", string(slices.Concat(rs[:i], rs[i+1:])), len(rs)-1, maxMisses, &drops)
	}
	return out
}

// parts are the first places in a text at which the pattern reads other characters than before, and the last place.
func (a *automaton) parts(rs []rune) (at []int) {
	seen := map[string]bool{}
	state := 0
	for i, r := range rs {
		key, next := "", -1
		for c := range a.classes {
			to := a.step(state, c)
			if !a.dead(to) {
				key += string(rune('0' + c))
			}
			if next < 0 && a.classes[c].has(r, a) {
				next = to
			}
		}
		if !seen[key] || i == len(rs)-1 {
			seen[key] = true
			at = append(at, i)
		}
		if next < 0 {
			return append(at, positions(len(rs))...)
		}
		state = next
	}
	return at
}

// fixed reports whether all but a few characters at place i of a text that matches make it fail.
func (a *automaton) fixed(rs []rune, i int) bool {
	taken := 0
	for _, c := range a.classes {
		if a.matches(string(slices.Concat(rs[:i], c.members[:1], rs[i+1:]))) {
			taken += len(c.members)
		}
	}
	return taken <= 2
}

// has reports whether a character is of the class.
func (c runeClass) has(r rune, a *automaton) bool {
	return slices.Contains(c.members, r) || a.signature(r) == a.signature(c.members[0])
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

// borders is one character of each class, and those beside each border that the pattern draws.
func (a *automaton) borders() []rune {
	out := make([]rune, 0, len(a.classes)+len(a.edges))
	for _, c := range a.classes {
		out = append(out, c.members[0])
	}
	for _, r := range a.edges {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}
