package redact

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
)

// Sealer encrypts what stores keep. What was sealed opens with the same aad alone: a row that is copied to another
// tenant, operation or column does not open there. An implementation may call a key service; it is safe for concurrent
// use, and neither keeps nor changes the slices that it is given.
type Sealer interface {
	// Seal returns plain encrypted and bound to aad. Equal calls return unequal results.
	Seal(ctx context.Context, aad, plain []byte) ([]byte, error)
	// Open returns what was sealed with the same aad, or an error and nothing.
	Open(ctx context.Context, aad, sealed []byte) ([]byte, error)
}

// ErrSealed says that a sealed text does not open: it was altered or cut, or was sealed with other additional data.
var ErrSealed = errors.New("redact: the sealed text does not open")

// AAD joins the parts that a sealed text is bound to (tenant, operation, column, version) so that no two lists of parts
// give the same bytes: each part is preceded by its length.
func AAD(parts ...string) []byte {
	var b []byte
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	return b
}

// NewSealer returns a Sealer with AES-256-GCM. The first key seals, all open; the error wraps [ErrKey].
//
// Each text is sealed under a key of its own, which HKDF derives from the key and 16 fresh random bytes, with a fresh
// random nonce: no key wears out with the number of texts. A sealed text is 1 byte of version, 1 of the key ID's
// length, the key ID, 16 of salt, 12 of nonce, the ciphertext and 16 of tag, so 46 bytes and the ID longer than plain;
// all of it is authenticated.
//
// Open fails with [ErrKey] where the text names a key that is not there, otherwise with [ErrSealed]. Both ignore ctx.
func NewSealer(keys ...Key) (Sealer, error) {
	ring, err := newKeyring("seal/1", keys)
	if err != nil {
		return nil, err
	}
	return gcmSealer{ring}, nil
}

const (
	sealVersion = 1 // never the first byte of a JSON text
	saltBytes   = 16
	nonceBytes  = 12
	tagBytes    = 16
)

type gcmSealer struct{ keys keyring }

func (s gcmSealer) Seal(_ context.Context, aad, plain []byte) ([]byte, error) {
	return s.seal(aad, plain)
}

func (s gcmSealer) Open(_ context.Context, aad, sealed []byte) ([]byte, error) {
	return s.open(aad, sealed)
}

func (s gcmSealer) seal(aad, plain []byte) ([]byte, error) {
	id := s.keys.ids[0]
	head := 2 + len(id)
	out := make([]byte, head+saltBytes+nonceBytes, head+saltBytes+nonceBytes+len(plain)+tagBytes)
	out[0], out[1] = sealVersion, byte(len(id)) //nolint:gosec // at most 32, as newKeyring sees to
	copy(out[2:], id)
	if _, err := rand.Read(out[head:]); err != nil {
		return nil, err
	}
	aead, err := s.cipher(0, out[head:head+saltBytes])
	if err != nil {
		return nil, err
	}
	nonce := out[head+saltBytes:]
	return aead.Seal(out, nonce, plain, boundTo(out[:head], aad)), nil //nolint:gosec // the nonce was read from crypto/rand above
}

func (s gcmSealer) open(aad, sealed []byte) ([]byte, error) {
	if len(sealed) < 2 || sealed[0] != sealVersion || len(sealed) < 2+int(sealed[1])+saltBytes+nonceBytes+tagBytes {
		return nil, ErrSealed
	}
	head := 2 + int(sealed[1])
	key := s.keys.index(string(sealed[2:head]))
	if key < 0 {
		return nil, ErrKey
	}
	salt, nonce, body := sealed[head:head+saltBytes], sealed[head+saltBytes:head+saltBytes+nonceBytes], sealed[head+saltBytes+nonceBytes:]
	aead, err := s.cipher(key, salt)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, nonce, body, boundTo(sealed[:head], aad))
	if err != nil {
		return nil, ErrSealed
	}
	return plain, nil
}

func (s gcmSealer) cipher(key int, salt []byte) (cipher.AEAD, error) {
	secret, err := s.keys.derive(key, string(salt))
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// boundTo is what the tag covers beside the text: the head, whose length it tells itself, and the caller's aad.
func boundTo(head, aad []byte) []byte {
	return append(append(make([]byte, 0, len(head)+len(aad)), head...), aad...)
}

// Plain returns a Sealer that seals nothing: Seal and Open copy. It is for those who encrypt elsewhere or want to read
// their tables, and is written out by name so that a review sees it. It ignores aad: a row that is moved opens.
func Plain() Sealer { return plainSealer{} }

type plainSealer struct{}

func (plainSealer) Seal(_ context.Context, _, plain []byte) ([]byte, error) {
	return bytes.Clone(plain), nil
}

func (plainSealer) Open(_ context.Context, _, sealed []byte) ([]byte, error) {
	return bytes.Clone(sealed), nil
}
