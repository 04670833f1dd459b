package tool

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"reflect"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/validate"
)

// Write is a change of something that lasts. One definition named address_change, version 2, is served as two tools:
// preview_address_change_v2 takes In and answers the proposal; commit_address_change_v2 takes the proposal's id, and
// nothing else, and answers Out. What Commit runs is the plan that was approved, byte for byte. A Write is plain data and
// is copied into the catalogue.
//
// A field class binds in all three types. In may hold secrets. Plan is stored, digested and shown to approvers and operators,
// who are the host's own people: internal fields may stand in it, a secret may not, for Commit can resolve it. Out crosses
// to the model: neither. Where a type says its own schema, its fields can be neither in any of the three.
//
// What an error of Commit means for the ledger:
//
//	the provider's final refusal, read whole    envelope.Refused(e)      failed, effect none
//	no byte of the request left                 envelope.NotSent(err)    pending again, the outbox runs it later
//	accepted, the provider works on it          envelope.Running(receipt)
//	everything else, returned as it is          err                      unknown: never repeated, resolved by evidence
type Write[In, Plan any, Out Evident] struct {
	Spec Spec
	// Class says whether another write can undo it. The zero value is an error.
	Class Class
	// Contract is what the provider promises about a request that is repeated or asked for. Zero: idem.None.
	Contract idem.Contract
	// Attempts is how many dispatches there are at most; zero: 5.
	Attempts int
	// DedupFor is, for replay_safe, the provider's window less the longest time that a request may be under way; Settle
	// is at least that time. RunFor is how long Running may last; zero: Spec.Timeout. Lifetime is how long a proposal
	// waits for its decision and its commit: the smallest that is set here and in the policy, 15 minutes when none is.
	DedupFor, Settle, RunFor, Lifetime time.Duration
	// Unversioned declares that the target has no version: the resource's sequence stands in, and Current may be nil.
	Unversioned bool
	// Compensates is the commit's wire name of the write that this one makes good. It is a write of its own, never a rollback.
	Compensates string
	// Queued makes commit answer at once; a Worker runs the operation.
	Queued bool

	// Check is what a schema cannot say of the arguments. May be nil.
	Check func(ctx context.Context, by Caller, in In) error
	// Preview resolves In into what would be done. It only reads, and is called twice.
	Preview func(ctx context.Context, by Caller, in In) (Draft[Plan], error)
	// Current returns the target's version now. Nil only when Unversioned.
	Current func(ctx context.Context, by Caller, t approval.Target) (version string, err error)
	// Commit does it. ctx keeps the caller's values, not its cancellation. Call envelope.Sent before the first byte
	// leaves, unless validate/upstream sends it.
	Commit func(ctx context.Context, cmd Approved[Plan]) (Out, error)
	// Status asks the provider what became of the operation, by cmd.ProviderKey or the receipt, which may be empty. A value:
	// succeeded; envelope.Refused: failed; envelope.Running: running; anything else: still unknown. idem.ErrNotFound
	// means that the provider does not know the key. Nil only for the contracts None and ReplaySafe.
	Status func(ctx context.Context, cmd Approved[Plan], receipt string) (Out, error)
	// Cancel asks the provider to stop a running operation. Nil: not interruptible.
	Cancel func(ctx context.Context, cmd Approved[Plan], receipt string) (Stopped, error)
	// Verify binds the answer to the command. May be nil. An error makes the outcome unknown.
	Verify func(ctx context.Context, cmd Approved[Plan], out Out) error
}

// Draft is what Preview found would be done. Target names what is changed and its version as read; Resource is what no
// two operations may hold at once, by default the target's type and id; Summary is the sentence that an approver reads,
// Diffs what changes, Consequence what the policy looks at.
type Draft[Plan any] struct {
	Plan              Plan
	Target            approval.Target
	Resource, Summary string
	Diffs             []approval.Diff
	Consequence       approval.Consequence
}

// Approved is a command that may run: the plan as approved, on whose behalf, under which keys, approved by whom. Attempt
// counts the dispatches from 1; it is zero in Status and Cancel.
type Approved[Plan any] struct {
	Plan                             Plan
	Target                           approval.Target
	By                               Caller
	Operation, ProviderKey, Proposal string
	ApprovedBy                       []approval.Principal
	Attempt                          int
}

// Stopped is what Cancel achieved.
type Stopped string

// What Cancel can achieve.
const (
	StoppedNow       Stopped = "stopped"
	AlreadyFinished  Stopped = "already_finished"
	NotInterruptible Stopped = "not_interruptible"
)

// The defaults of a Write's zero fields.
const (
	defaultAttempts = 5
	defaultLifetime = 15 * time.Minute
)

// writeOps is a Write with its types erased.
type writeOps struct {
	wire        string // the commit's
	class       Class
	contract    idem.Contract
	attempts    int
	dedupFor    time.Duration
	settle      time.Duration
	runFor      time.Duration
	lifetime    time.Duration
	unversioned bool
	queued      bool
	shadow      bool // the functions below are stubs
	compensates string
	input, plan *validate.Schema
	commit      *callable // whose output the results are

	current func(ctx context.Context, by Caller, t approval.Target) (string, error)
	run     func(ctx context.Context, cmd command) (product, error)
	typed   func(cmd command, out any) (product, bool) // false: out is not the write's
	status  func(ctx context.Context, cmd command, receipt string) (product, error)
	cancel  func(ctx context.Context, cmd command, receipt string) (Stopped, error)
}

// draft is a Draft whose plan is encoded.
type draft = Draft[jsontext.Value]

// command is an Approved whose plan is encoded.
type command = Approved[jsontext.Value]

func (w Write[In, Plan, Out]) build() (*definition, error) {
	preview, commit := wireName("preview_", w.Spec.Name, w.Spec.Version), wireName("commit_", w.Spec.Name, w.Spec.Version)
	f := &faults{subject: commit}
	w.Spec.check(f)
	w.check(f)
	def := &definition{spec: w.Spec.clone(), class: w.Class, failures: w.Spec.failures()}
	p := &callable{wire: preview, class: previewClass, def: def}
	c := &callable{wire: commit, class: w.Class, def: def}
	p.input, p.output = schemaOf[In](f, "input"), schemaOf[proposalView](f, "proposal", validate.Output())
	c.input, c.output = schemaOf[commitArguments](f, "arguments"), schemaOf[Out](f, "output", validate.Output())
	evidenced(f, reflect.TypeFor[Out](), c.output)
	plan := schemaOf[Plan](f, "plan")
	open(f, plan)
	if err := f.err(); err != nil {
		return nil, err
	}
	p.places = []*validate.Schema{p.input, plan, c.output}
	c.places = append([]*validate.Schema{c.input}, p.places...)
	p.untrusted, c.untrusted = p.output.Untrusted(), c.output.Untrusted()
	p.serve, c.serve = w.servePreview, serveCommit
	def.tools = []*callable{p, c}
	def.write = w.ops(p.input, plan, c)
	return def, nil
}

// open refuses secrets in a plan: it is shown, digested and kept in its own form. An adapter gets its credentials itself.
func open(f *faults, plan *validate.Schema) {
	if plan == nil {
		return
	}
	for _, field := range plan.Fields() {
		if field.Class == redact.ClassSecret {
			f.add("plan", "%s: a secret cannot be shown, digested and kept; resolve it in Commit", field.Path)
		}
	}
}

func (w Write[In, Plan, Out]) check(f *faults) {
	if w.Class != Reversible && w.Class != Irreversible {
		f.add("class", "must be Reversible or Irreversible")
	}
	switch w.Contract {
	case "", idem.None, idem.ReplaySafe:
	case idem.StatusQueryable, idem.NotFoundIsFinal:
		if w.Status == nil {
			f.add("status", "must be set for the contract %s", w.Contract)
		}
	default:
		f.add("contract", "is none of the declared contracts")
	}
	if w.Contract == idem.ReplaySafe && w.DedupFor <= 0 {
		f.add("dedup_for", "must be set for the contract %s", w.Contract)
	}
	if w.Contract == idem.NotFoundIsFinal && w.Settle <= 0 {
		f.add("settle", "must be set for the contract %s", w.Contract)
	}
	for _, n := range [...]struct {
		field string
		n     int64
	}{
		{"attempts", int64(w.Attempts)},
		{"dedup_for", int64(w.DedupFor)},
		{"settle", int64(w.Settle)},
		{"run_for", int64(w.RunFor)},
		{"lifetime", int64(w.Lifetime)},
	} {
		if n.n < 0 {
			f.add(n.field, "must not be negative")
		}
	}
	if w.Lifetime > approval.MaxLifetime {
		f.add("lifetime", "is longer than a proposal can wait")
	}
	if w.Preview == nil {
		f.add("preview", "must be set")
	}
	if w.Commit == nil {
		f.add("commit", "must be set")
	}
	if w.Current == nil && !w.Unversioned {
		f.add("current", "must be set, unless the target is declared Unversioned")
	}
}

func (w Write[In, Plan, Out]) ops(input, plan *validate.Schema, commit *callable) *writeOps {
	ops := &writeOps{
		wire: commit.wire, class: w.Class, contract: w.Contract, attempts: w.Attempts, dedupFor: w.DedupFor, settle: w.Settle,
		runFor: w.RunFor, lifetime: w.Lifetime, unversioned: w.Unversioned, queued: w.Queued, compensates: w.Compensates,
		input: input, plan: plan, commit: commit,
	}
	if ops.contract == "" {
		ops.contract = idem.None
	}
	if ops.attempts == 0 {
		ops.attempts = defaultAttempts
	}
	if ops.runFor == 0 {
		ops.runFor = w.Spec.Timeout
	}
	typed := typedWrite[In, Plan, Out]{w: w, plan: plan, output: commit.output}
	ops.run, ops.typed, ops.current = typed.commit, typed.wrap, w.Current
	if w.Status != nil {
		ops.status = typed.status
	}
	if w.Cancel != nil {
		ops.cancel = typed.cancel
	}
	return ops
}

// commitArguments are all that a commit takes.
type commitArguments struct {
	ProposalID string `json:"proposal_id" jsonschema:"pattern=^p_[A-Za-z0-9]{4\\,64}$"`
}

// typedWrite is the seam between the typed functions of a Write and the untyped protocol.
type typedWrite[In, Plan any, Out Evident] struct {
	w            Write[In, Plan, Out]
	plan, output *validate.Schema
}

// approved decodes the plan strictly, from its stored bytes.
func (t typedWrite[In, Plan, Out]) approved(cmd command) (Approved[Plan], error) {
	plan, err := t.plan.Decode[Plan](cmd.Plan, t.w.Spec.Input)
	return Approved[Plan]{plan, cmd.Target, cmd.By, cmd.Operation, cmd.ProviderKey, cmd.Proposal, cmd.ApprovedBy, cmd.Attempt}, err
}

func (t typedWrite[In, Plan, Out]) commit(ctx context.Context, cmd command) (product, error) {
	a, err := t.approved(cmd)
	if err != nil {
		return product{}, planUnreadable(err)
	}
	out, err := t.w.Commit(ctx, a)
	if err != nil {
		return product{}, err
	}
	return t.product(a, out), nil
}

func (t typedWrite[In, Plan, Out]) wrap(cmd command, out any) (product, bool) {
	typed, ok := out.(Out)
	if !ok {
		return product{}, false
	}
	a, err := t.approved(cmd)
	return t.product(a, typed), err == nil
}

func (t typedWrite[In, Plan, Out]) status(ctx context.Context, cmd command, receipt string) (product, error) {
	a, err := t.approved(cmd)
	if err != nil {
		return product{}, err
	}
	out, err := t.w.Status(ctx, a, receipt)
	if err != nil {
		return product{}, err
	}
	return t.product(a, out), nil
}

func (t typedWrite[In, Plan, Out]) cancel(ctx context.Context, cmd command, receipt string) (Stopped, error) {
	a, err := t.approved(cmd)
	if err != nil {
		return "", err
	}
	return t.w.Cancel(ctx, a, receipt)
}

// product is an Out on its way to being believed.
type product struct {
	evidence func() Evidence
	complete func(Evidence) // fills what is empty
	encode   func() (jsontext.Value, error)
	raw      func() []byte // what it would have been, for the operators; nil where it does not encode at all
	verify   func(ctx context.Context) error
}

func (t typedWrite[In, Plan, Out]) product(a Approved[Plan], out Out) product {
	return product{
		evidence: func() Evidence { return out.evident() },
		complete: func(e Evidence) { completeIn(&out, e) },
		encode:   func() (jsontext.Value, error) { return t.output.Encode(out, t.w.Spec.Output) },
		raw: func() []byte {
			b, err := json.Marshal(out)
			if err != nil {
				return nil
			}
			return b
		},
		verify: func(ctx context.Context) error {
			if t.w.Verify == nil {
				return nil
			}
			return t.w.Verify(ctx, a, out)
		},
	}
}

// completeIn reaches the Evidence that out embeds; every Evident has it.
func completeIn[Out Evident](out *Out, e Evidence) {
	if c, ok := any(out).(interface{ complete(Evidence) }); ok {
		c.complete(e)
	}
}
