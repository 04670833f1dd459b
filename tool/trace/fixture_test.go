package trace_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// The domain of these tests: patients with a ward, kept by a registry that is asked through trace.Do.

type patientIn struct {
	PatientID string `json:"patient_id" jsonschema:"pattern=^pat_[0-9]{4\\,9}$"`
	Reason    string `json:"reason,omitzero" jsonschema:"maxLength=200"`
}

type patientOut struct {
	PatientID string `json:"patient_id" jsonschema:"pattern=^pat_[0-9]{4\\,9}$"`
	Name      string `json:"name" redact:"personal"`
	Born      string `json:"born" jsonschema:"format=date" redact:"personal"`
	Ward      string `json:"ward" jsonschema:"enum=north,enum=south"`
	Visits    int    `json:"visits" jsonschema:"minimum=0,maximum=99" redact:"personal"`
}

type moveIn struct {
	PatientID string `json:"patient_id" jsonschema:"pattern=^pat_[0-9]{4\\,9}$"`
	Ward      string `json:"ward" jsonschema:"enum=north,enum=south"`
}

type moveOut struct {
	tool.Evidence
	Ward string `json:"ward" jsonschema:"enum=north,enum=south"`
}

var errRegistry = errors.New("registry: no such patient")

// registry counts what it is asked.
type registry struct {
	mu    sync.Mutex
	asked map[string]int
	ask   int // how often get_patient asks; 1 unless a test says otherwise
	// moves is what the registry does when it is asked to move somebody, the n-th time; nil: it does it.
	moves func(n int, m moving) (moved, error)
	looks int // how often a move asks where the patient is, before it moves
}

func (r *registry) note(operation string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[operation]++
	return r.asked[operation]
}

func (r *registry) total() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.asked {
		n += k
	}
	return n
}

func (r *registry) find(ctx context.Context, id string) (patientOut, error) {
	return trace.Do(ctx, "registry.find", patientIn{PatientID: id}, func(context.Context) (patientOut, error) {
		r.note("find")
		if id == "pat_4713" {
			return patientOut{id, "Torvald Askeland", "1951-11-02", "north", 3}, nil
		}
		if id != "pat_4711" {
			return patientOut{}, errRegistry
		}
		return patientOut{id, "Ottilie Brandvold", "1948-05-17", "north", 12}, nil
	}, errRegistry)
}

type moving struct {
	Key  string `json:"key" redact:"trusted"`
	Ward string `json:"ward" redact:"trusted"`
}

type moved struct {
	Version string    `json:"version" redact:"trusted"`
	At      time.Time `json:"at"`
	Porter  string    `json:"porter,omitzero" jsonschema:"pattern=^por_[0-9]{4}$" redact:"personal"`
	Remark  string    `json:"remark,omitzero" redact:"trusted"`
}

func (r *registry) getPatient() tool.Tool[patientIn, patientOut] {
	return tool.Tool[patientIn, patientOut]{
		Spec: tool.Spec{Name: "get_patient", Version: 1, Description: "Read a patient.", Timeout: 5 * time.Second},
		Handle: func(ctx context.Context, _ tool.Caller, in patientIn) (out patientOut, err error) {
			for range r.ask {
				if out, err = r.find(ctx, in.PatientID); errors.Is(err, errRegistry) {
					return out, envelope.New(envelope.NotFound).At("patient_id")
				}
			}
			return out, err
		},
	}
}

func (r *registry) movePatient() tool.Write[moveIn, moveIn, moveOut] {
	return tool.Write[moveIn, moveIn, moveOut]{
		Spec:  tool.Spec{Name: "move_patient", Version: 1, Description: "Move a patient to a ward.", Timeout: 5 * time.Second},
		Class: tool.Reversible,
		Preview: func(ctx context.Context, _ tool.Caller, in moveIn) (tool.Draft[moveIn], error) {
			p, err := r.find(ctx, in.PatientID)
			return tool.Draft[moveIn]{Plan: in, Target: approval.Target{Type: "patient", ID: in.PatientID, Version: p.Ward}, Summary: "Move " + p.Name}, err
		},
		Current: func(ctx context.Context, _ tool.Caller, target approval.Target) (string, error) {
			p, err := r.find(ctx, target.ID)
			return p.Ward, err
		},
		Commit: func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			for range r.looks {
				if _, err := r.find(ctx, cmd.Plan.PatientID); err != nil {
					return moveOut{}, err
				}
			}
			m, err := trace.Do(ctx, "registry.move", moving{cmd.ProviderKey, cmd.Plan.Ward}, func(ctx context.Context) (moved, error) {
				envelope.Sent(ctx)
				n := r.note("move")
				if r.moves != nil {
					return r.moves(n, moving{cmd.ProviderKey, cmd.Plan.Ward})
				}
				return moved{Version: "2", At: epoch}, nil
			})
			return moveOut{tool.Evidence{NewVersion: m.Version, CommittedAt: m.At}, cmd.Plan.Ward}, err
		},
	}
}

type moveIn9 struct {
	PatientID string `json:"patient_id" jsonschema:"pattern=^pat_9[0-9]{3}$"`
	Ward      string `json:"ward" jsonschema:"enum=north,enum=south"`
}

// movePatient9 is movePatient with an input that was made narrower, without a new version.
func (r *registry) movePatient9() tool.Write[moveIn9, moveIn, moveOut] {
	old := r.movePatient()
	return tool.Write[moveIn9, moveIn, moveOut]{
		Spec: old.Spec, Class: old.Class, Current: old.Current, Commit: old.Commit,
		Preview: func(ctx context.Context, by tool.Caller, in moveIn9) (tool.Draft[moveIn], error) {
			return old.Preview(ctx, by, moveIn(in))
		},
	}
}

var epoch = time.Date(2026, 8, 14, 16, 25, 0, 0, time.UTC)

// clock is the stores' and the dispatcher's, and stands where it is put, unless it goes.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	since time.Time // when it began to go; zero: it stands
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return c.now
	}
	return c.now.Add(time.Since(c.since))
}

func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Now()
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

type house struct {
	clock      *clock
	registry   *registry
	cfg        tool.Config
	dispatcher *tool.Dispatcher
	run        *tool.Run
}

func agent() approval.Principal {
	return approval.Principal{Kind: approval.Service, Tenant: "clinic", Subject: "desk"}
}

// newHouse builds a catalogue of the registry's tools, or of others, with everything in memory.
func newHouse(t *testing.T, wire func(*tool.Config) error, defs func(r *registry) []tool.Definition, names ...string) *house {
	t.Helper()
	h := &house{clock: &clock{now: epoch}, registry: &registry{asked: map[string]int{}, ask: 1}}
	list := []tool.Definition{h.registry.getPatient(), h.registry.movePatient()}
	if defs != nil {
		list = defs(h.registry)
	}
	if names == nil {
		names = []string{"get_patient_v1", "preview_move_patient_v1", "commit_move_patient_v1"}
	}
	catalog, err := tool.NewCatalog(list...)
	require.NoError(t, err)
	role, err := catalog.Role("desk", names...)
	require.NoError(t, err)
	digester, err := redact.NewDigester(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	h.cfg = tool.Config{
		Policy:    approval.Everything(approval.Requirement{Level: approval.One, Role: "lead"}),
		Approvals: approval.NewMemory(h.clock.Now), Authority: approval.ByRole{}, Ledger: idem.NewMemory(h.clock.Now), Digester: digester,
		Now: h.clock.Now,
	}
	require.NoError(t, wire(&h.cfg))
	h.dispatcher, err = tool.NewDispatcher(catalog, h.cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.dispatcher.Close(context.Background())) })
	h.run = h.start(t, role)
	return h
}

// start begins a run.
func (h *house) start(t *testing.T, role tool.Role) *tool.Run {
	t.Helper()
	run, err := h.dispatcher.Start(tool.RunConfig{Principal: agent(), Role: role, Budget: tool.Budget{Calls: 100}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	return run
}

// approve lets the ward's lead approve a proposal.
func (h *house) approve(t *testing.T, proposal string) {
	t.Helper()
	stored, err := h.cfg.Approvals.Find(t.Context(), "clinic", proposal)
	require.NoError(t, err)
	_, err = h.dispatcher.Decide(t.Context(), "clinic", proposal, approval.Decision{
		Approved: true, By: approval.Principal{Kind: approval.Person, Tenant: "clinic", Subject: "ward lead", Roles: []string{"lead"}}, Digest: stored.Proposal.Digest,
	})
	require.NoError(t, err)
}

func call(wire, arguments string) envelope.Call {
	return envelope.Call{Tool: wire, Arguments: []byte(arguments)}
}

// recorded plays the ordinary run and returns it saved.
func recorded(t *testing.T, cfg trace.Config) string {
	t.Helper()
	rec, run := recording(t, cfg)
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run))
	return file.String()
}

// newRecorder stands at the epoch and has stand-ins that are the same each time, unless the test says otherwise.
func newRecorder(t *testing.T, cfg trace.Config) *trace.Recorder {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return epoch }
	}
	if cfg.Key == nil {
		cfg.Key = bytes.Repeat([]byte{3}, 32)
	}
	rec, err := trace.NewRecorder(cfg)
	require.NoError(t, err)
	return rec
}

func recording(t *testing.T, cfg trace.Config) (*trace.Recorder, string) {
	t.Helper()
	rec := newRecorder(t, cfg)
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, nil)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, rec.Note(run.ID(), trace.Request, "Where is Ottilie Brandvold, born 1948-05-17?"))
	ok := func(r envelope.Result) envelope.Result {
		require.NoError(t, r.Err())
		return r
	}
	ok(run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711","reason":"her daughter asked on the phone"}`)))
	require.Equal(t, envelope.NotFound, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_0000"}`)).Error.Code)
	require.Equal(t, envelope.UnknownField, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711","daughter":"Sunniva Brandvold"}`)).Error.Code)
	require.Equal(t, envelope.InvalidArgument, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"Sunniva Brandvold"}`)).Error.Code)
	require.Equal(t, envelope.MalformedJSON, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711","reason":"Sunniva Brandvold}`)).Error.Code)
	require.Equal(t, envelope.UnknownTool, run.Call(t.Context(), call("call_sunniva_brandvold", `{}`)).Error.Code)
	p := ok(run.Call(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`)))
	id := between(string(p.Data), `"proposal_id":"`)
	commit := call("commit_move_patient_v1", `{"proposal_id":"`+id+`"}`)
	require.Equal(t, envelope.ApprovalPending, run.Call(t.Context(), commit).Error.Code)
	h.approve(t, id)
	ok(run.Call(t.Context(), commit))
	ok(run.Call(t.Context(), commit))
	require.NoError(t, rec.Note(run.ID(), trace.Answer, "Ottilie Brandvold is on her way to the south ward."))
	require.Equal(t, 1, h.registry.asked["move"])
	return rec, run.ID()
}

// between is what follows in quotes.
func between(s, before string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, `"`)
	return s
}

func canary(t *testing.T, text string) redact.Canary {
	t.Helper()
	c, err := redact.NewCanary(text)
	require.NoError(t, err)
	return c
}

// replayed plays a saved run in a house of its own.
func replayed(t *testing.T, file string, cfg trace.PlayerConfig, change func(*house), defs func(*registry) []tool.Definition, names ...string) (*house, *trace.Report) {
	t.Helper()
	tr, err := trace.Load(strings.NewReader(file))
	require.NoError(t, err)
	var h *house
	cfg.At = func(at time.Time) { h.clock.set(at) }
	p := trace.NewPlayer(tr, cfg)
	h = newHouse(t, p.Wire, defs, names...)
	h.clock.set(epoch.Add(-time.Minute)) // the recorded times count
	if change != nil {
		change(h)
	}
	report, err := p.Play(t.Context(), h.dispatcher, h.run)
	require.NoError(t, err)
	require.Len(t, report.Calls, tr.Calls())
	return h, report
}
