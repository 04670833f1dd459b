package approval

import (
	"fmt"
	"slices"
)

// Kind says what a principal is. The zero value is invalid.
type Kind uint8

// The kinds of principals.
const (
	Person         Kind = iota + 1 // a human being with a session of their own
	Service                        // a program with credentials of its own
	PolicyDecision                 // the policy table itself, where it asks for nobody's consent
)

// Valid reports whether k is one of the declared kinds.
func (k Kind) Valid() bool { return k >= Person && k <= PolicyDecision }

// String returns "person", "service", "policy" or "invalid".
func (k Kind) String() string {
	switch k {
	case Person:
		return "person"
	case Service:
		return "service"
	case PolicyDecision:
		return "policy"
	}
	return "invalid"
}

// MarshalText writes the word of String; the zero Kind is an error.
func (k Kind) MarshalText() ([]byte, error) {
	if !k.Valid() {
		return nil, fmt.Errorf("%w: principal kind", ErrInvalid)
	}
	return []byte(k.String()), nil
}

// UnmarshalText reads what MarshalText writes; any other text is an error.
func (k *Kind) UnmarshalText(text []byte) error {
	for c := Person; c.Valid(); c++ {
		if c.String() == string(text) {
			*k = c
			return nil
		}
	}
	return fmt.Errorf("%w: principal kind", ErrInvalid)
}

// Principal is somebody whom the host has verified: it comes from a session, never from a model.
// Tenant and Subject together are the identity; Kind and Roles say what the host knows about it now. Roles holds the
// names of roles and groups as the host verified them. The zero value is nobody and is refused everywhere.
type Principal struct {
	Kind    Kind     `json:"kind"`
	Tenant  string   `json:"tenant"`
	Subject string   `json:"subject"`
	Roles   []string `json:"roles,omitempty"`
}

// Is reports whether p and q are one identity: the same tenant and subject. Kind and roles do not tell people apart,
// except that the policy's own decision is never a person or a service, whatever they are called.
func (p Principal) Is(q Principal) bool {
	return p.Tenant == q.Tenant && p.Subject == q.Subject && (p.Kind == PolicyDecision) == (q.Kind == PolicyDecision)
}

// HasRole reports whether name is among the roles, spelt exactly so. The empty name is nobody's role.
func (p Principal) HasRole(name string) bool { return name != "" && slices.Contains(p.Roles, name) }

// Valid reports whether p can stand for somebody: a declared kind, a tenant and, but for the policy, a subject, both
// UTF-8 without U+0000 and at most MaxName bytes long.
func (p Principal) Valid() bool {
	return p.Kind.Valid() && ValidName(p.Tenant) && (ValidName(p.Subject) || (p.Subject == "" && p.Kind == PolicyDecision))
}

func (p Principal) clone() Principal {
	p.Roles = slices.Clone(p.Roles)
	return p
}
