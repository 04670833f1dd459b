package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
)

// ErrDigest says that a digest does not belong to the content: it is of something else, of another tenant, cut or
// altered.
var ErrDigest = errors.New("redact: the digest does not match")

// ErrTenant says that the tenant is empty: without one, digests of two tenants could be compared.
var ErrTenant = errors.New("redact: the tenant is empty")

// digestScheme begins every digest; another construction would begin otherwise.
const digestScheme = "hs256"

// Digester makes digests that only holders of the key can make or test: HMAC-SHA-256 (RFC 2104) under a key that HKDF
// derives for each tenant, so that a digest tells nothing of a value that could be guessed, and equal values of two
// tenants have unequal digests. The form is hs256:<key id>:<64 lower-case hex digits>.
//
// Immutable and safe for concurrent use. The zero value and nil have no key: they sum to "" and verify nothing.
type Digester struct{ keys keyring }

// NewDigester returns a Digester whose first key makes new digests while all verify; the error wraps [ErrKey].
// Rotate by putting the new key first and keeping the old one as long as anything bears its digests.
func NewDigester(keys ...Key) (*Digester, error) {
	ring, err := newKeyring("digest/1", keys)
	if err != nil {
		return nil, err
	}
	return &Digester{ring}, nil
}

// Sum returns the digest of canonical, usually what [Canonical] returned, under the first key. It is the same for the
// same tenant and bytes. For an empty tenant it is "", which no content has and [Digester.Verify] never accepts: test
// for it where the tenant was not checked before.
func (d *Digester) Sum(tenant string, canonical []byte) string {
	if d == nil || len(d.keys.ids) == 0 {
		return ""
	}
	return d.sum(0, tenant, canonical)
}

// Sums returns the digest under every key, the first key's first: what to look for where a digest from before a
// rotation may be stored. For an empty tenant it is empty.
func (d *Digester) Sums(tenant string, canonical []byte) []string {
	if d == nil || tenant == "" {
		return nil
	}
	sums := make([]string, 0, len(d.keys.ids))
	for i := range d.keys.ids {
		if s := d.sum(i, tenant, canonical); s != "" {
			sums = append(sums, s)
		}
	}
	return sums
}

// Verify returns nil if digest was made by Sum of the same tenant and bytes under one of the keys. Otherwise the error
// is [ErrTenant] for an empty tenant, [ErrKey] for a well-formed digest of a key that is not there (nothing is known of
// the content), and [ErrDigest] for all else. The comparison takes the same time wherever they differ.
func (d *Digester) Verify(tenant string, canonical []byte, digest string) error {
	if tenant == "" {
		return ErrTenant
	}
	id, ok := digestKey(digest)
	if !ok {
		return ErrDigest
	}
	i := -1
	if d != nil {
		i = d.keys.index(id)
	}
	if i < 0 {
		return ErrKey
	}
	if want := d.sum(i, tenant, canonical); want == "" || !hmac.Equal([]byte(want), []byte(digest)) {
		return ErrDigest
	}
	return nil
}

func (d *Digester) sum(key int, tenant string, canonical []byte) string {
	if tenant == "" {
		return ""
	}
	secret, err := d.keys.derive(key, tenant)
	if err != nil {
		return "" // only a build that forbids the algorithm gets here
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(canonical)
	return digestScheme + ":" + d.keys.ids[key] + ":" + hex.EncodeToString(mac.Sum(nil))
}

func digestKey(digest string) (id string, ok bool) {
	rest, ok := strings.CutPrefix(digest, digestScheme+":")
	if !ok {
		return "", false
	}
	id, sum, ok := strings.Cut(rest, ":")
	return id, ok && validKeyID(id) && len(sum) == hex.EncodedLen(sha256.Size)
}
