package approval_test

import (
	"encoding/json/jsontext"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/redact"
)

func proposal(id string) approval.Proposal {
	return approval.Proposal{
		ID: id, Tenant: "t1", Run: "run_1", Tool: "commit_address_change_v2",
		Requester: approval.Principal{Kind: approval.Service, Tenant: "t1", Subject: "agent-7", Roles: []string{"agent"}},
		Plan:      jsontext.Value(`{"city":"Köln","n":9007199254740993}`), Digest: "hmac:k1:abc",
		Target:   approval.Target{Type: "customer", ID: "c_1", Version: "17"},
		Resource: "customer/c_1", Seq: 4, Summary: "Replace the shipping address",
		Diffs: []approval.Diff{{Field: "city", Before: "Bonn", After: "Köln"}},
		Consequence: approval.Consequence{
			Environment: "production", Recipients: []string{"a@example.com"}, AmountMinor: new(int64(1250)), Currency: "EUR",
			Records: new(1), Irreversible: []string{"a letter is sent"},
		},
		PolicyVersion: 3, Requirement: approval.Requirement{Level: approval.One, Role: "support", Group: "eu", Lifetime: time.Hour},
		Lifetime: 15 * time.Minute,
	}
}

func TestCanonicalIsThisForm(t *testing.T) {
	t.Parallel()
	b, err := proposal("p_1").Canonical()
	require.NoError(t, err)
	require.Equal(t, `{"consequence":{"amount_minor":1250,"currency":"EUR","environment":"production","irreversible":["a letter is sent"],"recipients":["a@example.com"],"records":1},`+
		`"diffs":[{"after":"Köln","before":"Bonn","field":"city"}],"form":"toolcontract/proposal/1",`+
		`"level":{"group":"eu","level":"one","lifetime_ns":3600000000000,"role":"support","self":false},"lifetime_ns":900000000000,`+
		`"plan":{"city":"Köln","n":9007199254740993},"policy_version":3,"requester":{"subject":"agent-7","tenant":"t1"},`+
		`"resource":"customer/c_1","resource_sequence":4,"run":"run_1","summary":"Replace the shipping address",`+
		`"target":{"id":"c_1","type":"customer","version":"17"},"tenant":"t1","tool":"commit_address_change_v2"}`, string(b),
		"digests that are stored depend on it: another form needs another name")

	empty := approval.Proposal{Plan: jsontext.Value("{}"), Requirement: approval.Requirement{Level: approval.None}}
	b, err = empty.Canonical()
	require.NoError(t, err)
	require.Contains(t, string(b), `"amount_minor":null,"currency":"","environment":"","irreversible":[],"recipients":[],"records":null`)
	require.Contains(t, string(b), `"diffs":[]`)
}

// Every field, those that a later change adds among them, is covered by the digest or named here as one that is not.
func TestCanonicalCoversEveryField(t *testing.T) {
	t.Parallel()
	uncovered := []string{"ID", "Digest", "CreatedAt", "ExpiresAt", "Requester.Kind", "Requester.Roles"}
	base, err := proposal("p_1").Canonical()
	require.NoError(t, err)
	seen := 0
	for _, path := range leaves(reflect.TypeFor[approval.Proposal](), nil, "") {
		p := proposal("p_1").Clone()
		alter(t, reflect.ValueOf(&p).Elem().FieldByIndex(path.index))
		b, err := p.Canonical()
		require.NoError(t, err, path.name)
		if contains(uncovered, path.name) {
			require.Equal(t, string(base), string(b), path.name)
			seen++
			continue
		}
		require.NotEqual(t, string(base), string(b), "%s is not covered", path.name)
	}
	require.Len(t, uncovered, seen)
}

type leaf struct {
	name  string
	index []int
}

func leaves(typ reflect.Type, index []int, prefix string) []leaf {
	var out []leaf
	for f := range typ.Fields() {
		at := append(append([]int{}, index...), f.Index...)
		if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]() {
			out = append(out, leaves(f.Type, at, prefix+f.Name+".")...)
			continue
		}
		out = append(out, leaf{prefix + f.Name, at})
	}
	return out
}

// alter changes a value to another valid one of its type.
func alter(t *testing.T, v reflect.Value) {
	t.Helper()
	switch x := v.Addr().Interface().(type) {
	case *string:
		*x += "x"
	case *int:
		*x++
	case *int64:
		*x++
	case *bool:
		*x = !*x
	case **int:
		**x++
	case **int64:
		**x++
	case *[]string:
		*x = append(*x, "x")
	case *time.Duration:
		*x++
	case *time.Time:
		*x = x.Add(1)
	case *jsontext.Value:
		*x = jsontext.Value(`{"city":"Köln","n":9007199254740992}`)
	case *[]approval.Diff:
		(*x)[0].Before = "Wien"
	case *approval.Level:
		*x = approval.Two
	case *approval.Kind:
		*x = approval.Person
	default:
		t.Fatalf("a field of a new type %T: say how to alter it", x)
	}
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func TestCanonicalSpellings(t *testing.T) {
	t.Parallel()
	a, b := proposal("p_1"), proposal("p_2")
	a.Plan, b.Plan = jsontext.Value(`{"b":1E2,"a":"\u00f6"}`), jsontext.Value(` {"a":"ö", "b":100} `)
	ca, err := a.Canonical()
	require.NoError(t, err)
	cb, err := b.Canonical()
	require.NoError(t, err)
	require.Equal(t, string(ca), string(cb), "one plan, spelt in two ways")

	// "not said" is nil or empty alike, and is not zero.
	a.Consequence, b.Consequence = approval.Consequence{Recipients: []string{}}, approval.Consequence{}
	ca, err = a.Canonical()
	require.NoError(t, err)
	cb, err = b.Canonical()
	require.NoError(t, err)
	require.Equal(t, string(ca), string(cb))
	b.Consequence.AmountMinor = new(int64(0))
	cb, err = b.Canonical()
	require.NoError(t, err)
	require.NotEqual(t, string(ca), string(cb))
}

func TestCanonicalRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*approval.Proposal){
		"no plan":          func(p *approval.Proposal) { p.Plan = nil },
		"plan is no JSON":  func(p *approval.Proposal) { p.Plan = jsontext.Value(`{"a":`) },
		"duplicate member": func(p *approval.Proposal) { p.Plan = jsontext.Value(`{"a":1,"a":2}`) },
		"no level":         func(p *approval.Proposal) { p.Requirement.Level = 0 },
		"invalid UTF-8":    func(p *approval.Proposal) { p.Summary = "\xff" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := proposal("p_1")
			change(&p)
			_, err := p.Canonical()
			require.Error(t, err)
			require.True(t, isEither(err, approval.ErrInvalid, redact.ErrCanonical), err)
		})
	}
}
