package audit_test

import (
	"context"
	"encoding/json/v2"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
)

const canary = "Zq7canary!Kx9"

// bench is a quarantine on a clock that stands still until it is moved.
type bench struct {
	audit.Quarantine
	*require.Assertions
	t      *testing.T
	now    time.Time
	events audit.Recorder
	broken error // of the sink
	dir    string
}

// Record implements the sink that openings go to.
func (b *bench) Record(ctx context.Context, e audit.Event) error {
	if b.broken != nil {
		return b.broken
	}
	return b.events.Record(ctx, e)
}

// quarantines makes each kind of quarantine, small and empty.
func quarantines() map[string]func(t *testing.T) *bench {
	return map[string]func(t *testing.T) *bench{
		"memory": func(t *testing.T) *bench {
			t.Helper()
			b := &bench{t: t, Assertions: require.New(t), now: noon}
			b.Quarantine = audit.NewMemoryQuarantine(audit.MemoryQuarantineConfig{Audit: b, Requests: 3, Retention: time.Hour, Now: func() time.Time { return b.now }})
			return b
		},
		"dir": func(t *testing.T) *bench {
			t.Helper()
			b := &bench{t: t, Assertions: require.New(t), now: noon}
			b.Quarantine, b.dir = dirQuarantine(t, b, key(1))
			return b
		},
	}
}

func item(request string) audit.Item {
	return audit.Item{
		RequestID: request, Tenant: "t1", Tool: "get_customer_v1", Owner: "crm team", Rule: "required", Path: "lines[0].sku", Source: "crm", AdapterVersion: "2", Digest: "hs256:k:00",
		Status: 502, Raw: []byte(`{"secret":"` + canary + `"}`), Cause: fmt.Errorf("decode: %w", errDisk), For: time.Minute,
	}
}

func ExampleQuarantine() {
	var openings audit.Recorder
	q := audit.NewMemoryQuarantine(audit.MemoryQuarantineConfig{Audit: &openings})
	ctx := context.Background()
	_ = q.Keep(ctx, audit.Item{RequestID: "req_1", Tool: "get_customer_v1", Rule: "required", Path: "email", Status: 200, Raw: []byte(`{"mail":"a@b.example"}`)})

	item, _ := q.Open(ctx, "operator-7", "req_1")
	fmt.Println(item)
	fmt.Println(string(item.Raw))
	fmt.Println(openings.Events()[0].Subject, openings.Events()[0].Outcome)
	// Output:
	// item of req_1: tool get_customer_v1, rule required at "email", status 200, raw 22 bytes
	// {"mail":"a@b.example"}
	// operator-7 opened
}

func TestQuarantine(t *testing.T) {
	t.Parallel()
	for name, make := range quarantines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for rule, check := range quarantineRules {
				t.Run(rule, func(t *testing.T) {
					t.Parallel()
					check(make(t))
				})
			}
		})
	}
}

var quarantineRules = map[string]func(b *bench){
	"what was kept is opened": func(b *bench) {
		in := item("req_1")
		b.NoError(b.Keep(b.t.Context(), in))
		b.NoError(b.Keep(b.t.Context(), item("req_2")))
		in.Raw[2] = 'x' // the caller's slice is the caller's
		got, err := b.Open(b.t.Context(), "staff@host", "req_1")
		b.NoError(err)
		b.Equal(noon, got.KeptAt.UTC())
		b.Equal("decode: disk full", got.Cause.Error())
		want := item("req_1")
		got.KeptAt, got.Cause, want.Cause = time.Time{}, nil, nil
		b.Equal(want, got)
		got.Raw[0] = 'x'
		again, err := b.Open(b.t.Context(), "staff@host", "req_1")
		b.NoError(err)
		b.Equal(byte('{'), again.Raw[0], "what a reader changes is the reader's")
	},
	"an item needs little": func(b *bench) {
		b.NoError(b.Keep(b.t.Context(), audit.Item{RequestID: "req_1"}))
		got, err := b.Open(b.t.Context(), "staff", "req_1")
		b.NoError(err)
		b.NoError(got.Cause, "nil stays nil")
		b.Empty(got.Raw)
		b.Equal(time.Hour, got.For, "the store's retention")
	},
	"an item without request or with a negative retention is none": func(b *bench) {
		b.ErrorIs(b.Keep(b.t.Context(), audit.Item{}), audit.ErrItem)
		b.ErrorIs(b.Keep(b.t.Context(), audit.Item{RequestID: strings.Repeat("r", 129)}), audit.ErrItem)
		b.ErrorIs(b.Keep(b.t.Context(), audit.Item{RequestID: "req_1", For: -1}), audit.ErrItem)
	},
	"every opening is recorded": func(b *bench) {
		b.NoError(b.Keep(b.t.Context(), item("req_1")))
		_, err := b.Open(b.t.Context(), "staff@host", "req_1")
		b.NoError(err)
		_, err = b.Open(b.t.Context(), "staff@host", "req_none")
		b.ErrorIs(err, audit.ErrNotFound)
		b.Equal([]audit.Event{
			{At: noon, Kind: audit.EventOpen, Tenant: "t1", Subject: "staff@host", Tool: "get_customer_v1", RequestID: "req_1", AdapterVersion: "2", Outcome: "opened"},
			{At: noon, Kind: audit.EventOpen, Subject: "staff@host", RequestID: "req_none", Outcome: "not_found"},
		}, b.events.Events())
	},
	"what cannot be recorded is not opened": func(b *bench) {
		b.NoError(b.Keep(b.t.Context(), item("req_1")))
		b.broken = errDisk
		got, err := b.Open(b.t.Context(), "staff", "req_1")
		b.ErrorIs(err, errDisk)
		b.Equal(audit.Item{}, got)
		_, err = b.Open(b.t.Context(), "staff", "req_none")
		b.ErrorIs(err, errDisk, "nor is it told whether it is there")
	},
	"nobody opens nothing": func(b *bench) {
		b.NoError(b.Keep(b.t.Context(), item("req_1")))
		_, err := b.Open(b.t.Context(), "", "req_1")
		b.ErrorIs(err, audit.ErrItem)
		b.Empty(b.events.Events())
	},
	"retention ends, purged or not": func(b *bench) {
		b.NoError(b.Keep(b.t.Context(), item("req_1")))
		long := item("req_2")
		long.For = 0
		b.NoError(b.Keep(b.t.Context(), long))
		b.now = noon.Add(time.Minute - 1)
		_, err := b.Open(b.t.Context(), "staff", "req_1")
		b.NoError(err, "to the end")
		b.now = noon.Add(time.Minute)
		_, err = b.Open(b.t.Context(), "staff", "req_1")
		b.ErrorIs(err, audit.ErrNotFound)
		n, err := b.Purge(b.t.Context())
		b.NoError(err)
		b.Equal(1, n)
		n, err = b.Purge(b.t.Context())
		b.NoError(err)
		b.Zero(n, "once")
		_, err = b.Open(b.t.Context(), "staff", "req_2")
		b.NoError(err, "the others stay")
		b.now = noon.Add(time.Hour)
		_, err = b.Open(b.t.Context(), "staff", "req_2")
		b.ErrorIs(err, audit.ErrNotFound, "zero is the store's retention")
	},
	"items of one request are all kept": func(b *bench) {
		for i := range audit.MaxBefore + 2 {
			in := item("req_1")
			in.Status = 500 + i
			in.For = time.Duration(1+i) * time.Minute
			b.NoError(b.Keep(b.t.Context(), in))
		}
		got, err := b.Open(b.t.Context(), "staff", "req_1")
		b.NoError(err)
		b.Equal(500+audit.MaxBefore+1, got.Status, "the latest")
		b.Len(got.Before, audit.MaxBefore-1, "bounded")
		b.Equal(500, got.Before[0].Status, "the earliest first")
		b.Len(b.events.Events(), 1, "one opening")
		b.now = noon.Add(2 * time.Minute)
		got, err = b.Open(b.t.Context(), "staff", "req_1")
		b.NoError(err)
		b.Equal(502, got.Before[0].Status, "each for its own time")
		n, err := b.Purge(b.t.Context())
		b.NoError(err)
		b.Equal(2, n)
		_, err = b.Open(b.t.Context(), "staff", "req_1")
		b.NoError(err)
	},
	"a document is cut at a megabyte": func(b *bench) {
		in := item("req_1")
		in.Raw = make([]byte, audit.MaxRaw+1)
		b.NoError(b.Keep(b.t.Context(), in))
		got, err := b.Open(b.t.Context(), "staff", "req_1")
		b.NoError(err)
		b.Len(got.Raw, audit.MaxRaw)
	},
	"a document and a cause need not be text": func(b *bench) {
		in := item("req_1")
		in.Raw, in.Cause, in.Path = []byte("\xff\x00"), errors.New("body \xff"), "a\xff"
		b.NoError(b.Keep(b.t.Context(), in))
		got, err := b.Open(b.t.Context(), "staff", "req_1")
		b.NoError(err)
		b.Equal([]byte("\xff\x00"), got.Raw)
		b.Contains(got.Cause.Error(), "body ")
	},
	"the oldest request gives way": func(b *bench) {
		for i := range 4 {
			b.now = b.now.Add(time.Second)
			b.NoError(b.Keep(b.t.Context(), item(fmt.Sprintf("req_%d", i))))
		}
		_, err := b.Open(b.t.Context(), "staff", "req_0")
		b.ErrorIs(err, audit.ErrNotFound)
		for i := 1; i < 4; i++ {
			_, err := b.Open(b.t.Context(), "staff", fmt.Sprintf("req_%d", i))
			b.NoError(err)
		}
	},
}

func TestMemoryQuarantineDefaults(t *testing.T) {
	t.Parallel()
	q := audit.NewMemoryQuarantine(audit.MemoryQuarantineConfig{})
	in := item("req_1")
	in.For = 0
	require.NoError(t, q.Keep(t.Context(), in))
	_, err := q.Open(t.Context(), "staff", "req_1")
	require.Error(t, err, "without a sink nothing is opened")
	require.NotErrorIs(t, err, audit.ErrNotFound)
	n, err := q.Purge(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "on the wall clock a week is not over")
}

func TestItemsDoNotPrint(t *testing.T) {
	t.Parallel()
	c, err := redact.NewCanary(canary)
	require.NoError(t, err)
	b := quarantines()["memory"](t)
	in := item("req_1")
	in.Cause = errors.New(canary)
	in.Before = []audit.Item{in}
	require.NoError(t, b.Keep(t.Context(), in))
	for _, v := range []any{in, &in, []audit.Item{in}, b.Quarantine} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			require.Empty(t, c.Search([]byte(fmt.Sprintf(verb, v))), "%s of %T", verb, v)
		}
	}
	text, err := json.Marshal(in)
	require.NoError(t, err)
	require.Empty(t, c.Search(text))
	require.Contains(t, in.String(), "req_1")
	_, err = b.Open(t.Context(), "staff", "req_1")
	require.NoError(t, err)
	text, err = json.Marshal(b.events.Events())
	require.NoError(t, err)
	require.Empty(t, c.Search(text), "nor is it recorded")
	got, err := b.Open(t.Context(), "staff", "req_1")
	require.NoError(t, err)
	require.NotEmpty(t, c.Search(got.Raw), "the control")
}
