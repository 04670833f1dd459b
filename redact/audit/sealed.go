package audit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/redact"
)

// Shelf is where a [SealedQuarantine] puts what it sealed: a directory ([DirShelf]), a table. It decides nothing.
// Implementations are safe for concurrent use.
type Shelf interface {
	// Put stores the parcel behind those of its request. Where the request has MaxBefore of them, the last gives way.
	Put(ctx context.Context, p Parcel) error
	// Parcels returns those of the request, in the order in which they were put; none is no error.
	Parcels(ctx context.Context, request string) ([]Parcel, error)
	// Purge removes the parcels that expire at now or before, and says how many.
	Purge(ctx context.Context, now time.Time) (int, error)
}

// Parcel is an item as a shelf sees it. Request, 64 hexadecimal digits, stands for the request's id; the times are of
// the quarantine's clock, in UTC, and come back as they were put, to the millisecond.
type Parcel struct {
	Request       string
	Kept, Expires time.Time
	Sealed        []byte
}

// SealedQuarantineConfig configures a [SealedQuarantine].
type SealedQuarantineConfig struct {
	Shelf     Shelf         // nil is an error
	Sealer    redact.Sealer // nil is an error; redact.Plain for those who encrypt the disk
	Audit     Sink          // records each opening; nil is an error
	Retention time.Duration // of items whose For is zero; zero: DefaultRetention
	Now       func() time.Time
}

// SealedQuarantine is a [Quarantine] that keeps items sealed, bound to their request and their expiry: one that was
// moved to another request, or whose retention was stretched, does not open. What does not open is an error that wraps
// [redact.ErrSealed] or [redact.ErrKey], and is recorded. Causes come back as [*StoredError].
type SealedQuarantine struct{ cfg SealedQuarantineConfig }

// ErrConfig says that a quarantine cannot be built from its configuration.
var ErrConfig = errors.New("audit: configuration")

// NewSealedQuarantine returns a quarantine on the shelf; all faults of the configuration are told, each wrapping
// [ErrConfig].
func NewSealedQuarantine(cfg SealedQuarantineConfig) (*SealedQuarantine, error) {
	var faults []error
	for _, f := range []struct {
		missing bool
		what    string
	}{
		{cfg.Shelf == nil, "no shelf"},
		{cfg.Sealer == nil, "no sealer"},
		{cfg.Audit == nil, "no sink for the openings"},
		{cfg.Retention < 0, "a negative retention"},
	} {
		if f.missing {
			faults = append(faults, fmt.Errorf("%w: %s", ErrConfig, f.what))
		}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the default clock, taken once
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &SealedQuarantine{cfg}, nil
}

// storedItem is an item before it is sealed.
type storedItem struct {
	Item
	Raw       []byte       `json:"raw,omitempty"`
	Cause     *StoredError `json:"cause,omitzero"`
	Retention int64        `json:"retention_ns"`
}

// Keep implements [Quarantine].
func (q *SealedQuarantine) Keep(ctx context.Context, i Item) error {
	i, err := i.prepare(q.cfg.Now().UTC().Truncate(time.Millisecond), q.cfg.Retention)
	if err != nil {
		return err
	}
	p := Parcel{Request: shelved(i.RequestID), Kept: i.KeptAt, Expires: i.KeptAt.Add(i.For).Truncate(time.Millisecond)}
	// What a hostile upstream sent is kept even where it is no text.
	plain, err := json.Marshal(storedItem{i, i.Raw, storedError(i.Cause), int64(i.For)}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return fmt.Errorf("%w: it does not encode", ErrItem)
	}
	if p.Sealed, err = q.cfg.Sealer.Seal(ctx, p.aad(i.RequestID), plain); err != nil {
		return fmt.Errorf("audit: keep: %w", err)
	}
	if err := q.cfg.Shelf.Put(ctx, p); err != nil {
		return fmt.Errorf("audit: keep: %w", err)
	}
	return nil
}

// Open implements [Quarantine].
func (q *SealedQuarantine) Open(ctx context.Context, by, requestID string) (Item, error) {
	now := q.cfg.Now()
	items, unread := q.read(ctx, requestID, now)
	var latest *Item
	if unread == nil && len(items) > 0 {
		item := stacked(items)
		latest = &item
	}
	if err := opening(ctx, q.cfg.Audit, now, by, requestID, latest, unread); err != nil {
		return Item{}, err
	}
	return *latest, nil
}

func (q *SealedQuarantine) read(ctx context.Context, requestID string, now time.Time) ([]Item, error) {
	parcels, err := q.cfg.Shelf.Parcels(ctx, shelved(requestID))
	if err != nil {
		return nil, err
	}
	var items []Item
	for _, p := range parcels {
		if !now.Before(p.Expires) {
			continue
		}
		plain, err := q.cfg.Sealer.Open(ctx, p.aad(requestID), p.Sealed)
		if err != nil {
			return nil, err
		}
		var s storedItem
		if err := json.Unmarshal(plain, &s); err != nil {
			return nil, fmt.Errorf("%w: a stored item does not decode", ErrItem)
		}
		s.Item.Raw, s.Item.For = s.Raw, time.Duration(s.Retention)
		if s.Cause != nil {
			s.Item.Cause = s.Cause
		}
		items = append(items, s.Item)
	}
	return items, nil
}

// Purge implements [Quarantine].
func (q *SealedQuarantine) Purge(ctx context.Context) (int, error) {
	n, err := q.cfg.Shelf.Purge(ctx, q.cfg.Now())
	if err != nil {
		return n, fmt.Errorf("audit: purge: %w", err)
	}
	return n, nil
}

func (p Parcel) aad(requestID string) []byte {
	return redact.AAD("toolcontract/quarantine/1", requestID, strconv.FormatInt(p.Expires.UnixMilli(), 10))
}

func shelved(requestID string) string {
	sum := sha256.Sum256([]byte(requestID))
	return hex.EncodeToString(sum[:])
}
