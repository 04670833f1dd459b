package tool

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
	"uuid"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
)

// Config is what a dispatcher works with. For a catalogue of reads the zero Config is enough; one with a write needs
// Policy, Approvals, Authority, Ledger, Digester and Audit. Nothing in it is to be changed once it is in use.
type Config struct {
	Policy    approval.Table     // who must approve which write; a write that no rule can match is an error
	Approvals approval.Store     // keeps proposals; nil beside a write is an error
	Authority approval.Authority // who may ask, approve and resolve; nil beside a write is an error
	Ledger    idem.Ledger        // keeps operations; nil beside a write is an error
	Digester  *redact.Digester   // binds approvals to what was shown; nil beside a write is an error
	Budgets   BudgetStore        // nil: counted in this process
	Audit     audit.Sink         // nil beside a write is an error; beside reads alone nothing is recorded
	// Quarantine keeps causes and refused documents for the operators. Nil drops them.
	Quarantine audit.Quarantine
	Logger     *zap.Logger // nil: nothing is logged
	// TracerProvider and MeterProvider get spans and counters. Nil: none are made.
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	// Middleware wraps every call that the run's role and budget admit, the first outermost. It sees the call before it is
	// parsed and the result before its last output check, and can loosen neither.
	Middleware []Middleware
	Lease      time.Duration // of a claim, renewed while the handler runs; zero: 30 seconds
	Deadline   time.Duration // caps the time of one call, whatever its tool's; zero: no cap
	// Shadow replaces writes by stubs: no function of a write is reached, by no way, no worker is had, and Approvals and
	// Ledger are asked and never written to. Nil: writes are real.
	Shadow *Shadow
	Now    func() time.Time // nil: time.Now. Stores that outlive the process have clocks of their own
	NewID  func() uuid.UUID // nil: uuid.NewV7. Ids of requests, proposals and runs
	// Tighten may ask for more than the policy did; what it asks for less is ignored. An error refuses the write. Nil: the policy alone.
	Tighten func(ctx context.Context, p approval.Proposal) (approval.Requirement, error)
	// Entered is called before Handle, Preview and Commit, for tests. Nil: nothing is called.
	Entered func(ctx context.Context, wireName string, in any)

	development bool // made by Development: memory stores alone
	replays     tape.Tape
	records     []recorder
}

// Replays puts a recording in the place of other systems, for package tool/trace: whatever the dispatcher calls and
// package validate/upstream asks is answered from it, or refused; no worker is had ([ErrNotLive]).
func (c *Config) Replays(t tape.Tape) { c.replays = t }

// taped is the context in which the host's parts are called.
func (d *Dispatcher) taped(ctx context.Context) context.Context {
	if d.cfg.replays == nil {
		return ctx
	}
	if t := tape.From(ctx); t != nil && t.Plays() {
		return ctx
	}
	return tape.With(ctx, d.cfg.replays)
}

// Invocation is a call that the run's role and budget admit.
type Invocation struct {
	Caller Caller
	Call   envelope.Call
	Class  string // read, preview, reversible, irreversible
}

// Handler answers an invocation.
type Handler func(ctx context.Context, i Invocation) envelope.Result

// Middleware wraps a Handler. Of what it hands to next only Call.Arguments counts; of what it returns the data is
// checked against the tool's output schema again, and an error's code must be one that the tool may answer.
type Middleware func(next Handler) Handler

// Shadow runs a catalogue without its writes, over the stores of a live host or others. Of Config.Approvals and
// Config.Ledger it calls only what looks (Find, Alike, Pending; Find, Resource, Open, Unknown): what the ledger knows of an
// operation is told as it stands, and nobody is asked what it came to. cancel_operation_v1 answers NOT_PERMITTED;
// Dispatcher.Decide, Dispatcher.Resolve, Dispatcher.Fresh and NewWorker are [ErrNotLive]; Run.Cancel ends the run in this
// process and closes no operation. Reads are real. Budgets, Audit and Quarantine are written to as ever: give a shadow
// its own where its calls must not count among the live ones.
type Shadow struct {
	// Stubs answer previews and commits by wire name; what they answer is checked against the tool's output schema. A write
	// without a stub is refused.
	Stubs map[string]func(ctx context.Context, i Invocation) (jsontext.Value, error)
}

const (
	defaultLease = 30 * time.Second
	busyRetry    = 250 * time.Millisecond // asked for when parallel work is used up
	pendingRetry = 5 * time.Second        // asked for while people decide
	recheckGood  = 5 * time.Second        // how long a re-check is good for
)

func (c Config) check(cat *Catalog) error {
	var errs []error
	missing := func(what string) {
		errs = append(errs, fmt.Errorf("tool: config: %s: must be set beside a write", what))
	}
	if c.Lease < 0 || c.Deadline < 0 {
		errs = append(errs, errors.New("tool: config: lease, deadline: must not be negative"))
	}
	for i, m := range c.Middleware {
		if m == nil {
			errs = append(errs, fmt.Errorf("tool: config: middleware[%d]: is nil", i))
		}
	}
	if c.development && !inMemory(c) {
		errs = append(errs, errors.New("tool: config: Development is for approval.Memory and idem.Memory alone; write the Config out beside other stores"))
	}
	if !cat.hasWrite() {
		return errors.Join(errs...)
	}
	for what, part := range map[string]any{
		"approvals": c.Approvals, "authority": c.Authority, "ledger": c.Ledger, "digester": c.Digester, "audit": c.Audit,
	} {
		if isNil(part) {
			missing(what)
		}
	}
	if c.Digester != nil {
		if err := c.Digester.Verify("t", nil, c.Digester.Sum("t", nil)); err != nil {
			errs = append(errs, fmt.Errorf("tool: config: digester: %w", err))
		}
	}
	return errors.Join(append(errs, c.Shadow.check(cat), c.checkPolicy(cat))...)
}

// isNil reports whether an interface holds nothing, or a nil pointer.
func isNil(part any) bool {
	v := reflect.ValueOf(part)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// checkPolicy asks the table's own lint about the catalogue's writes. A retired write needs no rule and may keep one.
func (c Config) checkPolicy(cat *Catalog) error {
	var writes []approval.Facts
	for _, d := range cat.writes() {
		if !d.spec.Retired || named(c.Policy, d.write.wire) {
			writes = append(writes, d.facts(approval.Consequence{}))
		}
	}
	if err := c.Policy.LintFor(writes); err != nil {
		return fmt.Errorf("tool: config: policy: %w", err)
	}
	return nil
}

func named(t approval.Table, wire string) bool {
	return slices.ContainsFunc(t.Rules, func(r approval.Rule) bool { return slices.Contains(r.When.Tools, wire) })
}

func (d *definition) facts(c approval.Consequence) approval.Facts {
	return approval.Facts{Tool: d.write.wire, Class: d.class.String(), Tags: d.spec.Tags, Consequence: c}
}

// inMemory looks through what only stands around a store, as package tool/trace does, and says so by Unwrap.
func inMemory(c Config) bool {
	store := c.Approvals
	for {
		around, ok := store.(interface{ Unwrap() approval.Store })
		if !ok {
			break
		}
		store = around.Unwrap()
	}
	_, approvals := store.(*approval.Memory)
	_, ledger := c.Ledger.(*idem.Memory)
	return approvals && ledger
}

func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the documented default
	}
	if c.NewID == nil {
		c.NewID = uuid.NewV7
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	if c.Lease == 0 {
		c.Lease = defaultLease
	}
	if c.Budgets == nil {
		c.Budgets = NewMemoryBudgets(c.Now)
	}
	return c
}
