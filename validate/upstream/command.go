package upstream

import (
	"context"
	"errors"
	"io"

	"github.com/toolcontract/toolcontract/envelope"
)

// Command defines an operation that is asked by running a command. It is plain data; NewCommand checks it. Of standard
// output exactly one JSON document is the answer, with nothing but white space around it; standard error is for the
// operators alone.
type Command[Q, A any] struct {
	Operation Operation[Q, A]
	Runner    Runner // where it runs; must be set
	// Args are the arguments for a question, without credentials, each one word to the command. What comes from the
	// question and may begin with a hyphen stands behind "--". An *envelope.Error is answered as it is.
	Args func(q Q) ([]string, error)
	// Credentials are handed over as the runner does it. Nil: the command wants none.
	Credentials Credentials
	// Exits declares what an exit status means, before the rule that any but 0 is UPSTREAM_UNAVAILABLE: {4: NOT_FOUND}.
	// 0 cannot be declared.
	Exits map[int]envelope.Code
}

// Runner runs one command. Implementations are safe for concurrent use: [Local], and sshcmd.Runner.
type Runner interface {
	// Check says before anything else whether the arguments can be handed over as they are.
	Check(args []string) error
	// Run runs the command and returns its exit status; -1 where it was killed or lost. It calls envelope.Sent(ctx)
	// before the command can begin; an error that wraps ErrNotStarted says that it did not begin. It writes what the
	// command writes, as it comes, closes its input, and when ctx ends leaves nothing running that it can reach.
	Run(ctx context.Context, j Job) (exit int, err error)
}

// Job is one run.
type Job struct {
	Caller         Caller
	Args           []string
	Credentials    []Credential
	Stdout, Stderr io.Writer // bounded by who made the Job; writing never fails
}

// ErrNotStarted says that a command did not begin.
var ErrNotStarted = errors.New("upstream: the command did not begin")

// NewCommand returns a client for the operation; the error joins all faults of the definition.
func NewCommand[Q, A any](def Command[Q, A]) (*Client[Q, A], error) {
	c, err := newClient(def.Operation)
	faults := []error{err}
	if def.Runner == nil {
		faults = append(faults, errors.New("runner: must be set"))
	}
	if def.Args == nil {
		faults = append(faults, errors.New("args: must be set"))
	}
	faults = append(faults, declaredCodes("exits", def.Exits, 0))
	if err := errors.Join(faults...); err != nil {
		return nil, named(def.Operation.Name, err)
	}
	limit := c.contract.accepted.Bytes
	c.exchange = func(ctx context.Context, by Caller, q Q) (reply, *fault) { return def.exchange(ctx, by, q, limit) }
	return c, nil
}

const (
	stderrBytes = 64 << 10
	// A command that writes too much is read on for so many times the limit, since its exit status comes first; then it
	// is killed.
	patience = 16
)

func (c Command[Q, A]) exchange(ctx context.Context, by Caller, q Q, limit int) (reply, *fault) {
	ctx, kill := context.WithCancel(ctx)
	defer kill()
	args, err := c.Args(q)
	if err == nil {
		err = c.Runner.Check(args)
	}
	if err != nil {
		return reply{}, unmade(err)
	}
	secrets, f := issue(ctx, c.Credentials, by, c.Operation.Name)
	if f != nil {
		return reply{}, f
	}
	out, complaints := &bounded{most: limit, patience: patience * limit, kill: kill}, &bounded{most: stderrBytes}
	exit, err := c.Runner.Run(ctx, Job{Caller: by, Args: append([]string(nil), args...), Credentials: secrets, Stdout: out, Stderr: complaints})
	r := reply{exit: exit, body: out.bytes(), stderr: complaints.bytes(), secrets: secrets}
	return r, c.fault(ctx, exit, err, out)
}

// fault decides by the exit status first, then by how the run ended.
func (c Command[Q, A]) fault(ctx context.Context, exit int, err error, out *bounded) *fault {
	switch {
	case errors.Is(err, ErrNotStarted):
		f := ended(ctx, err)
		if f == nil {
			f = &fault{code: envelope.UpstreamUnavailable, rule: "transport", hidden: err}
		}
		f.unsent = true
		return f
	case out.gaveUp():
		return refused(envelope.InvalidResponse, "", "limit")
	case exit > 0:
		return c.exited(exit, err)
	case exit != 0 || err != nil:
		if f := ended(ctx, err); f != nil {
			return f
		}
		return &fault{code: envelope.UpstreamUnavailable, rule: "transport", hidden: err}
	case out.over():
		return refused(envelope.InvalidResponse, "", "limit")
	}
	return nil
}

func (c Command[Q, A]) exited(exit int, err error) *fault {
	code, ok := c.Exits[exit]
	if !ok {
		code = envelope.UpstreamUnavailable
	}
	return &fault{code: code, rule: "exit", hidden: err}
}
