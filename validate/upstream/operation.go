package upstream

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/validate"
)

// Operation is one question Q to another system and what the answer A must be. A is a struct with json and jsonschema
// tags, as validate.For takes it; its fields may be of any redaction class, for what a tool shows of them is the tool's
// output. An Operation is plain data, checked and copied when a client is made of it. Its functions are pure and safe
// for concurrent use.
type Operation[Q, A any] struct {
	// Name is the operation's, as operators know it: ^[a-z][a-z0-9_.-]{0,63}$. It stands in errors, quarantine and
	// provenance.
	Name    string
	Owner   string // who looks after the adapter; may be empty
	Version string // of the adapter; may be empty

	// Select takes the declared fields out of a broader object, at every level, still checked; a name that differs from
	// a declared one by case alone is refused. False: an undeclared name refuses the response.
	Select bool
	// Refuse names undeclared members that speak against the whole answer (error, errors) in select mode, in any
	// declared object.
	Refuse []string
	// Earlier are older forms that the upstream may still send. The first that takes the response counts, A itself
	// before all; a response that none takes is refused for what A says of it.
	Earlier []Version[A]
	// Which says by name of which version a document is, "" for A itself; any other name than those of Earlier refuses
	// it. The document has passed limits and grammar, nothing more. Nil: the first that takes it.
	Which func(doc jsontext.Value) string

	// Same binds the answer to what was asked (validate.Same). Nil: the operation has nothing to bind.
	Same func(asked Q, got A) error
	// Fresh says whether the answer is recent enough (validate.Fresh, FreshText), on the host's clock; a cache asks
	// again. Nil: it does not age.
	Fresh func(now time.Time, got A) error
	// Check is what else the answer must be (Advances). Nil: nothing.
	Check func(asked Q, got A) error

	Limits validate.Limits // zero fields: 1 MiB, 64 levels, all else bounded by the bytes
	Host   Host
}

// Host is what the process that asks brings along. The zero Host keeps nothing and uses the wall clock.
type Host struct {
	Quarantine audit.Quarantine // keeps refused responses for the operators; nil drops them
	Retention  time.Duration    // of what is kept; zero: the quarantine's
	Digester   *redact.Digester // names what is kept by a digest that only the tenant's key makes; nil: no digest
	Now        func() time.Time // nil: time.Now
}

// Client asks one operation. Make it with [NewHTTP] or [NewCommand]; immutable and safe for concurrent use.
type Client[Q, A any] struct {
	op       Operation[Q, A]
	contract *contract[A]
	exchange func(ctx context.Context, by Caller, q Q) (reply, *fault)
}

// reply is what arrived, whether or not something was wrong with it.
type reply struct {
	status  int
	exit    int
	body    []byte
	stderr  []byte
	secrets []Credential
}

var operationName = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,63}$`)

func newClient[Q, A any](op Operation[Q, A]) (*Client[Q, A], error) {
	var faults []error
	if !operationName.MatchString(op.Name) {
		faults = append(faults, errors.New("name: must match "+operationName.String()))
	}
	if op.Host.Retention < 0 {
		faults = append(faults, errors.New("host.retention: must not be negative"))
	}
	if op.Host.Now == nil {
		op.Host.Now = time.Now //nolint:forbidigo // the documented default
	}
	contract, err := newContract(op)
	return &Client[Q, A]{op: op, contract: contract}, errors.Join(append(faults, err)...)
}

// named puts the operation before each fault of its definition.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("upstream %q: %w", name, err)
}

// Ask asks and returns the answer that passed, or an *envelope.Error whose cause is a [*Error]: INVALID_RESPONSE for
// what broke the contract, RATE_LIMITED, UPSTREAM_DENIED, NOT_FOUND, UPSTREAM_UNAVAILABLE and UPSTREAM_REJECTED by the
// status, DEADLINE_EXCEEDED when ctx is over, INTERNAL when the request could not be made, or the code that the
// operation's own functions gave. When ctx was cancelled the error is a *Error alone, which wraps context.Canceled; for
// an unusable caller it is [ErrCaller].
func (c *Client[Q, A]) Ask(ctx context.Context, by Caller, q Q) (A, error) {
	a, err := c.ask(ctx, by, q)
	return a.got, err
}

func (c *Client[Q, A]) ask(ctx context.Context, by Caller, q Q) (accepted[A], error) {
	if err := by.check(); err != nil {
		return accepted[A]{}, err
	}
	if by.RequestID == "" {
		by.RequestID = c.op.Name
	}
	if t := tape.From(ctx); t != nil {
		return c.taped(ctx, t, by, q)
	}
	return c.live(ctx, by, q)
}

// live asks the other system.
func (c *Client[Q, A]) live(ctx context.Context, by Caller, q Q) (accepted[A], error) {
	r, f := c.exchange(ctx, by, q)
	if f == nil {
		var a accepted[A]
		if a, f = c.judge(q, r); f == nil {
			return a, nil
		}
	}
	return accepted[A]{}, c.refuse(ctx, by, r, f)
}

// judge holds a whole response to the contract and binds it to its question.
func (c *Client[Q, A]) judge(q Q, r reply) (accepted[A], *fault) {
	a, f := c.contract.accept(r.body)
	if f == nil && carries(a.doc, r.secrets) {
		f = refused(envelope.InvalidResponse, "", "credential")
	}
	if f == nil {
		f = c.bind(q, a)
	}
	return a, f
}

func (c *Client[Q, A]) bind(q Q, a accepted[A]) *fault {
	schema := c.contract.forms[0].schema
	if c.op.Same != nil {
		if err := c.op.Same(q, a.got); err != nil {
			return judged(err, "same", schema)
		}
	}
	if c.op.Fresh != nil {
		if err := c.op.Fresh(c.op.Host.Now(), a.got); err != nil {
			return judged(err, "fresh", schema)
		}
	}
	if c.op.Check != nil {
		if err := c.op.Check(q, a.got); err != nil {
			return judged(err, "check", schema)
		}
	}
	return nil
}

// refuse makes the error of a fault, and keeps what arrived for the operators.
func (c *Client[Q, A]) refuse(ctx context.Context, by Caller, r reply, f *fault) error {
	refusal := &Error{
		Operation: c.op.Name, RequestID: by.RequestID, Code: f.code, Field: f.field, Rule: f.rule, Status: r.status, Exit: r.exit,
		Sent: !f.unsent, cause: f.cause,
	}
	refusal.lost = c.keep(ctx, by, r, f)
	if f.code == envelope.Cancelled {
		return refusal
	}
	e := envelope.New(f.code).At(f.field).After(f.wait).WithCause(refusal)
	e.Rule = f.rule
	return e
}
