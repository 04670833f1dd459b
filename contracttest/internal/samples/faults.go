package samples

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// Fault is what is wrong with the handlers of a write, for the score of the suites. The zero value is nothing.
type Fault struct {
	Retries        bool // sends again after a lost answer, under another key
	NoVersion      bool // the provider is not asked to compare versions
	KeyPerCall     bool // each request has a key of its own
	LostIsRefused  bool // a lost answer is taken for a no
	LostIsNotSent  bool // a lost answer is taken for a request that never left
	LostIsSuccess  bool // whatever comes back is taken for a yes
	DownIsRefused  bool // a status page that is down is taken for a no
	StaleIsRefused bool // not found is taken for a no
	StatusLies     bool // the status is always a yes
	StaleCurrent   bool // the version is not read again
	TellsCause     bool // the provider's error becomes a domain code's field
	CommitAside    bool // the commit's request does not go through the Upstream, which is told of effects alone
	StatusAside    bool // the status request does not go through the Upstream
	PreviewChanges bool // the preview has an effect
	CurrentChanges bool // asking for the version has an effect
}

// serial makes keys that no other call has.
var serial atomic.Int64 //nolint:gochecknoglobals // faults share it, whatever the shop

func (f Fault) current(s *Shop) func(context.Context, tool.Caller, approval.Target) (string, error) {
	return func(ctx context.Context, by tool.Caller, t approval.Target) (string, error) {
		if f.CurrentChanges {
			s.upstream().Count("visits")
		}
		if f.StaleCurrent {
			return t.Version, nil
		}
		return s.current(ctx, by, t)
	}
}

func (f Fault) commit(ctx context.Context, s *Shop, op string, t approval.Target, key string) (change, error) {
	if f.NoVersion {
		t.Version = s.version(t.ID)
	}
	if !f.LostIsNotSent {
		envelope.Sent(ctx)
	}
	c, err := f.send(ctx, s, op, t, key)
	if errors.Is(err, errConflict) {
		return change{}, envelope.Refused(envelope.New(envelope.VersionConflict))
	}
	if err == nil {
		return c, nil
	}
	switch {
	case f.Retries:
		t.Version = s.version(t.ID)
		return f.send(ctx, s, op, t, key+"-again")
	case f.LostIsRefused:
		return change{}, envelope.Refused(envelope.New(envelope.UpstreamRejected))
	case f.LostIsNotSent:
		return change{}, envelope.NotSent(err)
	case f.LostIsSuccess:
		return change{t.Version, t.Version + "x", time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}, nil
	case f.TellsCause:
		return change{}, envelope.Refused(&envelope.Error{Code: envelope.UpstreamRejected, Message: err.Error(), Field: err.Error()})
	}
	return c, err
}

// send is one request; with a key per call the key is made where the request is.
func (f Fault) send(ctx context.Context, s *Shop, op string, t approval.Target, key string) (c change, err error) {
	if f.CommitAside {
		c, changed, err := s.apply(t.ID, t.Version, key)
		if changed {
			s.upstream().Count(op)
		}
		return c, err
	}
	err = s.upstream().Do(ctx, op, func() (bool, error) {
		if f.KeyPerCall {
			key = fmt.Sprintf("%s-%d", strings.SplitN(key, "-", 2)[0], serial.Add(1))
		}
		if f.NoVersion {
			t.Version = s.version(t.ID)
		}
		var changed bool
		var err error
		c, changed, err = s.apply(t.ID, t.Version, key)
		return changed, err
	})
	if f.NoVersion && c.from != "" { // what is reported is what was asked for
		c.from = ""
	}
	return c, err
}

func (f Fault) status(ctx context.Context, s *Shop, op string, t approval.Target, key string) (change, error) {
	if f.StatusLies {
		return change{t.Version, t.Version + "x", time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}, nil
	}
	ask := func() (change, error) { return s.status(ctx, op, key) }
	if f.StatusAside {
		ask = func() (change, error) { return s.find(key) }
	}
	c, err := ask()
	switch {
	case f.DownIsRefused && err != nil && !errors.Is(err, idem.ErrNotFound):
		return change{}, envelope.Refused(envelope.New(envelope.NotFound))
	case f.StaleIsRefused && errors.Is(err, idem.ErrNotFound):
		return change{}, envelope.Refused(envelope.New(envelope.NotFound))
	case f.NoVersion && err == nil:
		c.from = ""
	}
	return c, err
}

type brokenOut struct {
	State string `json:"state" jsonschema:"enum=open,enum=closed"`
}

// BrokenAnswer is a read whose answer its own schema refuses.
func BrokenAnswer() tool.Definition {
	return tool.Tool[nothingIn, brokenOut]{
		Spec:   spec("broken_answer", "Answers what it does not publish."),
		Handle: func(context.Context, tool.Caller, nothingIn) (brokenOut, error) { return brokenOut{"half-open"}, nil },
	}
}

// Visits is a read that has an effect.
func (s *Shop) Visits() tool.Definition {
	return tool.Tool[nothingIn, visitsOut]{
		Spec: spec("count_visits", "Counts how often it was asked."),
		Handle: func(context.Context, tool.Caller, nothingIn) (visitsOut, error) {
			s.upstream().Count("visits")
			return visitsOut{1}, nil
		},
	}
}

type visitsOut struct {
	Visits int `json:"visits" jsonschema:"minimum=0"`
}

type partIn struct {
	Part string `json:"part" jsonschema:"minLength=1,maxLength=40"`
}

type partOut struct {
	Stock int `json:"stock" jsonschema:"minimum=0,maximum=1000"`
}

// Part is a read whose handler is given: one that fails where it may not.
func Part(handle func(part string) (stock int, err error)) tool.Definition {
	return tool.Tool[partIn, partOut]{
		Spec: spec("find_part", "Says how many of a part are there."),
		Handle: func(_ context.Context, _ tool.Caller, in partIn) (partOut, error) {
			n, err := handle(in.Part)
			return partOut{n}, err
		},
	}
}
