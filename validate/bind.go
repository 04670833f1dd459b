package validate

import (
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Same binds a result to its request: an INVALID_RESPONSE at field unless got is want. An upstream that answers for
// another customer than the one asked about is caught here, whatever the form of its answer. What Go cannot compare, an
// interface that holds a slice or a map, is never the same; nor is a float that is not a number.
func Same[T comparable](field string, want, got T) error {
	if equals(want, got) {
		return nil
	}
	return broken(field, "same")
}

func equals[T comparable](a, b T) (same bool) {
	defer func() {
		if recover() != nil { // Go specification, Comparison operators: the dynamic types may not be comparable
			same = false
		}
	}()
	return a == b
}

// Fresh reports an INVALID_RESPONSE at field when at lies more than window before now, lies after now by more than
// window (a clock that runs ahead), or is the zero time. A window of zero or less admits only now itself.
func Fresh(field string, at, now time.Time, window time.Duration) error {
	window = max(window, 0)
	if at.IsZero() || at.Before(now.Add(-window)) || at.After(now.Add(window)) { // Sub would end at 292 years
		return broken(field, "fresh")
	}
	return nil
}

func broken(field, rule string) error {
	e := envelope.New(envelope.InvalidResponse).At(field)
	e.Rule = rule
	return e
}

// Page is one page of a list: bounded, with the cursor that asks for the next, empty on the last.
// The cursor is opaque, at most 4096 code points.
type Page[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"next_cursor,omitzero" jsonschema:"maxLength=4096"`
}
