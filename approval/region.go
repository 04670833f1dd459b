package approval

import "slices"

// What follows compares the sets of facts that conditions match. covers errs towards false and overlaps towards true:
// a fault is reported where it is certain, a conflict where it is possible.

// covers reports whether m certainly matches all that o matches.
func (m Match) covers(o Match) bool {
	return coversList(m.Tools, o.Tools) && coversList(m.Classes, o.Classes) && coversList(m.Tags, o.Tags) &&
		coversList(m.Environments, o.Environments) &&
		m.coversCurrency(o) &&
		coversBounds(m.AmountUpTo, m.AmountOver, o.AmountUpTo, o.AmountOver) &&
		coversBounds(m.RecordsUpTo, m.RecordsOver, o.RecordsUpTo, o.RecordsOver) &&
		coversList(m.RecipientsWithin, o.RecipientsWithin) &&
		(len(m.RecipientsOutside) == 0 || (len(o.RecipientsOutside) > 0 && subset(m.RecipientsOutside, o.RecipientsOutside))) &&
		(m.Irreversible == nil || (o.Irreversible != nil && *m.Irreversible == *o.Irreversible))
}

func coversList(m, o []string) bool { return len(m) == 0 || (len(o) > 0 && subset(o, m)) }

func subset(part, whole []string) bool {
	return !slices.ContainsFunc(part, func(s string) bool { return !slices.Contains(whole, s) })
}

func (m Match) coversCurrency(o Match) bool {
	return coversList(m.Currencies, o.Currencies) && (len(m.Currencies) == 0 || m.currency("") || !o.currency(""))
}

func coversBounds[N int | int64](upTo, over, otherUpTo, otherOver *N) bool {
	return (upTo == nil || (otherUpTo != nil && *otherUpTo <= *upTo)) &&
		(over == nil || (otherOver != nil && *otherOver >= *over))
}

// overlaps reports whether there may be consequences that both match; names are not looked at.
func (m Match) overlaps(o Match) bool {
	return meets(m.Environments, o.Environments) &&
		(meets(m.Currencies, o.Currencies) || (m.currency("") && o.currency(""))) &&
		boundsMeet(m.AmountUpTo, m.AmountOver, o.AmountUpTo, o.AmountOver) &&
		boundsMeet(m.RecordsUpTo, m.RecordsOver, o.RecordsUpTo, o.RecordsOver) &&
		recipientsMeet(m, o) &&
		(m.Irreversible == nil || o.Irreversible == nil || *m.Irreversible == *o.Irreversible)
}

func meets(a, b []string) bool {
	return len(a) == 0 || len(b) == 0 || slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// boundsMeet: without an UpTo what was not said meets; otherwise something must lie over the greater Over and up to the
// smaller UpTo.
func boundsMeet[N int | int64](upTo, over, otherUpTo, otherOver *N) bool {
	least := upTo
	if least == nil || (otherUpTo != nil && *otherUpTo < *least) {
		least = otherUpTo
	}
	if least == nil {
		return true
	}
	return (over == nil || *over < *least) && (otherOver == nil || *otherOver < *least)
}

func recipientsMeet(m, o Match) bool {
	if excludes(m.RecipientsWithin, o.RecipientsOutside) || excludes(o.RecipientsWithin, m.RecipientsOutside) {
		return false
	}
	if len(m.RecipientsWithin) == 0 || len(o.RecipientsWithin) == 0 {
		return true
	}
	return slices.ContainsFunc(m.RecipientsWithin, func(e string) bool { return member(o.RecipientsWithin, e) }) ||
		slices.ContainsFunc(o.RecipientsWithin, func(e string) bool { return member(m.RecipientsWithin, e) })
}

func excludes(within, outside []string) bool {
	return len(within) > 0 && len(outside) > 0 && subset(within, outside)
}
