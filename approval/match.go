package approval

import (
	"slices"
	"strings"
)

// Matches reports whether the rule's condition holds for the facts.
func (m Match) Matches(f Facts) bool {
	c := f.Consequence
	return m.names(f.Tool, f.Class, f.Tags) &&
		listed(m.Environments, c.Environment) &&
		m.currency(c.Currency) &&
		within(m.AmountUpTo, c.AmountMinor) && over(m.AmountOver, c.AmountMinor) &&
		within(m.RecordsUpTo, c.Records) && over(m.RecordsOver, c.Records) &&
		m.recipients(c.Recipients) &&
		(m.Irreversible == nil || *m.Irreversible == irreversible(f))
}

// names is the part of the condition that a definition settles, before anybody calls.
func (m Match) names(tool, class string, tags []string) bool {
	if !listed(m.Tools, tool) || !listed(m.Classes, class) {
		return false
	}
	return len(m.Tags) == 0 || slices.ContainsFunc(tags, func(t string) bool { return listed(m.Tags, t) })
}

// listed reports whether an empty list, or one that has the fact, was given. A fact that was not said is in no list.
func listed(list []string, fact string) bool {
	return len(list) == 0 || (fact != "" && slices.Contains(list, fact))
}

func (m Match) currency(c string) bool {
	if c == "" && m.AmountOver != nil && m.AmountUpTo == nil {
		return true
	}
	return listed(m.Currencies, c)
}

func within[N int | int64](bound, fact *N) bool {
	return bound == nil || (fact != nil && *fact >= 0 && *fact <= *bound)
}

func over[N int | int64](bound, fact *N) bool {
	return bound == nil || fact == nil || *fact < 0 || *fact > *bound
}

func (m Match) recipients(said []string) bool {
	if len(m.RecipientsWithin) > 0 && !allMembers(m.RecipientsWithin, said) {
		return false
	}
	return len(m.RecipientsOutside) == 0 || !allMembers(m.RecipientsOutside, said)
}

// allMembers is false where nobody is named.
func allMembers(list, said []string) bool {
	return len(said) > 0 && !slices.ContainsFunc(said, func(r string) bool { return !member(list, r) })
}

func member(list []string, recipient string) bool {
	domain, plain := plainDomain(recipient)
	return slices.ContainsFunc(list, func(entry string) bool {
		return (entry == recipient && entry != "") || (plain && lowerASCII(entry) == domain)
	})
}

// plainDomain returns the domain of local@domain, in lower case. Whatever could hold a second address, a comment, a
// quoted part or a look-alike letter is not plain, for a member must be certain.
func plainDomain(address string) (string, bool) {
	local, domain, found := strings.Cut(address, "@")
	if !found || local == "" || domain == "" || strings.IndexFunc(local, notAtom) >= 0 || strings.IndexFunc(domain, notHost) >= 0 {
		return "", false
	}
	return lowerASCII(domain), true
}

// notAtom reports a rune outside the dot-atom of RFC 5322 section 3.2.3.
func notAtom(r rune) bool {
	return !alphanumeric(r) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r)
}

func notHost(r rune) bool { return !alphanumeric(r) && r != '-' && r != '.' }

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// lowerASCII folds ASCII alone: Unicode's folding makes a Kelvin sign a k.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// classReversible is the class, as text, of a write that can be taken back.
const (
	classReversible   = "reversible"
	classIrreversible = "irreversible"
)

func irreversible(f Facts) bool {
	return len(f.Consequence.Irreversible) > 0 || f.Class != classReversible
}
