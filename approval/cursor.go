package approval

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
)

// Cursor is a place in the order of proposals by creation and id, for those who write a Store. The zero Cursor stands
// before the first.
type Cursor struct {
	CreatedAt time.Time
	ID        string
}

// CursorAt is the place of a proposal.
func CursorAt(p Proposal) Cursor { return Cursor{CreatedAt: p.CreatedAt, ID: p.ID} }

// Before reports whether the place is before that of p.
func (c Cursor) Before(p Proposal) bool {
	if c.CreatedAt.Equal(p.CreatedAt) {
		return c.ID < p.ID
	}
	return c.CreatedAt.Before(p.CreatedAt)
}

// String is the opaque form that a page carries; empty for the zero Cursor.
func (c Cursor) String() string {
	if c == (Cursor{}) {
		return ""
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(c.CreatedAt.UnixNano()))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID...))
}

// ParseCursor reads what String writes; anything else is ErrInvalid.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) <= 8 || strings.ContainsAny(s, "\r\n") { // line ends are skipped by the decoder
		return Cursor{}, fmt.Errorf("%w: cursor", ErrInvalid)
	}
	ns := binary.BigEndian.Uint64(b)
	if ns > math.MaxInt64 {
		return Cursor{}, fmt.Errorf("%w: cursor", ErrInvalid)
	}
	return Cursor{CreatedAt: time.Unix(0, int64(ns)).UTC(), ID: string(b[8:])}, nil
}
