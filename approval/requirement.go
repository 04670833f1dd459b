package approval

import (
	"fmt"
	"time"
)

// Level says how many must agree. The zero value is invalid; the order of the constants is the order of strictness.
type Level uint8

// The levels, from the laxest to the strictest.
const (
	None Level = iota + 1 // nobody: the policy itself approves
	One                   // one approver
	Two                   // two different approvers
	Deny                  // nobody can
)

// Valid reports whether l is one of the declared levels.
func (l Level) Valid() bool { return l >= None && l <= Deny }

// String returns "none", "one", "two", "deny" or "invalid".
func (l Level) String() string {
	switch l {
	case None:
		return "none"
	case One:
		return "one"
	case Two:
		return "two"
	case Deny:
		return "deny"
	}
	return "invalid"
}

// MarshalText writes the word of String; the zero Level is an error.
func (l Level) MarshalText() ([]byte, error) {
	if !l.Valid() {
		return nil, fmt.Errorf("%w: level", ErrInvalid)
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads what MarshalText writes; any other text is an error.
func (l *Level) UnmarshalText(text []byte) error {
	for c := None; c.Valid(); c++ {
		if c.String() == string(text) {
			*l = c
			return nil
		}
	}
	return fmt.Errorf("%w: level", ErrInvalid)
}

// Requirement is what the policy asks for before a proposal may run. The zero value is invalid.
type Requirement struct {
	Level Level  // how many approvers
	Role  string // the role that every approver must hold; empty: none is named
	Group string // the group that every approver must belong to, beside the role; empty: none is named
	Self  bool   // true: the requester may be an approver
	// Lifetime is how long a proposal may wait for its decision and its commit; zero: the policy does not say.
	Lifetime time.Duration
}

// Strictest combines what several rules ask for, and fails closed:
//
//   - the strictest level wins (None < One < Two < Deny), with its role, group and self;
//   - where several ask for the same level, one that names a role and one that names a group ask for both; the
//     requester may approve only when all of them allow it;
//   - where several ask for the same level and name different roles, or different groups, nobody is known to satisfy
//     them: Deny ([Table.LintFor] finds such rules before they are met);
//   - the lifetime is the smallest that any of them sets, whatever its level;
//   - an invalid level counts as Deny, and so does an empty list.
func Strictest(rs ...Requirement) Requirement {
	if len(rs) == 0 {
		return Requirement{Level: Deny}
	}
	out := rs[0].closed()
	for _, r := range rs[1:] {
		out = stricter(out, r.closed())
	}
	return out
}

func (r Requirement) closed() Requirement {
	switch {
	case !r.Level.Valid() || r.Lifetime < 0:
		return Requirement{Level: Deny}
	case r.Level == None || r.Level == Deny: // nobody is asked: no role, no group, no self
		return Requirement{Level: r.Level, Lifetime: r.Lifetime}
	}
	return r
}

func stricter(a, b Requirement) Requirement {
	life := shorter(a.Lifetime, b.Lifetime)
	switch {
	case a.Level < b.Level:
		a = b
	case a.Level == b.Level:
		a = both(a, b)
	}
	a.Lifetime = life
	return a
}

// both combines two requirements of one level.
func both(a, b Requirement) Requirement {
	role, okRole := agree(a.Role, b.Role)
	group, okGroup := agree(a.Group, b.Group)
	if !okRole || !okGroup {
		return Requirement{Level: Deny}
	}
	return Requirement{Level: a.Level, Role: role, Group: group, Self: a.Self && b.Self}
}

func agree(a, b string) (string, bool) {
	switch {
	case a == "":
		return b, true
	case b == "" || a == b:
		return a, true
	}
	return "", false
}

// shorter returns the smaller of two lifetimes, where zero is "not said".
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}

// Covers reports whether an approval that was given under r still satisfies now, so that a policy which has changed
// since may only have relaxed. It is false when now asks for a higher level, for a role or group that r did not name,
// for somebody other than the requester where r allowed the requester, or for a shorter lifetime; and when either
// level is invalid or Deny. Where now asks for nobody, only the lifetime counts.
func (r Requirement) Covers(now Requirement) bool {
	if !r.Level.Valid() || !now.Level.Valid() || r.Level == Deny || now.Level > r.Level {
		return false
	}
	if now.Lifetime < 0 || shorter(r.Lifetime, now.Lifetime) != r.Lifetime {
		return false
	}
	if now.Level == None {
		return true
	}
	return (now.Role == "" || now.Role == r.Role) && (now.Group == "" || now.Group == r.Group) && (now.Self || !r.Self)
}
