package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Item is what broke a contract: an upstream's response, a handler's error or panic, a document that did not pass.
// RequestID must be set: the agent has it, and operators find the item by it.
//
// Raw and Cause may hold anything, credentials and personal data included. They are for the operators alone: an Item
// prints and encodes without them.
type Item struct {
	RequestID      string `json:"request_id"`
	Tenant         string `json:"tenant,omitzero"`
	Tool           string `json:"tool,omitzero"`            // wire name
	Owner          string `json:"owner,omitzero"`           // who looks after the tool
	Rule           string `json:"rule,omitzero"`            // the rule that was broken
	Path           string `json:"path,omitzero"`            // where, as the schema declares it
	Source         string `json:"source,omitzero"`          // handler, or the upstream's endpoint
	AdapterVersion string `json:"adapter_version,omitzero"` // of the tool or the adapter
	Digest         string `json:"digest,omitzero"`          // of the whole document, keyed
	Status         int    `json:"status,omitzero"`          // the upstream's
	Raw            []byte `json:"-"`                        // the document; stores keep the first MaxRaw bytes
	Cause          error  `json:"-"`                        // a durable store keeps its text and types, and returns a [*StoredError]

	// For is how long the item is kept; zero is the store's retention, negative an error.
	For time.Duration `json:"-"`
	// KeptAt is the store's, on its clock.
	KeptAt time.Time `json:"kept_at,omitzero"`
	// Before holds what was kept earlier for the same request, the earliest first; in Keep it is ignored.
	Before []Item `json:"-"`
}

// MaxRaw is how much of Item.Raw a store of this package keeps, in bytes.
const MaxRaw = 1 << 20

// MaxBefore is how many items a store of this package keeps for one request; a further one replaces the last.
const MaxBefore = 16

// DefaultRetention is how long a store of this package keeps an item whose For is zero, where its configuration says
// nothing else.
const DefaultRetention = 7 * 24 * time.Hour

// String names the item by what may stand in a log.
func (i Item) String() string {
	return fmt.Sprintf("item of %s: tool %s, rule %s at %q, status %d, raw %d bytes", i.RequestID, i.Tool, i.Rule, i.Path, i.Status, len(i.Raw))
}

// Format writes String for every verb and flag, so that neither Raw nor Cause is printed.
func (i Item) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, i.String()) }

// Quarantine keeps items for staff and for a time. Implementations are safe for concurrent use.
//
// The host authorises the staff member before it calls Open: by is the verified principal, and is not checked but for
// being there.
type Quarantine interface {
	// Keep stores the item. Several items of one request are all kept.
	Keep(ctx context.Context, i Item) error
	// Open records that by opened the items of the request and then returns the latest, the others in its Before.
	// Nothing is returned that could not be recorded. A request that is not there, or no longer, is ErrNotFound, and
	// that too is recorded.
	Open(ctx context.Context, by, requestID string) (Item, error)
	// Purge removes what has outlived its retention and says how many items that were. What has is never opened, purged
	// or not.
	Purge(ctx context.Context) (int, error)
}

var (
	// ErrNotFound says that the quarantine holds nothing of the request, or no longer.
	ErrNotFound = errors.New("audit: nothing is quarantined for this request")
	// ErrItem says that an item, or what asks for one, lacks what it must have.
	ErrItem = errors.New("audit: not a quarantine item")
)

// prepare checks an item that is to be kept and completes it.
func (i Item) prepare(now time.Time, retention time.Duration) (Item, error) {
	if retention == 0 {
		retention = DefaultRetention
	}
	switch {
	case i.RequestID == "" || len(i.RequestID) > 128:
		return Item{}, fmt.Errorf("%w: the request id is empty or longer than 128 bytes", ErrItem)
	case i.For < 0:
		return Item{}, fmt.Errorf("%w: a negative retention", ErrItem)
	case i.For == 0:
		i.For = retention
	}
	i.KeptAt, i.Before = now, nil
	i.Raw = slices.Clone(i.Raw[:min(len(i.Raw), MaxRaw)])
	return i, nil
}

// expired reports whether the item's time is over.
func (i Item) expired(now time.Time) bool { return !now.Before(i.KeptAt.Add(i.For)) }

// opening records that items are opened, are not there, or cannot be read; an error means that they must not be handed
// out.
func opening(ctx context.Context, sink Sink, now time.Time, by, requestID string, latest *Item, unread error) error {
	switch {
	case by == "":
		return fmt.Errorf("%w: nobody opens it", ErrItem)
	case sink == nil:
		return errNoSink
	}
	e := Event{At: now, Kind: EventOpen, Subject: by, RequestID: requestID, Outcome: "not_found"}
	if unread != nil {
		e.Outcome = "unreadable"
	}
	if latest != nil {
		e.Tenant, e.Tool, e.AdapterVersion, e.Outcome = latest.Tenant, latest.Tool, latest.AdapterVersion, "opened"
	}
	if err := sink.Record(ctx, e); err != nil {
		return fmt.Errorf("audit: open: %w", err)
	}
	switch {
	case unread != nil:
		return fmt.Errorf("audit: open: %w", unread)
	case latest == nil:
		return ErrNotFound
	}
	return nil
}

// EventOpen is the kind of the event that a quarantine of this package records when it is opened; the outcome is
// opened, not_found or unreadable.
const EventOpen = "quarantine_open"

// stacked returns the latest item with the others in its Before.
func stacked(items []Item) Item {
	last := items[len(items)-1]
	last.Raw = slices.Clone(last.Raw)
	for _, earlier := range items[:len(items)-1] {
		earlier.Raw = slices.Clone(earlier.Raw)
		last.Before = append(last.Before, earlier)
	}
	return last
}
