package redact

import (
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Key is one secret of the host's key management. ID names it in whatever it made, so that keys can be rotated: it
// matches ^[A-Za-z0-9_-]{1,32}$, is not secret and is never used again for another secret. Secret is 32 bytes or more
// from a cryptographic source; constructors copy it. The zero value is no key.
//
// A Key prints and encodes as its ID alone, but where fmt asks no method: under %p (and %w outside Errorf), and through
// an unexported field of an enclosing struct. Keep a Key in nothing that is printed, or in a [Secret].
//
// The same key may be given to [NewDigester], [NewSealer] and [NewReferences]: each derives its own from it.
type Key struct {
	ID     string
	Secret []byte
}

// minSecret is the least length of a key's secret, in bytes.
const minSecret = 32

// String returns the ID and never the secret.
func (k Key) String() string { return "key " + k.ID }

// Format writes the ID for every verb and flag, never the secret.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// MarshalText writes the ID, so that no encoder writes the secret.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// ErrKey is wrapped by the errors of a constructor whose keys cannot be used, all faults joined, and of an operation
// that needs a key that is not there.
var ErrKey = errors.New("redact: key")

// keyring holds what HKDF (RFC 5869) extracted from each key for one purpose; the first key makes, all read.
type keyring struct {
	ids   []string
	roots Secret[[][]byte] // so that printing whatever holds the ring prints no key
}

func newKeyring(purpose string, keys []Key) (keyring, error) {
	var r keyring
	var roots [][]byte
	var faults []error
	if len(keys) == 0 {
		faults = append(faults, fmt.Errorf("%w: none given", ErrKey))
	}
	for i, k := range keys {
		switch {
		case !validKeyID(k.ID):
			faults = append(faults, fmt.Errorf("%w %d: the ID does not match ^[A-Za-z0-9_-]{1,32}$", ErrKey, i))
		case r.index(k.ID) >= 0:
			faults = append(faults, fmt.Errorf("%w %d: the ID %s was given before", ErrKey, i, k.ID))
		case len(k.Secret) < minSecret:
			faults = append(faults, fmt.Errorf("%w %d: the secret is shorter than %d bytes", ErrKey, i, minSecret))
		default:
			root, err := hkdf.Extract(sha256.New, k.Secret, []byte("toolcontract/"+purpose))
			if err != nil {
				faults = append(faults, fmt.Errorf("%w %d: %w", ErrKey, i, err))
				continue
			}
			r.ids, roots = append(r.ids, k.ID), append(roots, root)
		}
	}
	r.roots = NewSecret(roots)
	return r, errors.Join(faults...)
}

func (r keyring) index(id string) int {
	for i, have := range r.ids {
		if have == id {
			return i
		}
	}
	return -1
}

// derive returns the key of 32 bytes that root i has for info.
func (r keyring) derive(i int, info string) ([]byte, error) {
	return hkdf.Expand(sha256.New, r.roots.Reveal()[i], info, sha256.Size)
}

func validKeyID(id string) bool {
	if id == "" || len(id) > 32 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
