package tool_test

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
)

// The domain of these tests: accounts with a version and a limit, kept by a provider outside the library.

type limitIn struct {
	AccountID string `json:"account_id" jsonschema:"minLength=1,maxLength=64"`
	Limit     int64  `json:"limit" jsonschema:"minimum=0"`
	Note      string `json:"note,omitzero" jsonschema:"maxLength=200"`
}

type limitPlan struct {
	AccountID string `json:"account_id" jsonschema:"maxLength=64"`
	Limit     int64  `json:"limit"`
	Note      string `json:"note,omitzero" jsonschema:"maxLength=200"`
}

type limitOut struct {
	tool.Evidence
	Limit int64 `json:"limit"`
}

type accountIn struct {
	AccountID string `json:"account_id" jsonschema:"minLength=1,maxLength=64"`
}

type accountOut struct {
	AccountID string `json:"account_id" jsonschema:"minLength=1,maxLength=64"`
	Limit     int64  `json:"limit"`
	Owner     string `json:"owner,omitzero" jsonschema:"maxLength=200"`
}

type account struct {
	version int
	limit   int64
}

// provider is the system that the write changes. It remembers effects by key and outlives every dispatcher.
type provider struct {
	mu       sync.Mutex
	accounts map[string]account // by tenant/id
	effects  []string           // keys, one for each effect
	results  map[string]limitOut
}

func newProvider() *provider {
	return &provider{accounts: map[string]account{"t1/a1": {17, 100}, "t1/a2": {3, 5}, "t2/a1": {1, 1}}, results: map[string]limitOut{}}
}

func (p *provider) find(by tool.Caller, id string) (account, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, ok := p.accounts[by.Principal.Tenant+"/"+id]
	if !ok {
		return account{}, envelope.New(envelope.NotFound).At("account_id")
	}
	return a, nil
}

// touch changes an account behind the library's back.
func (p *provider) touch(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.accounts[key]
	a.version++
	p.accounts[key] = a
}

// apply has the effect, once for each call, whatever the version: a provider that promises nothing.
func (p *provider) apply(cmd tool.Approved[limitPlan]) limitOut {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := cmd.By.Principal.Tenant + "/" + cmd.Plan.AccountID
	a := p.accounts[k]
	a.version, a.limit = a.version+1, cmd.Plan.Limit
	p.accounts[k] = a
	p.effects = append(p.effects, cmd.ProviderKey)
	out := limitOut{Limit: cmd.Plan.Limit}
	out.NewVersion, out.CommittedAt = strconv.Itoa(a.version), epoch
	p.results[cmd.ProviderKey] = out
	return out
}

func (p *provider) effectCount() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.effects)
}

func (p *provider) status(key string) (limitOut, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, ok := p.results[key]
	if !ok {
		return limitOut{}, idem.ErrNotFound
	}
	return out, nil
}

var epoch = time.Date(2026, 8, 14, 16, 25, 0, 0, time.UTC)

// clock is the stores' and the dispatcher's; it moves when a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

type recorder struct {
	mu     sync.Mutex
	events []audit.Event
	fail   func(audit.Event) error
}

func (r *recorder) Record(_ context.Context, e audit.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		if err := r.fail(e); err != nil {
			return err
		}
	}
	r.events = append(r.events, e)
	return nil
}

type kept struct {
	mu    sync.Mutex
	items []audit.Item
}

func (k *kept) Keep(_ context.Context, i audit.Item) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.items = append(k.items, i)
	return nil
}

func (k *kept) Open(context.Context, string, string) (audit.Item, error) {
	return audit.Item{}, errors.New("not here")
}
func (k *kept) Purge(context.Context) (int, error) { return 0, nil }

// authority is ByRole with switches.
type authority struct {
	approval.ByRole
	mu                     sync.Mutex
	mayApprove, mayRequest error
}

func (a *authority) set(approve, request error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mayApprove, a.mayRequest = approve, request
}

func (a *authority) MayApprove(ctx context.Context, by approval.Principal, p approval.Proposal) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mayApprove != nil {
		return a.mayApprove
	}
	return a.ByRole.MayApprove(ctx, by, p)
}

func (a *authority) MayRequest(ctx context.Context, by approval.Principal, tool string, t approval.Target) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mayRequest != nil {
		return a.mayRequest
	}
	return a.ByRole.MayRequest(ctx, by, tool, t)
}

// world is everything outside the dispatcher under test.
type world struct {
	t         *testing.T
	clock     *clock
	provider  *provider
	approvals *approval.Memory
	ledger    *idem.Memory
	authority *authority
	audit     *recorder
	kept      *kept
	logs      *observer.ObservedLogs
	write     tool.Write[limitIn, limitPlan, limitOut]
	read      tool.Tool[accountIn, accountOut]
	config    tool.Config
	entered   []string
	enteredMu sync.Mutex
}

func digester(t *testing.T, ids ...string) *redact.Digester {
	t.Helper()
	keys := make([]redact.Key, 0, len(ids))
	for _, id := range ids {
		secret := make([]byte, 32)
		copy(secret, "secret of the key "+id)
		keys = append(keys, redact.Key{ID: id, Secret: secret})
	}
	d, err := redact.NewDigester(keys...)
	require.NoError(t, err)
	return d
}

func newWorld(t *testing.T) *world {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	w := &world{t: t, clock: &clock{now: epoch}, provider: newProvider(), authority: &authority{}, audit: &recorder{}, kept: &kept{}, logs: logs}
	w.approvals, w.ledger = approval.NewMemory(w.clock.Now), idem.NewMemory(w.clock.Now)
	w.config = tool.Config{
		Policy:    approval.Everything(approval.Requirement{Level: approval.One, Role: "lead"}),
		Approvals: w.approvals, Authority: w.authority, Ledger: w.ledger, Digester: digester(t, "k1"), Audit: w.audit,
		Quarantine: w.kept, Logger: zap.New(core), Now: w.clock.Now, Lease: time.Minute,
		Entered: func(_ context.Context, wire string, _ any) {
			w.enteredMu.Lock()
			defer w.enteredMu.Unlock()
			w.entered = append(w.entered, wire)
		},
	}
	w.read = tool.Tool[accountIn, accountOut]{
		Spec: tool.Spec{Name: "get_account", Version: 1, Description: "Returns an account.", Timeout: time.Minute},
		Handle: func(_ context.Context, by tool.Caller, in accountIn) (accountOut, error) {
			a, err := w.provider.find(by, in.AccountID)
			return accountOut{AccountID: in.AccountID, Limit: a.limit}, err
		},
	}
	w.write = tool.Write[limitIn, limitPlan, limitOut]{
		Spec:  tool.Spec{Name: "limit_change", Version: 2, Description: "Changes the limit of an account.", Timeout: time.Minute},
		Class: tool.Reversible,
		Preview: func(_ context.Context, by tool.Caller, in limitIn) (tool.Draft[limitPlan], error) {
			a, err := w.provider.find(by, in.AccountID)
			if err != nil {
				return tool.Draft[limitPlan]{}, err
			}
			return tool.Draft[limitPlan]{
				Plan:    limitPlan(in),
				Target:  approval.Target{Type: "account", ID: in.AccountID, Version: strconv.Itoa(a.version)},
				Summary: "Set the limit", Diffs: []approval.Diff{{Field: "limit", Before: fmt.Sprint(a.limit), After: fmt.Sprint(in.Limit)}},
			}, nil
		},
		Current: func(_ context.Context, by tool.Caller, t approval.Target) (string, error) {
			a, err := w.provider.find(by, t.ID)
			return strconv.Itoa(a.version), err
		},
		Commit: func(_ context.Context, cmd tool.Approved[limitPlan]) (limitOut, error) {
			return w.provider.apply(cmd), nil
		},
	}
	return w
}

var (
	agent    = approval.Principal{Kind: approval.Person, Tenant: "t1", Subject: "ada", Roles: []string{"support"}}
	lead     = approval.Principal{Kind: approval.Person, Tenant: "t1", Subject: "grace", Roles: []string{"lead"}}
	operator = approval.Principal{Kind: approval.Person, Tenant: "t1", Subject: "olga", Roles: []string{"operator"}}
)

const (
	previewTool = "preview_limit_change_v2"
	commitTool  = "commit_limit_change_v2"
	readTool    = "get_account_v1"
)

func (w *world) dispatcher() *tool.Dispatcher {
	w.t.Helper()
	c, err := tool.NewCatalog(w.read, w.write)
	require.NoError(w.t, err)
	d, err := tool.NewDispatcher(c, w.config)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { // what still waits for a broken ledger is stopped
		over, cancel := context.WithCancel(context.WithoutCancel(w.t.Context()))
		cancel()
		_ = d.Close(over)
	})
	return d
}

// session is one run of one person on one dispatcher.
type session struct {
	w   *world
	d   *tool.Dispatcher
	run *tool.Run
}

func (w *world) session(d *tool.Dispatcher, id string, who approval.Principal) *session {
	w.t.Helper()
	role, err := roleOf(d, w)
	require.NoError(w.t, err)
	run, err := d.Start(tool.RunConfig{ID: id, Principal: who, Role: role, Budget: tool.Budget{Calls: 1000}, Deadline: w.clock.Now().Add(time.Hour)})
	require.NoError(w.t, err)
	return &session{w, d, run}
}

func roleOf(d *tool.Dispatcher, _ *world) (tool.Role, error) {
	return d.Catalog().Role("support", readTool, previewTool, commitTool)
}

func (w *world) start() *session {
	w.t.Helper()
	return w.session(w.dispatcher(), "run1", agent)
}

func (s *session) call(name, args string) envelope.Result {
	s.w.t.Helper()
	return s.run.Call(s.w.t.Context(), envelope.Call{Tool: name, Arguments: jsontext.Value(args)})
}

type proposalView struct {
	ProposalID string          `json:"proposal_id"`
	State      string          `json:"state"`
	Level      string          `json:"level"`
	Summary    string          `json:"summary"`
	Target     approval.Target `json:"target"`
	ExpiresAt  time.Time       `json:"expires_at"`
	Reason     string          `json:"reason"`
}

type operationView struct {
	OperationID  string         `json:"operation_id"`
	Tool         string         `json:"tool"`
	State        string         `json:"state"`
	Evidence     *tool.Evidence `json:"evidence"`
	RetryAfterMS int64          `json:"retry_after_ms"`
}

// preview proposes the limit for account a1.
func (s *session) preview(limit int) proposalView {
	s.w.t.Helper()
	r := s.call(previewTool, fmt.Sprintf(`{"account_id":"a1","limit":%d}`, limit))
	v, err := r.Decode[proposalView]()
	require.NoError(s.w.t, err)
	return v
}

func (s *session) decide(id string, approved bool) {
	s.w.t.Helper()
	rec, err := s.w.approvals.Find(s.w.t.Context(), "t1", id)
	require.NoError(s.w.t, err)
	dec := approval.Decision{Approved: approved, By: lead, Digest: rec.Proposal.Digest}
	if !approved {
		dec.Reason = "too high"
	}
	_, err = s.d.Decide(s.w.t.Context(), "t1", id, dec)
	require.NoError(s.w.t, err)
}

// approved previews and approves.
func (s *session) approved(limit int) string {
	s.w.t.Helper()
	v := s.preview(limit)
	s.decide(v.ProposalID, true)
	return v.ProposalID
}

func (s *session) commit(id string) envelope.Result {
	s.w.t.Helper()
	return s.call(commitTool, fmt.Sprintf(`{"proposal_id":%q}`, id))
}

func (s *session) operation(proposal string) operationView {
	s.w.t.Helper()
	r := s.call("get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, idem.OperationID("t1", proposal)))
	v, err := r.Decode[operationView]()
	require.NoError(s.w.t, err)
	return v
}

func (w *world) state(proposal string) idem.State {
	w.t.Helper()
	rec, err := w.ledger.Find(w.t.Context(), idem.Key{Tenant: "t1", Operation: idem.OperationID("t1", proposal)})
	require.NoError(w.t, err)
	return rec.State
}

func (w *world) approvalState(proposal string) approval.State {
	w.t.Helper()
	rec, err := w.approvals.Find(w.t.Context(), "t1", proposal)
	require.NoError(w.t, err)
	return rec.State
}

// refusal asserts the code and returns the error.
func refusal(t *testing.T, r envelope.Result, code envelope.Code, why string) *envelope.Error {
	t.Helper()
	require.False(t, r.OK, "%s: answered %s", why, r.Data)
	require.NotNil(t, r.Error)
	require.Equal(t, code, r.Error.Code, why)
	return r.Error
}

// refuses asserts the code.
func refuses(t *testing.T, r envelope.Result, code envelope.Code, why string) {
	t.Helper()
	_ = refusal(t, r, code, why)
}

func success(t *testing.T, r envelope.Result, why string) limitOut {
	t.Helper()
	require.NoError(t, r.Err(), why)
	out, err := r.Decode[limitOut]()
	require.NoError(t, err)
	return out
}
