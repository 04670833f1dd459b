package approval

import (
	"errors"
	"fmt"
	"slices"
)

// Lint returns every fault of the table by itself, joined, each ErrInvalid and with the number of its rule from 0; nil
// when there is none:
//
//   - no rule, or a version below 1;
//   - a level that is not one, approvers without a role or group, a role, group or self where nobody is asked, a lifetime
//     below zero or above MaxLifetime;
//   - an empty name, a repeated one, an unknown class, a malformed currency, a list that is there and empty;
//   - a negative bound, and a condition that nothing can meet;
//   - a rule whose condition another has too, and a rule that has no effect because another matches all that it
//     matches and asks for at least as much.
func (t Table) Lint() error {
	var l lint
	if t.Version < 1 {
		l.add("version is below 1")
	}
	if len(t.Rules) == 0 {
		l.add("no rules: every write is denied")
	}
	for i, r := range t.Rules {
		l.rule(i, r)
	}
	for i := range t.Rules {
		t.effect(&l, i)
	}
	return errors.Join(l.faults...)
}

// LintFor is Lint against the writes that are known, of which Tool, Class and Tags are read. Faults besides those of
// Lint: a rule that names an unknown tool, a write that no rule can match, and two rules that can both match a
// write, ask for the same level and name different roles or groups, so that the write would be denied.
func (t Table) LintFor(writes []Facts) error {
	var l lint
	for i, r := range t.Rules {
		for _, name := range r.When.Tools {
			if !slices.ContainsFunc(writes, func(w Facts) bool { return w.Tool == name }) {
				l.add("rule %d: when: unknown tool %q", i, name)
			}
		}
	}
	for _, w := range writes {
		rules := t.naming(w)
		if len(rules) == 0 {
			l.add("tool %q of class %q: no rule can match it: it would always be denied", w.Tool, w.Class)
		}
		t.conflicts(&l, w, rules)
	}
	return errors.Join(t.Lint(), errors.Join(l.faults...))
}

// Possible returns the rules that can match a write, whatever its consequence, in their order: of its facts Tool, Class
// and Tags are read. Where there is none the write is always denied.
func (t Table) Possible(w Facts) []Rule {
	numbers := t.naming(w)
	rules := make([]Rule, len(numbers))
	for n, i := range numbers {
		rules[n] = t.Rules[i]
	}
	return rules
}

type lint struct{ faults []error }

func (l *lint) add(format string, args ...any) {
	l.faults = append(l.faults, fmt.Errorf("%w: table: %s", ErrInvalid, fmt.Sprintf(format, args...)))
}

func (l *lint) rule(i int, r Rule) {
	for _, fault := range slices.Concat(r.Require.faults(), r.When.faults()) {
		l.add("rule %d: %s", i, fault)
	}
}

func (r Requirement) faults() []string {
	var out []string
	named := r.Role != "" || r.Group != ""
	switch r.Level {
	case One, Two:
		if !named {
			out = append(out, "require: neither role nor group: nobody could approve")
		}
	case None, Deny:
		if named || r.Self {
			out = append(out, "require: role, group or self where nobody is asked")
		}
	default:
		out = append(out, "require: unknown level")
	}
	if r.Lifetime < 0 || r.Lifetime > MaxLifetime {
		out = append(out, "require: lifetime out of range")
	}
	return out
}

func (m Match) faults() []string {
	var out []string
	for _, l := range m.lists() {
		out = append(out, l.faults()...)
	}
	for _, c := range m.Classes {
		if c != classReversible && c != classIrreversible {
			out = append(out, "when: classes: unknown class")
		}
	}
	if slices.ContainsFunc(m.Currencies, func(c string) bool { return !currencyCode(c) }) {
		out = append(out, "when: currencies: not an ISO 4217 code")
	}
	out = append(out, boundFaults("amount", m.AmountUpTo, m.AmountOver)...)
	out = append(out, boundFaults("records", m.RecordsUpTo, m.RecordsOver)...)
	if m.Irreversible != nil && !*m.Irreversible && len(m.Classes) > 0 && !slices.Contains(m.Classes, classReversible) {
		out = append(out, "when: irreversible: nothing of these classes is reversible")
	}
	if len(m.RecipientsWithin) > 0 && len(m.RecipientsOutside) > 0 && subset(m.RecipientsWithin, m.RecipientsOutside) {
		out = append(out, "when: recipients_within: all of them are in recipients_outside")
	}
	return out
}

type namedList struct {
	name  string
	items []string
}

func (m Match) lists() []namedList {
	return []namedList{
		{"tools", m.Tools},
		{"classes", m.Classes},
		{"tags", m.Tags},
		{"environments", m.Environments},
		{"currencies", m.Currencies},
		{"recipients_within", m.RecipientsWithin},
		{"recipients_outside", m.RecipientsOutside},
	}
}

func (l namedList) faults() []string {
	if l.items != nil && len(l.items) == 0 {
		return []string{"when: " + l.name + ": an empty list: leave it out to match all"}
	}
	if slices.Contains(l.items, "") {
		return []string{"when: " + l.name + ": an empty name"}
	}
	sorted := slices.Sorted(slices.Values(l.items))
	if len(slices.Compact(sorted)) != len(l.items) {
		return []string{"when: " + l.name + ": a name stands twice"}
	}
	return nil
}

func currencyCode(c string) bool {
	return len(c) == 3 && lowerASCII(c) != c && !slices.ContainsFunc([]byte(c), func(b byte) bool { return b < 'A' || b > 'Z' })
}

func boundFaults[N int | int64](name string, upTo, over *N) []string {
	var out []string
	if (upTo != nil && *upTo < 0) || (over != nil && *over < 0) {
		out = append(out, "when: "+name+": a negative bound")
	}
	if upTo != nil && over != nil && *over >= *upTo {
		out = append(out, "when: "+name+": nothing is over the one and up to the other")
	}
	return out
}

// effect reports rule i where it repeats another or adds nothing to one.
func (t Table) effect(l *lint, i int) {
	r := t.Rules[i]
	for j, o := range t.Rules {
		if i == j || !o.When.covers(r.When) {
			continue
		}
		if r.When.covers(o.When) {
			if j < i {
				l.add("rule %d: the condition of rule %d again", i, j)
				return
			}
			continue
		}
		if Strictest(o.Require, r.Require) == o.Require {
			l.add("rule %d: without effect: rule %d matches all that it matches and asks for at least as much", i, j)
			return
		}
	}
}

// naming returns the numbers of the rules that can match a write, whatever a call of it brings with it.
func (t Table) naming(w Facts) []int {
	var out []int
	for i, r := range t.Rules {
		if r.When.names(w.Tool, w.Class, w.Tags) {
			out = append(out, i)
		}
	}
	return out
}

// conflicts reports pairs of rules, of those that can match w, that nobody could satisfy together.
func (t Table) conflicts(l *lint, w Facts, rules []int) {
	for n, i := range rules {
		for _, j := range rules[n+1:] {
			a, b := t.Rules[i], t.Rules[j]
			if a.Require.Level != b.Require.Level || a.Require.Level == Deny || !a.When.overlaps(b.When) {
				continue
			}
			if Strictest(a.Require, b.Require).Level == Deny && !t.outranked(rules, i, j) {
				l.add("rules %d and %d: both can match tool %q, at one level, and name different roles or groups", i, j, w.Tool)
			}
		}
	}
}

// outranked reports whether a stricter rule always matches where i and j both do.
func (t Table) outranked(rules []int, i, j int) bool {
	a, b := t.Rules[i], t.Rules[j]
	return slices.ContainsFunc(rules, func(k int) bool {
		c := t.Rules[k]
		return c.Require.Level > a.Require.Level && (c.When.covers(a.When) || c.When.covers(b.When))
	})
}
