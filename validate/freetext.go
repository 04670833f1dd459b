package validate

import (
	"slices"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/redact"
)

// narrow reports whether the schema leaves no free text among the strings that it admits: it enumerates them, or their form
// is one that cannot carry a sentence.
func (n *node) narrow() bool { return n.narrows(map[*node]bool{}) }

func (n *node) narrows(seen map[*node]bool) bool {
	if seen[n] {
		return false
	}
	seen[n] = true
	defer delete(seen, n)
	by := func(sub *node) bool { return sub.narrows(seen) }
	switch {
	case refuses(n), n.constant != nil, n.enum != nil, n.pattern != nil && n.pattern.fast.narrow(), n.format.narrow():
		return true
	case n.ref != nil && by(n.ref), slices.ContainsFunc(n.allOf, by):
		return true
	}
	for _, choice := range [][]*node{n.anyOf, n.oneOf} {
		if len(choice) > 0 && !slices.ContainsFunc(choice, func(sub *node) bool { return !sub.without(stringType) && !by(sub) }) {
			return true
		}
	}
	return false
}

// without reports whether the schema says its types, and not this one.
func (n *node) without(t types) bool { f := n.follow(); return f.types != 0 && !f.types.has(t) }

// freeKeys reports whether an object that the schemas of one place admit may have keys that are free text.
func freeKeys(n, owner *node, subs []*node) bool {
	if owner.class == redact.ClassTrusted {
		return false
	}
	narrow := owner.class != redact.ClassUntrusted && n.narrowKeys(map[*node]bool{})
	return slices.ContainsFunc(subs, func(sub *node) bool {
		switch {
		case narrow, sub.without(objectType):
			return false
		case free(sub.additional), free(sub.unevaluatedProperties):
			return owner.class == redact.ClassUntrusted || !sub.narrowKeys(map[*node]bool{})
		}
		return slices.ContainsFunc(sub.patterns, func(p patternProperty) bool {
			return free(p.node) && (owner.class == redact.ClassUntrusted || !p.pattern.fast.narrow() && !sub.narrowKeys(map[*node]bool{}))
		})
	})
}

// narrowKeys reports whether propertyNames, of the schema or of one that always applies with it, leave no free text.
func (n *node) narrowKeys(seen map[*node]bool) bool {
	if seen[n] {
		return false
	}
	seen[n] = true
	by := func(sub *node) bool { return sub.narrowKeys(seen) }
	return n.propertyNames != nil && n.propertyNames.narrow() || n.ref != nil && by(n.ref) || slices.ContainsFunc(n.allOf, by)
}

// narrow reports whether a text of the format cannot be a sentence, by the same rule as a pattern's. An email address has
// a local part, and a URI has a path, in which "%20" stands.
func (f formatID) narrow() bool {
	switch f {
	case dateFormat, dateTimeFormat, timeFormat, durationFormat, hostnameFormat, ipv4Format, ipv6Format, uuidFormat:
		return true
	case noFormat, emailFormat, uriFormat:
	}
	return false
}

// maxTexts is how many texts a pattern may match and still be an enumeration, whatever stands in them: which one it is says
// eight bits.
const maxTexts = 256

// narrow reports whether no text that matches can be a sentence: every character is a visible one of ASCII and none is
// spelt by a percent sign and two hexadecimal digits, or the texts are few. A pattern that is open at an end matches any
// text around what it asks for, and so is not narrow.
func (a *automaton) narrow() bool {
	s := sentences{automaton: a, live: a.living()}
	s.measure()
	return !s.possible() || s.few()
}

// sentences looks for texts in an automaton.
type sentences struct {
	*automaton
	live  []bool // of a state's number: a match may follow
	sizes []int  // of a class: how many code points, up to more than maxTexts
	wide  []bool // of a class: some are not visible ASCII
}

// to is the number of the state after a class.
func (a *automaton) to(state, class int) int { return int(a.next[state*a.classes+class]) / a.classes }

// living marks the states from which a match can be reached.
func (a *automaton) living() []bool {
	from := make([][]int32, len(a.ends)) // the states before
	var waiting []int32
	live := slices.Clone(a.ends)
	live[wonState] = true
	for s := range a.ends {
		if live[s] {
			waiting = append(waiting, int32(s))
		}
		for k := range a.classes {
			if s >= startState {
				from[a.to(s, k)] = append(from[a.to(s, k)], int32(s))
			}
		}
	}
	for len(waiting) > 0 {
		s := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		for _, before := range from[s] {
			if !live[before] {
				live[before] = true
				waiting = append(waiting, before)
			}
		}
	}
	return live
}

func (s *sentences) measure() {
	s.sizes, s.wide = make([]int, s.classes), make([]bool, s.classes)
	for i, first := range s.bounds {
		last := rune(utf8.MaxRune)
		if i+1 < len(s.bounds) {
			last = s.bounds[i+1] - 1
		}
		if last < first {
			continue
		}
		k := s.kinds[i]
		s.sizes[k] = min(s.sizes[k]+int(last-first)+1, maxTexts+1)
		s.wide[k] = s.wide[k] || first < '!' || last > '~'
	}
}

// possible reports whether a text that matches may be a sentence.
func (s *sentences) possible() bool {
	for state := startState; state < len(s.ends); state++ {
		for k := range s.classes {
			if next := s.to(state, k); s.live[next] && (next == wonState || s.wide[k]) {
				return true
			}
		}
		if s.spells(state) {
			return true
		}
	}
	return false
}

// spells reports whether a percent sign and two hexadecimal digits may come next.
func (s *sentences) spells(state int) bool {
	percent := s.to(state, int(s.ascii['%']))
	return percent >= startState && s.digits(percent, 2)
}

func (s *sentences) digits(state, n int) bool {
	if n == 0 {
		return s.live[state]
	}
	for _, c := range "0123456789ABCDEFabcdef" {
		if next := s.to(state, int(s.ascii[c])); next >= startState && s.digits(next, n-1) {
			return true
		}
	}
	return false
}

// few reports whether at most maxTexts texts match.
func (s *sentences) few() bool {
	counts := make([]int, len(s.ends)) // of the texts from a state on; 0: not counted yet
	var count func(state int) int
	count = func(state int) int {
		switch {
		case !s.live[state]:
			return 0
		case state == wonState:
			return maxTexts + 1
		case counts[state] != 0:
			return counts[state]
		}
		counts[state] = maxTexts + 1 // where the way comes back here it has no end
		total := 0
		if s.ends[state] {
			total = 1
		}
		for k := range s.classes {
			total = min(total+s.sizes[k]*count(s.to(state, k)), maxTexts+1)
		}
		counts[state] = total
		return total
	}
	return count(startState) <= maxTexts
}
