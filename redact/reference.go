package redact

import (
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Binding says whose a reference is and for what: the tenant, who issued it, who may present it, and for which action.
// All four must be set; a reference resolves under exactly the Binding that it was issued for.
// Take Tenant and Audience from the verified session, never from the call that brings the reference.
type Binding struct{ Tenant, Issuer, Audience, Action string }

// References turns internal ids into opaque, expiring references that may be shown to a model, and back. Nothing is
// stored: a reference is the id, sealed. It tells nothing of the id but, in steps of 32 bytes, its length; two
// references to one id have nothing in common; and it is useless to another tenant, issuer, audience, or for another
// action.
//
// A reference may be resolved any number of times until it expires, and cannot be revoked before; what must happen once
// is the ledger's to see to. Immutable and safe for concurrent use. The zero value and nil
// have no key: they issue and resolve nothing ([ErrKey]).
type References struct {
	sealer gcmSealer
	now    func() time.Time
	text   *base32.Encoding
}

// The errors of [References]. What is presented by a model deserves one answer, "not found", for both of the last two.
var (
	ErrBinding   = errors.New("redact: the reference's terms") // a part of the binding, the id or the lifetime cannot be used
	ErrReference = errors.New("redact: no such reference here")
	ErrExpired   = errors.New("redact: the reference has expired")
)

const (
	referencePrefix = "ref_"
	// MaxReferenceID is the longest id that [References.Issue] takes, in bytes: a reference passes through a model.
	MaxReferenceID = 256
	paddedTo       = 32
)

// NewReferences returns References on the wall clock. The first key issues, all resolve; the error wraps [ErrKey].
func NewReferences(keys ...Key) (*References, error) { return NewReferencesAt(nil, keys...) }

// NewReferencesAt is [NewReferences] on the given clock; nil means time.Now.
func NewReferencesAt(now func() time.Time, keys ...Key) (*References, error) {
	ring, err := newKeyring("reference/1", keys)
	if err != nil {
		return nil, err
	}
	if now == nil {
		now = time.Now //nolint:forbidigo // the default clock, taken once
	}
	return &References{
		sealer: gcmSealer{ring}, now: now,
		text: base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding),
	}, nil
}

// Issue returns a reference to id, ref_ and lower-case Crockford base32 (about 140 characters for an id of up to 21
// bytes), good for ttl, to the millisecond. An empty part of b, an empty id or one beyond [MaxReferenceID] bytes, or a
// ttl under a millisecond is an error that wraps [ErrBinding].
func (r *References) Issue(b Binding, id string, ttl time.Duration) (string, error) {
	switch {
	case r == nil || r.now == nil:
		return "", ErrKey
	case !b.complete():
		return "", fmt.Errorf("%w: a part of the binding is empty", ErrBinding)
	case id == "" || len(id) > MaxReferenceID:
		return "", fmt.Errorf("%w: the id is empty or exceeds %d bytes", ErrBinding, MaxReferenceID)
	case ttl < time.Millisecond:
		return "", fmt.Errorf("%w: the lifetime is under a millisecond", ErrBinding)
	}
	plain := make([]byte, 0, 8+3+len(id)+paddedTo)
	plain = binary.BigEndian.AppendUint64(plain, uint64(r.now().Add(ttl).UnixMilli()))
	plain = binary.AppendUvarint(plain, uint64(len(id)))
	plain = append(plain, id...)
	for len(plain)%paddedTo != 0 {
		plain = append(plain, 0)
	}
	sealed, err := r.sealer.seal(b.aad(), plain)
	if err != nil {
		return "", fmt.Errorf("redact: issue a reference: %w", err)
	}
	return referencePrefix + r.text.EncodeToString(sealed), nil
}

// Resolve returns the id that ref was issued for. The error is [ErrExpired] for a reference of this very binding whose
// time is over, wraps [ErrBinding] where a part of b is empty, and is [ErrReference] for all else: altered, another
// binding's, or under a key that is no longer there.
func (r *References) Resolve(b Binding, ref string) (id string, err error) {
	if r == nil || r.now == nil {
		return "", ErrKey
	}
	if !b.complete() {
		return "", fmt.Errorf("%w: a part of the binding is empty", ErrBinding)
	}
	text, ok := strings.CutPrefix(ref, referencePrefix)
	if !ok {
		return "", ErrReference
	}
	sealed, err := r.text.DecodeString(text)
	if err != nil || r.text.EncodeToString(sealed) != text { // the decoder skips line breaks and spare bits
		return "", ErrReference
	}
	plain, err := r.sealer.open(b.aad(), sealed)
	if err != nil || len(plain) < 8 {
		return "", ErrReference
	}
	size, n := binary.Uvarint(plain[8:])
	rest := plain[8+max(n, 0):]
	if n <= 0 || size > uint64(len(rest)) {
		return "", ErrReference
	}
	if r.now().UnixMilli() >= int64(binary.BigEndian.Uint64(plain)) { //nolint:gosec // as written by Issue
		return "", ErrExpired
	}
	return string(rest[:size]), nil
}

func (b Binding) complete() bool {
	return b.Tenant != "" && b.Issuer != "" && b.Audience != "" && b.Action != ""
}

func (b Binding) aad() []byte { return AAD(b.Tenant, b.Issuer, b.Audience, b.Action) }
