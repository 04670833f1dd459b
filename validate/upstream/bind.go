package upstream

import (
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// FreshText is [validate.Fresh] for a date-time of RFC 3339 that is passed on as it was sent. Instants are compared,
// whatever their offsets; a text that is no date-time, or the 60th second of a minute, is not fresh.
func FreshText(field, at string, now time.Time, window time.Duration) error {
	// RFC 3339 section 5.6 admits t and z; package time does not.
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(at))
	if err != nil {
		t = time.Time{}
	}
	return validate.Fresh(field, t, now, window)
}

// Advances refuses a page whose next cursor is the one that was sent: whoever followed it would never end. No next
// cursor is the end of the list.
func Advances(field, sent, next string) error {
	if next == "" || next != sent {
		return nil
	}
	e := envelope.New(envelope.InvalidResponse).At(field)
	e.Rule = "advances"
	return e
}
