package samples

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// Shop is the provider behind the writes: records with versions, which remember what each key did. Reset empties it.
type Shop struct {
	mu       sync.Mutex
	up       *contracttest.Upstream
	versions map[string]int
	done     map[string]change
}

type change struct {
	from, to string
	at       time.Time
}

// NewShop returns a shop that nothing happened in.
func NewShop() *Shop {
	s := &Shop{}
	s.Reset()
	return s
}

// Reset forgets everything, and takes a fresh Upstream.
func (s *Shop) Reset() *contracttest.Upstream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up, s.versions, s.done = contracttest.NewUpstream(), map[string]int{}, map[string]change{}
	return s.up
}

func (s *Shop) upstream() *contracttest.Upstream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up
}

// Touch changes a record as an outsider does.
func (s *Shop) Touch(_ context.Context, t approval.Target) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[t.ID]++
	return nil
}

func (s *Shop) version(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strconv.Itoa(s.versions[id] + 1)
}

var errConflict = errors.New("samples: another version")

// apply changes a record if its version is the one given, once for each key.
func (s *Shop) apply(id, version, key string) (c change, changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.done[key]; ok {
		return c, false, nil
	}
	if strconv.Itoa(s.versions[id]+1) != version {
		return change{}, false, errConflict
	}
	s.versions[id]++
	c = change{version, strconv.Itoa(s.versions[id] + 1), time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	s.done[key] = c
	return c, true, nil
}

func (s *Shop) find(key string) (change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.done[key]
	if !ok {
		return change{}, idem.ErrNotFound
	}
	return c, nil
}

// target is how the payment leaves.
type target interface{ isTarget() }

type toBank struct {
	IBAN string `json:"iban" jsonschema:"pattern=^[A-Z]{2}[0-9]{2}[A-Z0-9]{11\\,30}$"`
	Name string `json:"holder,omitzero" jsonschema:"minLength=2,maxLength=70"`
}

type toCard struct {
	Last4 string `json:"last4" jsonschema:"pattern=^[0-9]{4}$"`
	Via   route  `json:"via,omitzero"`
}

type toVoucher struct {
	Days int `json:"days" jsonschema:"minimum=1,maximum=365"`
}

type route struct {
	Step validate.OneOf[hop, hops] `json:"step"`
}

type hop interface{ isHop() }

type direct struct {
	Fast bool `json:"fast"`
}

type partner struct {
	Code string `json:"code" jsonschema:"minLength=3,maxLength=8"`
}

func (toBank) isTarget()    {}
func (toCard) isTarget()    {}
func (toVoucher) isTarget() {}
func (direct) isHop()       {}
func (partner) isHop()      {}

type targets struct{}

// Cases implements validate.Cases.
func (targets) Cases() []validate.Case[target] {
	return []validate.Case[target]{validate.Of[target, toBank]("bank"), validate.Of[target, toCard]("card"), validate.Of[target, toVoucher]("voucher")}
}

type hops struct{}

// Cases implements validate.Cases.
func (hops) Cases() []validate.Case[hop] {
	return []validate.Case[hop]{validate.Of[hop, direct]("direct"), validate.Of[hop, partner]("partner")}
}

type refundIn struct {
	OrderID string                          `json:"order_id" jsonschema:"minLength=1,maxLength=64"`
	Amount  int64                           `json:"amount_minor" jsonschema:"minimum=1"`
	Note    string                          `json:"note,omitzero" jsonschema:"maxLength=200"`
	To      validate.OneOf[target, targets] `json:"to"`
}

type refundOut struct {
	tool.Evidence
	Amount int64 `json:"amount_minor" jsonschema:"minimum=1"`
}

// Refund is a write with a nested union, whose provider can be asked.
func (s *Shop) Refund() tool.Definition { return s.RefundWith(Fault{}) }

// RefundWith is Refund with faults.
func (s *Shop) RefundWith(f Fault) tool.Definition {
	sp := spec("refund", "Refund an order.")
	if f.TellsCause {
		sp.Description = "Refund an order, telling what went wrong."
	}
	return tool.Write[refundIn, refundIn, refundOut]{
		Spec: sp, Class: tool.Irreversible, Contract: idem.StatusQueryable,
		Preview: func(_ context.Context, _ tool.Caller, in refundIn) (tool.Draft[refundIn], error) {
			if f.PreviewChanges {
				s.upstream().Count("commit_refund_v1")
			}
			return tool.Draft[refundIn]{
				Plan: in, Target: approval.Target{Type: "order", ID: in.OrderID, Version: s.version(in.OrderID)}, Summary: "Refund an order",
				Diffs:       []approval.Diff{{Field: "refunded", Before: "0", After: strconv.FormatInt(in.Amount, 10)}},
				Consequence: approval.Consequence{AmountMinor: new(in.Amount), Currency: "EUR"},
			}, nil
		},
		Current: f.current(s),
		Commit: func(ctx context.Context, cmd tool.Approved[refundIn]) (refundOut, error) {
			c, err := f.commit(ctx, s, "commit_refund_v1", cmd.Target, cmd.ProviderKey)
			return refundOut{evidence(c), cmd.Plan.Amount}, err
		},
		Status: func(ctx context.Context, cmd tool.Approved[refundIn], _ string) (refundOut, error) {
			c, err := f.status(ctx, s, "commit_refund_v1", cmd.Target, cmd.ProviderKey)
			return refundOut{evidence(c), cmd.Plan.Amount}, err
		},
		Verify: func(_ context.Context, cmd tool.Approved[refundIn], out refundOut) error {
			return validate.Same("amount_minor", cmd.Plan.Amount, out.Amount)
		},
	}
}

func evidence(c change) tool.Evidence {
	return tool.Evidence{PreviousVersion: c.from, NewVersion: c.to, CommittedAt: c.at}
}

func (s *Shop) current(_ context.Context, _ tool.Caller, t approval.Target) (string, error) {
	return s.version(t.ID), nil
}

func (s *Shop) commit(ctx context.Context, op string, t approval.Target, key string) (c change, err error) {
	envelope.Sent(ctx)
	err = s.upstream().Do(ctx, op, func() (bool, error) {
		var changed bool
		var err error
		c, changed, err = s.apply(t.ID, t.Version, key)
		return changed, err
	})
	if errors.Is(err, errConflict) {
		return change{}, envelope.Refused(envelope.New(envelope.VersionConflict))
	}
	return c, err
}

func (s *Shop) status(ctx context.Context, op, key string) (c change, err error) {
	err = s.upstream().Do(ctx, contracttest.StatusOf(op), func() (bool, error) {
		var err error
		c, err = s.find(key)
		return false, err
	})
	return c, err
}

type tagIn struct {
	OrderID string   `json:"order_id" jsonschema:"minLength=1,maxLength=64"`
	Tags    []string `json:"tags" jsonschema:"minItems=1,maxItems=5,uniqueItems=true,pattern=^[a-z]{2\\,12}$"`
}

type tagOut struct{ tool.Evidence }

// Tag is a reversible write whose provider gives one key one answer.
func (s *Shop) Tag() tool.Definition { return s.TagWith(Fault{}) }

// TagWith is Tag with faults.
func (s *Shop) TagWith(f Fault) tool.Definition {
	return tool.Write[tagIn, tagIn, tagOut]{
		Spec: spec("tag_order", "Tag an order."), Class: tool.Reversible, Contract: idem.ReplaySafe, DedupFor: time.Hour,
		Preview: func(_ context.Context, _ tool.Caller, in tagIn) (tool.Draft[tagIn], error) {
			return tool.Draft[tagIn]{Plan: in, Target: approval.Target{Type: "order", ID: in.OrderID, Version: s.version(in.OrderID)}, Summary: "Tag an order"}, nil
		},
		Current: f.current(s),
		Commit: func(ctx context.Context, cmd tool.Approved[tagIn]) (tagOut, error) {
			c, err := f.commit(ctx, s, "commit_tag_order_v1", cmd.Target, cmd.ProviderKey)
			return tagOut{evidence(c)}, err
		},
	}
}

// Typical is a catalogue of ten definitions, reads and writes.
func (s *Shop) Typical() (*tool.Catalog, error) {
	return tool.NewCatalog(GetCustomer(), ListOrders(), ListWarehouses(), RequestReview(), Search(), Quote(), Tree(), Settings(), s.Refund(), s.Tag())
}

// Fixture puts a catalogue of this shop behind a boundary, the shop emptied.
func (s *Shop) Fixture(c *tool.Catalog, adjust ...func(*tool.Config)) (*contracttest.Fixture, error) {
	f, err := contracttest.Assemble(c, adjust...)
	if err != nil {
		return nil, err
	}
	f.Upstream, f.Touch = s.Reset(), s.Touch
	return f, nil
}
