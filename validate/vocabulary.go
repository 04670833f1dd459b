package validate

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Money is an amount in the minor unit of its currency: 1250 with "EUR" is twelve euros and fifty cents. Amounts of
// money are never floating point. Which currencies are taken, and how large an amount may be, is the tool's to check.
type Money struct {
	AmountMinor int64  `json:"amount_minor"`
	Currency    string `json:"currency" jsonschema:"pattern=^[A-Z]{3}$"` // ISO 4217
}

// Reference is an opaque token that stands for a record, such as redact.References issues: in a schema a string of up to
// 1024 letters, digits, "_" and "-". It says nothing to the model, and is resolved behind the boundary.
type Reference string

const (
	referencePattern = "^[A-Za-z0-9_-]+$"
	referenceLength  = 1024
)

// Enumerated is a named string type that lists its own values: wherever it stands in a contract, its schema is that
// enumeration. Values has a value receiver, gives at least one value, none twice, and the same each time.
type Enumerated interface{ Values() []string }

// Date is a day of the calendar without a time or a zone: a birthday, a due date. It is written as full-date of RFC 3339
// section 5.6, "2024-02-29", and its schema has the format date. Dates compare with == and [Date.Compare]. The zero Date
// is no date and cannot be written; a field that may be without one has omitzero.
type Date struct {
	year       int16
	month, day uint8
}

// ErrDate says that a text or numbers are no day of the calendar.
var ErrDate = errors.New("validate: no such date")

// NewDate returns the day of the Gregorian calendar; years run from 0 to 9999. The error wraps [ErrDate].
func NewDate(year int, month time.Month, day int) (Date, error) {
	if year < 0 || year > 9999 || month < 1 || month > 12 || day < 1 || day > daysIn(year, int(month)) {
		return Date{}, ErrDate
	}
	return Date{int16(year), uint8(month), uint8(day)}, nil //nolint:gosec // bounded above
}

// ParseDate reads "2024-02-29". The error wraps [ErrDate] and does not hold the text.
func ParseDate(text string) (Date, error) {
	var d Date
	err := d.UnmarshalText([]byte(text))
	return d, err
}

// DateOf returns the day on which t falls in its own location.
func DateOf(t time.Time) (Date, error) {
	y, m, d := t.Date()
	return NewDate(y, m, d)
}

// IsZero reports whether d is no date.
func (d Date) IsZero() bool { return d == Date{} }

// Date returns year, month and day of the calendar; zeros for the zero Date.
func (d Date) Date() (year int, month time.Month, day int) {
	return int(d.year), time.Month(d.month), int(d.day)
}

// In returns the instant at which the day begins in the location; the zero time for the zero Date.
func (d Date) In(loc *time.Location) time.Time {
	if d.IsZero() {
		return time.Time{}
	}
	return time.Date(int(d.year), time.Month(d.month), int(d.day), 0, 0, 0, 0, loc)
}

// Compare returns -1 where d is before e, 0 where they are the same day, +1 where it is after; the zero Date is before
// every other.
func (d Date) Compare(e Date) int {
	return cmp.Compare(d.ordinal(), e.ordinal())
}

func (d Date) ordinal() int { return int(d.year)<<16 | int(d.month)<<8 | int(d.day) }

// String returns the date as it is written, "" for the zero Date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.year, d.month, d.day)
}

// MarshalText writes the date; the zero Date is an error, [ErrDate].
func (d Date) MarshalText() ([]byte, error) {
	if d.IsZero() {
		return nil, ErrDate
	}
	return []byte(d.String()), nil
}

// UnmarshalText reads the date; anything else than a day of the calendar is an error, [ErrDate], and leaves d as it was.
func (d *Date) UnmarshalText(text []byte) error {
	if !isDate(text) {
		return ErrDate
	}
	y, _ := number(text, 4)
	m, _ := number(text[5:], 2)
	day, _ := number(text[8:], 2)
	*d = Date{int16(y), uint8(m), uint8(day)} //nolint:gosec // isDate bounds them
	return nil
}
