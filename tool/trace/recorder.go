package trace

import (
	"context"
	"crypto/rand"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

// Config configures a [Recorder]. The zero Config is a good one.
type Config struct {
	// Canaries are what a saved trace must not hold, in no part and no encoding.
	Canaries []redact.Canary
	// Key makes the stand-ins; with the same key the same values have the same ones, in every trace. Nil: 32 random bytes,
	// which nobody keeps. A key that somebody knows lets them test guesses of short values.
	Key []byte
	// Notes redacts the text of a note by the host's own rules, before what the fields' classes hide is replaced in it.
	// Nil: nothing more.
	Notes func(text string) string
	Now   func() time.Time // nil: time.Now
}

// Recorder records runs, each in memory until it is saved or forgotten. Safe for concurrent use.
type Recorder struct {
	cfg Config

	mu    sync.Mutex
	runs  map[string]*recording
	noted func() // is called after each step, in a replay
}

// recording is one run so far, unredacted.
type recording struct {
	head    head
	catalog *tool.Catalog
	steps   []*taken
	noted   int               // how many steps there were, with those that were dropped
	looks   map[string]*taken // the last work on each operation
}

// taken is a step with what saving it needs.
type taken struct {
	step
	n    int    // how many steps were noted up to this one
	raw  []byte // a call's arguments as they were sent
	done bool   // a call was answered, work came to something
	to   int    // of a call: how many steps were noted when it was answered
	ran  bool   // of work: the operation's handler
	said int    // of work: how often it was told what it came to
	last *taken // of work: the last step that was over before it ended
}

var (
	errRun    = errors.New("trace: the run is not recorded")
	errTenant = errors.New("trace: a run of another tenant is recorded under this id")
)

// NewRecorder returns a recorder. A key of fewer than 16 bytes is an error.
func NewRecorder(cfg Config) (*Recorder, error) {
	if cfg.Key == nil {
		cfg.Key = make([]byte, 32)
		_, _ = rand.Read(cfg.Key) // never fails (crypto/rand)
	}
	if len(cfg.Key) < 16 {
		return nil, errors.New("trace: the key is shorter than 16 bytes")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now //nolint:forbidigo // the documented default
	}
	cfg.Key, cfg.Canaries = slices.Clone(cfg.Key), slices.Clone(cfg.Canaries)
	return &Recorder{cfg: cfg, runs: map[string]*recording{}}, nil
}

// Wire lets the recorder see decisions, outcomes and what workers do: it puts itself before the configuration's approvals
// and audit. Call it before tool.NewDispatcher. What tool.Development returned is wired as any other.
func (r *Recorder) Wire(cfg *tool.Config) {
	r.watch(cfg)
	cfg.Records(works{r})
}

// watch lets the recorder see decisions and outcomes.
func (r *Recorder) watch(cfg *tool.Config) {
	if cfg.Approvals != nil {
		cfg.Approvals = watched{cfg.Approvals, r}
	}
	if cfg.Audit == nil {
		cfg.Audit = outcomes{r}
		return
	}
	cfg.Audit = audit.Tee(cfg.Audit, outcomes{r})
}

// Run returns the run with a recorder around it. Recording a run again goes on with its trace; a run of another tenant with
// the id of one that is recorded is an error.
func (r *Recorder) Run(run *tool.Run) (*Run, error) {
	role := run.Role()
	m := role.Catalog().Manifest(role)
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("trace: manifest: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	rec := r.runs[run.ID()]
	switch {
	case rec == nil:
		rec = &recording{
			head:    head{Step: stepTrace, Format: format, Run: run.ID(), Principal: run.Principal(), Catalogue: digest(text), Manifest: m},
			catalog: role.Catalog(),
			looks:   map[string]*taken{},
		}
		r.runs[run.ID()] = rec
	case rec.head.Principal.Tenant != run.Principal().Tenant:
		return nil, errTenant
	}
	return &Run{Run: run, r: r}, nil
}

// Note records what the model was asked, or answered in the end. A run that is not recorded is an error.
func (r *Recorder) Note(run string, kind NoteKind, text string) error {
	if kind != Request && kind != Answer {
		return errors.New("trace: note: is neither a request nor an answer")
	}
	r.mu.Lock()
	rec := r.runs[run]
	r.mu.Unlock()
	if rec == nil {
		return errRun
	}
	r.note(rec, &taken{step: step{Step: stepNote, Kind: kind, Text: text}})
	return nil
}

// Forget drops a run.
func (r *Recorder) Forget(run string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.runs, run)
}

// recorded is a tenant's run; nil where nobody records it.
func (r *Recorder) recorded(tenant, run string) *recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec := r.runs[run]; rec != nil && rec.head.Principal.Tenant == tenant {
		return rec
	}
	return nil
}

// note appends a step to a recording; to nil it does nothing.
func (r *Recorder) note(rec *recording, s *taken) {
	if rec == nil {
		return
	}
	s.At = r.cfg.Now().UTC()
	r.mu.Lock()
	if s.Step == stepCall {
		s.Case = "call-" + strconv.Itoa(rec.calls()+1)
	}
	rec.noted++
	s.n = rec.noted
	rec.steps = append(rec.steps, s)
	noted := r.noted
	r.mu.Unlock()
	if noted != nil {
		noted()
	}
}

func (rec *recording) calls() (n int) {
	for _, s := range rec.steps {
		if s.Step == stepCall {
			n++
		}
	}
	return n
}

// watched sees the decisions of people.
type watched struct {
	approval.Store
	r *Recorder
}

// Unwrap returns the store that is watched: package tool asks what kind it is.
func (w watched) Unwrap() approval.Store { return w.Store }

// Decide implements approval.Store.
func (w watched) Decide(ctx context.Context, tenant, id string, d approval.Decision) (approval.Record, error) {
	rec, err := w.Store.Decide(ctx, tenant, id, d)
	if err == nil && d.By.Kind != approval.PolicyDecision {
		w.r.note(w.r.recorded(tenant, rec.Proposal.Run), &taken{step: step{Step: stepDecision, Proposal: id, Approved: d.Approved, By: &d.By, Reason: d.Reason}})
	}
	return rec, err
}

// Withdraw implements approval.Store.
func (w watched) Withdraw(ctx context.Context, tenant, id, decision string, by approval.Principal) (approval.Record, error) {
	rec, err := w.Store.Withdraw(ctx, tenant, id, decision, by)
	if err == nil {
		w.r.note(w.r.recorded(tenant, rec.Proposal.Run), &taken{step: step{Step: stepWithdraw, Proposal: id, By: &by}})
	}
	return rec, err
}

// outcomes sees what operations came to.
type outcomes struct{ r *Recorder }

// Record implements audit.Sink.
func (o outcomes) Record(_ context.Context, e audit.Event) error {
	if rec := o.r.recorded(e.Tenant, e.Run); e.Kind == "finish" && !o.r.repeats(rec, e.Operation) {
		o.r.note(rec, &taken{step: step{
			Step: stepOutcome, Tool: e.Tool, Operation: e.Operation, Proposal: e.Proposal, State: e.Outcome, Code: e.Code,
		}})
	}
	return nil
}

// Run is a recorded run. Safe for concurrent use.
type Run struct {
	*tool.Run
	r *Recorder
}

// Call is [tool.Run.Call], recorded.
func (r *Run) Call(ctx context.Context, c envelope.Call) envelope.Result {
	return r.r.call(ctx, r.Run, c, &listener{})
}

// Cancel is [tool.Run.Cancel], recorded.
func (r *Run) Cancel(reason string) {
	r.r.note(r.r.recorded(r.Principal().Tenant, r.ID()), &taken{step: step{Step: stepCancel}})
	r.Run.Cancel(reason)
}
