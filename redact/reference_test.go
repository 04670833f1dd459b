package redact_test

import (
	"encoding/base32"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
)

var binding = redact.Binding{Tenant: "t1", Issuer: "crm", Audience: "run-1", Action: "request_refund_review"}

// references returns References on a clock that stands still until it is moved.
func references(t require.TestingT, keys ...redact.Key) (*redact.References, *time.Time) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	r, err := redact.NewReferencesAt(func() time.Time { return now }, keys...)
	require.NoError(t, err)
	return r, &now
}

func ExampleReferences() {
	refs, _ := redact.NewReferences(redact.Key{ID: "2026-07", Secret: []byte("a secret of 32 bytes at the least")})
	mine := redact.Binding{Tenant: "tenant-1", Issuer: "crm", Audience: "run-7", Action: "request_refund_review"}
	ref, _ := refs.Issue(mine, "case-4711", 15*time.Minute)

	fmt.Println(strings.Contains(ref, "4711"))
	fmt.Println(refs.Resolve(mine, ref))
	other := mine
	other.Action = "close_case"
	fmt.Println(refs.Resolve(other, ref))
	// Output:
	// false
	// case-4711 <nil>
	//  redact: no such reference here
}

func TestReferenceExpires(t *testing.T) {
	t.Parallel()
	r, now := references(t, key("a", 1))
	ref, err := r.Issue(binding, "case-1", time.Minute)
	require.NoError(t, err)
	id, err := r.Resolve(binding, ref)
	require.NoError(t, err)
	require.Equal(t, "case-1", id)
	*now = now.Add(time.Minute - time.Millisecond)
	_, err = r.Resolve(binding, ref)
	require.NoError(t, err, "to the last millisecond")
	*now = now.Add(time.Millisecond)
	id, err = r.Resolve(binding, ref)
	require.ErrorIs(t, err, redact.ErrExpired)
	require.Empty(t, id)
	other := binding
	other.Audience = "run-2"
	_, err = r.Resolve(other, ref)
	require.ErrorIs(t, err, redact.ErrReference, "nobody else learns even that it expired")
	wall, err := redact.NewReferencesAt(nil, key("a", 1))
	require.NoError(t, err)
	_, err = wall.Resolve(binding, ref)
	require.ErrorIs(t, err, redact.ErrExpired, "nil is the wall clock, which is later")
}

func TestReferenceIsUselessElsewhere(t *testing.T) {
	t.Parallel()
	r, _ := references(t, key("a", 1))
	ref, err := r.Issue(binding, "case-1", time.Minute)
	require.NoError(t, err)
	for name, change := range map[string]func(*redact.Binding){
		"tenant":   func(b *redact.Binding) { b.Tenant = "t2" },
		"issuer":   func(b *redact.Binding) { b.Issuer = "erp" },
		"audience": func(b *redact.Binding) { b.Audience = "run-2" },
		"action":   func(b *redact.Binding) { b.Action = "close_case" },
		"border":   func(b *redact.Binding) { b.Tenant, b.Issuer = "t", "1crm" },
	} {
		other := binding
		change(&other)
		id, err := r.Resolve(other, ref)
		require.ErrorIs(t, err, redact.ErrReference, name)
		require.Empty(t, id, name)
	}
	stranger, _ := references(t, key("a", 2))
	_, err = stranger.Resolve(binding, ref)
	require.ErrorIs(t, err, redact.ErrReference, "another secret")
	stranger, _ = references(t, key("b", 1))
	_, err = stranger.Resolve(binding, ref)
	require.ErrorIs(t, err, redact.ErrReference, "a key that is gone")
	for i := range ref {
		for _, c := range "0z" {
			if byte(c) == ref[i] {
				continue
			}
			_, err := r.Resolve(binding, ref[:i]+string(c)+ref[i+1:])
			require.ErrorIs(t, err, redact.ErrReference, "altered at %d", i)
		}
	}
	for _, bad := range []string{"", "ref_", ref[:len(ref)-1], ref + "0", ref + "\n", "\n" + ref, ref[:9] + "\r\n" + ref[9:], strings.ToUpper(ref), strings.TrimPrefix(ref, "ref_"), "case-1", ref + ref} {
		_, err := r.Resolve(binding, bad)
		require.ErrorIs(t, err, redact.ErrReference, "%q", bad)
	}
}

func TestReferenceIsNotDerivedFromItsID(t *testing.T) {
	t.Parallel()
	r, _ := references(t, key("a", 1))
	one, err := r.Issue(binding, "case-1", time.Minute)
	require.NoError(t, err)
	two, err := r.Issue(binding, "case-1", time.Minute)
	require.NoError(t, err)
	require.NotEqual(t, one, two)
	require.Regexp(t, `^ref_[0-9a-hjkmnp-tv-z]+$`, one)
	c, err := redact.NewCanary("case-1")
	require.NoError(t, err)
	sealed, err := base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding).DecodeString(one[4:])
	require.NoError(t, err)
	require.Empty(t, c.Search(sealed), "sealed, not only spelt otherwise")
	longer, err := r.Issue(binding, "case-1234567890-12345", time.Minute)
	require.NoError(t, err)
	require.Len(t, longer, len(one), "lengths show in steps only")
}

func TestReferenceRefusesOpenTerms(t *testing.T) {
	t.Parallel()
	r, _ := references(t, key("a", 1))
	ref, err := r.Issue(binding, "x", time.Minute)
	require.NoError(t, err)
	for name, change := range map[string]func(*redact.Binding){
		"tenant":   func(b *redact.Binding) { b.Tenant = "" },
		"issuer":   func(b *redact.Binding) { b.Issuer = "" },
		"audience": func(b *redact.Binding) { b.Audience = "" },
		"action":   func(b *redact.Binding) { b.Action = "" },
	} {
		other := binding
		change(&other)
		_, err := r.Issue(other, "x", time.Minute)
		require.ErrorIs(t, err, redact.ErrBinding, name)
		_, err = r.Resolve(other, ref)
		require.ErrorIs(t, err, redact.ErrBinding, name)
	}
	for _, id := range []string{"", strings.Repeat("x", redact.MaxReferenceID+1)} {
		_, err := r.Issue(binding, id, time.Minute)
		require.ErrorIs(t, err, redact.ErrBinding)
	}
	for _, ttl := range []time.Duration{0, -time.Minute, time.Microsecond} {
		_, err := r.Issue(binding, "x", ttl)
		require.ErrorIs(t, err, redact.ErrBinding, "a reference that never expires, or has, is a mistake")
	}
	long := strings.Repeat("x", redact.MaxReferenceID)
	ref, err = r.Issue(binding, long, time.Minute)
	require.NoError(t, err)
	id, err := r.Resolve(binding, ref)
	require.NoError(t, err)
	require.Equal(t, long, id)
}

func TestReferencesRotate(t *testing.T) {
	t.Parallel()
	old, _ := references(t, key("old", 1))
	ref, err := old.Issue(binding, "x", time.Minute)
	require.NoError(t, err)
	both, _ := references(t, key("new", 2), key("old", 1))
	id, err := both.Resolve(binding, ref)
	require.NoError(t, err)
	require.Equal(t, "x", id)
	ref, err = both.Issue(binding, "x", time.Minute)
	require.NoError(t, err)
	_, err = old.Resolve(binding, ref)
	require.ErrorIs(t, err, redact.ErrReference, "the first key issues")
}

func TestReferencesWithoutKeysFailClosed(t *testing.T) {
	t.Parallel()
	for _, none := range []*redact.References{nil, {}} {
		_, err := none.Issue(binding, "x", time.Minute)
		require.ErrorIs(t, err, redact.ErrKey)
		_, err = none.Resolve(binding, "ref_0")
		require.ErrorIs(t, err, redact.ErrKey)
	}
}

func FuzzResolve(f *testing.F) {
	r, _ := references(f, key("a", 1))
	ref, err := r.Issue(binding, "case-1", time.Minute)
	require.NoError(f, err)
	f.Add("ref_")
	f.Add("ref_0000000000")
	f.Fuzz(func(t *testing.T, text string) {
		if text == ref {
			return
		}
		id, err := r.Resolve(binding, text)
		require.ErrorIs(t, err, redact.ErrReference)
		require.Empty(t, id)
	})
}
