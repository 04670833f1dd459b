package redact_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
)

func key(id string, fill byte) redact.Key {
	return redact.Key{ID: id, Secret: bytes.Repeat([]byte{fill}, 32)}
}

func digester(t require.TestingT, keys ...redact.Key) *redact.Digester {
	d, err := redact.NewDigester(keys...)
	require.NoError(t, err)
	return d
}

func ExampleDigester() {
	old := redact.Key{ID: "2026-01", Secret: []byte("an old secret of 32 bytes or more")}
	now := redact.Key{ID: "2026-07", Secret: []byte("the new secret, of 32 bytes at least")}
	before, _ := redact.NewDigester(old)
	after, _ := redact.NewDigester(now, old)

	plan, _ := redact.Canonical(map[string]any{"amount": 100})
	digest := before.Sum("tenant-1", plan)
	fmt.Println(digest)
	fmt.Println(after.Verify("tenant-1", plan, digest))
	fmt.Println(after.Verify("tenant-2", plan, digest))
	// Output:
	// hs256:2026-01:29082e4a12248cf36500d1d19f02cc13d8e271f0022e174444e2b3757703e485
	// <nil>
	// redact: the digest does not match
}

func TestDigesterSum(t *testing.T) {
	t.Parallel()
	d := digester(t, key("a", 1), key("b", 2))
	sum := d.Sum("t1", []byte("{}"))
	require.Regexp(t, `^hs256:a:[0-9a-f]{64}$`, sum, "the first key makes new digests and is named")
	require.Equal(t, sum, d.Sum("t1", []byte("{}")), "the same for the same")
	for _, other := range []string{
		d.Sum("t2", []byte("{}")), d.Sum("t1", []byte("{} ")), d.Sum("t1{}", nil), d.Sum("t1", nil),
		strings.Replace(digester(t, key("b", 2)).Sum("t1", []byte("{}")), ":b:", ":a:", 1),
	} {
		require.NotEqual(t, sum, other, "another tenant, other bytes, another border between them, another key")
	}
	require.Equal(t, []string{sum, digester(t, key("b", 2)).Sum("t1", []byte("{}"))}, d.Sums("t1", []byte("{}")), "under every key, the first first")
}

func TestDigesterVerify(t *testing.T) {
	t.Parallel()
	d := digester(t, key("a", 1), key("b", 2))
	body := []byte(`{"a":1}`)
	for _, sum := range d.Sums("t1", body) {
		require.NoError(t, d.Verify("t1", body, sum), "every key verifies")
	}
	sum := d.Sum("t1", body)
	for _, c := range []struct {
		name, tenant, body, digest string
		want                       error
	}{
		{"other body", "t1", `{"a":2}`, sum, redact.ErrDigest},
		{"other tenant", "t2", string(body), sum, redact.ErrDigest},
		{"one bit of the sum", "t1", string(body), sum[:len(sum)-1] + flip(sum[len(sum)-1]), redact.ErrDigest},
		{"cut", "t1", string(body), sum[:len(sum)-2], redact.ErrDigest},
		{"longer", "t1", string(body), sum + "00", redact.ErrDigest},
		{"upper case", "t1", string(body), "hs256:a:" + strings.ToUpper(sum[len("hs256:a:"):]), redact.ErrDigest},
		{"under the name of the other key", "t1", string(body), strings.Replace(sum, ":a:", ":b:", 1), redact.ErrDigest},
		{"no scheme", "t1", string(body), sum[len("hs256:"):], redact.ErrDigest},
		{"other scheme", "t1", string(body), "sha256:a:" + sum[len("hs256:a:"):], redact.ErrDigest},
		{"empty", "t1", string(body), "", redact.ErrDigest},
		{"unknown key", "t1", string(body), strings.Replace(sum, ":a:", ":c:", 1), redact.ErrKey},
		{"no tenant", "", string(body), sum, redact.ErrTenant},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, d.Verify(c.tenant, []byte(c.body), c.digest), c.want)
		})
	}
	require.NoError(t, digester(t, key("b", 2)).Verify("t1", body, d.Sums("t1", body)[1]), "control")
}

func flip(c byte) string {
	if c == '0' {
		return "1"
	}
	return "0"
}

func TestDigesterWithoutTenantOrKeyFailsClosed(t *testing.T) {
	t.Parallel()
	d := digester(t, key("a", 1))
	require.Empty(t, d.Sum("", []byte("{}")))
	require.Empty(t, d.Sums("", []byte("{}")))
	require.ErrorIs(t, d.Verify("", []byte("{}"), d.Sum("", []byte("{}"))), redact.ErrTenant, "what Sum returned for no tenant is never accepted")
	require.Error(t, d.Verify("t1", []byte("{}"), d.Sum("", []byte("{}"))), "for no tenant at all")
	for _, none := range []*redact.Digester{nil, {}} {
		require.Empty(t, none.Sum("t1", []byte("{}")))
		require.Empty(t, none.Sums("t1", []byte("{}")))
		require.ErrorIs(t, none.Verify("t1", []byte("{}"), d.Sum("t1", []byte("{}"))), redact.ErrKey)
		require.Error(t, none.Verify("t1", []byte("{}"), ""))
	}
}

func TestKeysAreChecked(t *testing.T) {
	t.Parallel()
	short := redact.Key{ID: "s", Secret: []byte(canary)}
	makers := map[string]func(...redact.Key) error{
		"digester":   func(k ...redact.Key) error { _, err := redact.NewDigester(k...); return err },
		"sealer":     func(k ...redact.Key) error { _, err := redact.NewSealer(k...); return err },
		"references": func(k ...redact.Key) error { _, err := redact.NewReferences(k...); return err },
	}
	for name, maker := range makers {
		for _, c := range []struct {
			why  string
			keys []redact.Key
			says []string
		}{
			{"a construction without a key is none", nil, []string{"none given"}},
			{"a short secret can be guessed", []redact.Key{short}, []string{"shorter than 32 bytes"}},
			{"31 bytes are short", []redact.Key{{ID: "a", Secret: make([]byte, 31)}}, []string{"shorter than 32 bytes"}},
			{"the zero Key", []redact.Key{{}}, []string{"the ID does not match"}},
			{"the ID stands in texts that are split at colons", []redact.Key{key("a:b", 1)}, []string{"the ID does not match"}},
			{"the ID is bounded", []redact.Key{key(strings.Repeat("a", 33), 1)}, []string{"the ID does not match"}},
			{"an ID names one secret", []redact.Key{key("a", 1), key("a", 2)}, []string{"the ID a was given before"}},
			{"all faults are told at once", []redact.Key{short, key("", 1), key("a", 1), key("a", 1)}, []string{"key 0: ", "key 1: ", "key 3: "}},
		} {
			err := maker(c.keys...)
			require.ErrorIs(t, err, redact.ErrKey, "%s: %s", name, c.why)
			for _, text := range c.says {
				require.Contains(t, err.Error(), text, "%s: %s", name, c.why)
			}
			require.NotContains(t, err.Error(), canary[:6])
		}
		require.NoError(t, maker(key(strings.Repeat("a", 32), 1)), name)
	}
}

func TestKeysDoNotPrint(t *testing.T) {
	t.Parallel()
	k := redact.Key{ID: "a", Secret: []byte(canary + canary + canary)}
	d := digester(t, k)
	for _, v := range []any{k, &k, d, []redact.Key{k}, struct{ K redact.Key }{k}} {
		for how, text := range shownBy(t, v) {
			if how == "%p" || how == "%w" {
				continue // fmt asks no method for them; Key says so
			}
			for _, trace := range []string{canary, fmt.Sprintf("%x", canary), fmt.Sprintf("%d", []byte(canary))[1:20], "WnE3Y2Fu"} {
				require.NotContains(t, text, trace, how)
			}
			require.NotRegexp(t, `([0-9]+ ){16}`, text, "%s: nor what was derived from it", how)
		}
	}
	require.Contains(t, fmt.Sprintf("%+v", struct{ b []byte }{k.Secret}), fmt.Sprintf("%d", []byte(canary))[1:20], "the control")
}

func TestDigesterKeepsItsKeys(t *testing.T) {
	t.Parallel()
	k := key("a", 1)
	d := digester(t, k)
	sum := d.Sum("t1", nil)
	clear(k.Secret)
	require.Equal(t, sum, d.Sum("t1", nil), "the caller may wipe its copy")
}
