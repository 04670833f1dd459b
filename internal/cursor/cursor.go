// Package cursor spells a place in a list that is ordered by time and id: opaque to those who carry it, not secret.
package cursor

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"time"
	"unicode/utf8"
)

// Errors of Decode.
var errForm = errors.New("cursor: not one of ours")

// The sizes of a page that nobody gave, and the largest.
const (
	defaultSize = 100
	maxSize     = 1000
)

// Encode returns the cursor of what stands after (at, id). at counts in whole nanoseconds.
func Encode(at time.Time, id string) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano()))
	return base64.RawURLEncoding.EncodeToString(append(b, id...))
}

// Decode returns what Encode was given; an id that no store can hold was never given. An empty cursor is the place before
// everything.
func Decode(c string) (at time.Time, id string, err error) {
	if c == "" {
		return time.Unix(0, math.MinInt64).UTC(), "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(c)
	if err != nil || len(b) < 8 || !utf8.Valid(b[8:]) || bytes.IndexByte(b[8:], 0) >= 0 {
		return time.Time{}, "", errForm
	}
	nanos := int64(binary.BigEndian.Uint64(b)) //nolint:gosec // the bits that Encode took
	return time.Unix(0, nanos).UTC(), string(b[8:]), nil
}

// Size returns the number of rows for a page whose size was given as n: 100 for zero or less, at most 1000.
func Size(n int) int {
	if n <= 0 {
		return defaultSize
	}
	return min(n, maxSize)
}
