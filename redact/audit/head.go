package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A file begins with three lines of lineBytes each, padded with spaces: the header, which never changes, and two heads,
// which are written over in turn. One of the two is whole at any moment, and the newer one says how long the file must
// be.
//
//	{"audit":"toolcontract/1","id":"…","key":"…","created":"…"}
//	{"generation":4,"events":3,"chain":"…","signature":"…"}
//	{"generation":3,"events":2,"chain":"…","signature":"…"}
//	{"seq":1,"prev":"…","event":{…}}
//
// chain(0) is the SHA-256 of the header, chain(n) that of chain(n-1) and line n; prev is chain(seq-1). A head's
// signature (Ed25519) covers the header and the head, so that no head fits another file.
const (
	lineBytes   = 256
	regionBytes = 3 * lineBytes
	fileFormat  = "toolcontract/1"
	maxLine     = 256 << 10 // of an event, in bytes
)

type header struct {
	Audit   string    `json:"audit"`
	ID      string    `json:"id"`
	Key     string    `json:"key"`
	Created time.Time `json:"created"`
}

// head is what the writer vouches for: so many events, and the chain's value after the last.
type head struct {
	Generation int64  `json:"generation"`
	Events     int64  `json:"events"`
	Chain      string `json:"chain"`
	Signature  string `json:"signature,omitzero"`
}

var errLine = errors.New("not in its form")

// padded spells v as one of the three first lines.
func padded(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil || len(b) >= lineBytes {
		return nil, errors.Join(errLine, err)
	}
	return append(append(b, bytes.Repeat([]byte{' '}, lineBytes-1-len(b))...), '\n'), nil
}

// unpadded reads one of the three first lines, which must be spelt as padded spells it.
func unpadded[T any](line []byte) (T, error) {
	var v T
	if err := json.Unmarshal(line, &v, json.RejectUnknownMembers(true)); err != nil {
		return v, errLine
	}
	if again, err := padded(v); err != nil || !bytes.Equal(again, line) {
		return v, errLine
	}
	return v, nil
}

func (h head) signedText(headerLine []byte) ([]byte, error) {
	h.Signature = ""
	b, err := json.Marshal(h)
	return append(append([]byte("toolcontract/audit/head/1\n"), headerLine...), b...), err
}

func (h head) line(headerLine []byte, key ed25519.PrivateKey) ([]byte, error) {
	text, err := h.signedText(headerLine)
	if err != nil {
		return nil, err
	}
	h.Signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, text))
	return padded(h)
}

// readHead reads the head of a slot and checks its signature; the error says only that it is not one.
func readHead(line, headerLine []byte, key ed25519.PublicKey, slot int64) (head, error) {
	h, err := unpadded[head](line)
	if err != nil {
		return head{}, err
	}
	text, err := h.signedText(headerLine)
	if err != nil {
		return head{}, err
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(h.Signature)
	if err != nil || h.Generation < 0 || h.Generation%2 != slot || h.Events < 0 || !ed25519.Verify(key, text, signature) {
		return head{}, errLine
	}
	return h, nil
}

// region is the first part of a file, as read; a head that is not whole has an error.
type region struct {
	headerLine []byte
	header     header
	key        ed25519.PublicKey
	heads      [2]head
	headErrs   [2]error
}

func readRegion(b []byte) (region, error) {
	r := region{headerLine: bytes.Clone(b[:lineBytes])}
	var err error
	if r.header, err = unpadded[header](r.headerLine); err != nil || r.header.Audit != fileFormat {
		return region{}, damaged(1, "the header is not an audit file's")
	}
	if r.key, err = parsePublicKey(r.header.Key); err != nil {
		return region{}, damaged(1, "the header's key is none")
	}
	for slot := range r.heads {
		r.heads[slot], r.headErrs[slot] = readHead(b[(1+slot)*lineBytes:(2+slot)*lineBytes], r.headerLine, r.key, int64(slot))
	}
	return r, nil
}

// newest returns the newer of the heads that are whole; there may be none.
func (r region) newest() (head, bool) {
	switch {
	case r.headErrs[0] != nil:
		return r.heads[1], r.headErrs[1] == nil
	case r.headErrs[1] != nil || r.heads[0].Generation > r.heads[1].Generation:
		return r.heads[0], true
	}
	return r.heads[1], true
}

// intact checks that both heads are whole and follow each other.
func (r region) intact() error {
	for slot, err := range r.headErrs {
		if err != nil {
			return damaged(2+slot, "the head is not the writer's: changed, or half written when the writer died")
		}
	}
	a, b := r.heads[0], r.heads[1]
	if a.Generation > b.Generation {
		a, b = b, a
	}
	if a.Generation+1 != b.Generation || a.Events > b.Events {
		return damaged(2, "the two heads do not follow each other")
	}
	return nil
}

const keyPrefix = "ed25519:"

func publicKeyText(key ed25519.PublicKey) string {
	return keyPrefix + base64.RawURLEncoding.EncodeToString(key)
}

func parsePublicKey(text string) (ed25519.PublicKey, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(text, keyPrefix))
	if err != nil || len(b) != ed25519.PublicKeySize || publicKeyText(b) != text {
		return nil, errLine
	}
	return b, nil
}

// Head is a state of a file: how many events it holds, and the value of the chain after the last. Noted elsewhere,
// where whoever can write the file cannot write, it proves later that the file still begins with these events
// ([Inspect]).
type Head struct {
	Events int64
	Chain  string // 64 hexadecimal digits
}

// String spells the head as ParseHead reads it.
func (h Head) String() string { return strconv.FormatInt(h.Events, 10) + ":" + h.Chain }

// ParseHead reads what String wrote; the error wraps [ErrDamaged].
func ParseHead(text string) (Head, error) {
	events, chain, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(events, 10, 64)
	h := Head{n, chain}
	if sum, hexErr := hex.DecodeString(chain); err != nil || hexErr != nil || len(sum) != sha256.Size || n < 0 || h.String() != text {
		return Head{}, fmt.Errorf("%w: not a head, <events>:<64 hexadecimal digits>", ErrDamaged)
	}
	return h, nil
}
