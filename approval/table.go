package approval

// Facts are what a policy table looks at: the write (the commit's wire name, its class as text, its tags) and what this
// call of it would bring with it.
type Facts struct {
	Tool        string
	Class       string
	Tags        []string
	Consequence Consequence
}

// Match says which writes a rule is for. An empty member matches all; all members that are set must match.
//
// Absent is not small. A list, an UpTo and a Within never match a fact that was not said; an Over and an Outside match
// it. A negative amount or number is over every bound.
type Match struct {
	Tools        []string // wire names of commits
	Classes      []string // "reversible", "irreversible"
	Tags         []string // a write that has one of them
	Environments []string
	// Currencies are ISO 4217 codes. Beside AmountOver without AmountUpTo a currency that was not said matches as well:
	// the rule is for amounts that are not known to be small.
	Currencies               []string
	AmountUpTo, AmountOver   *int64 // minor units; UpTo includes the bound, Over begins above it
	RecordsUpTo, RecordsOver *int
	// RecipientsWithin matches when recipients are said and all are members of the list; RecipientsOutside when none is
	// said or one is no member. A recipient is a member when the list has it exactly so, or has the domain of the plain
	// address (local@domain, ASCII, one @) that it is. A domain's subdomains are not members.
	RecipientsWithin, RecipientsOutside []string
	// Irreversible true matches what cannot be taken back: a consequence that says so, or a class other than
	// "reversible". False matches the rest.
	Irreversible *bool
}

// Rule asks for Require where When matches.
type Rule struct {
	When    Match
	Require Requirement
}

// Table is a policy: the strictest matching rule wins, and a write that no rule matches is denied. The zero Table
// denies everything. Version counts upwards with every change, from 1. A Table is not to be changed once it is in use.
type Table struct {
	Version int
	Rules   []Rule
}

// Everything is the policy of one rule for all writes, version 1.
func Everything(r Requirement) Table { return Table{Version: 1, Rules: []Rule{{Require: r}}} }

// Evaluate returns what the rules that match ask for together, by [Strictest]; false, and Deny, when none matches.
func (t Table) Evaluate(f Facts) (Requirement, bool) {
	var asked []Requirement
	for _, r := range t.Rules {
		if r.When.Matches(f) {
			asked = append(asked, r.Require)
		}
	}
	return Strictest(asked...), len(asked) > 0
}
