package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// Error is the cause of every *envelope.Error of this package: what the operators' side may know without opening the
// quarantine, and what an adapter branches on. It holds no text of the upstream.
type Error struct {
	Operation string        // the upstream's
	RequestID string        // under which the response is kept, where it is; of a shared answer, that of the caller who asked
	Code      envelope.Code // as in the error
	Field     string        // the declared place
	Rule      string        // a JSON Schema keyword, or a word of this package: status, exit, transport, media_type, encoding, limit, same, …
	Status    int           // the HTTP status; zero: none came
	Exit      int           // a command's exit status; -1: it was killed or never ended. Zero for HTTP
	Sent      bool          // bytes of the request may have left, or the command may have begun

	cause error // of our own side alone: the adapter's error, or the context's
	lost  error // the quarantine's, where it could not keep the response
}

// Error prints the operation, the code, the rule, the place and the status.
func (r *Error) Error() string {
	text := fmt.Sprintf("upstream %s: %s, rule %s", r.Operation, r.Code, r.Rule)
	if r.Field != "" {
		text += " at " + r.Field
	}
	if r.Status != 0 {
		text += fmt.Sprintf(", status %d", r.Status)
	}
	if r.Exit != 0 {
		text += fmt.Sprintf(", exit %d", r.Exit)
	}
	if r.lost != nil {
		text += ", not kept"
	}
	return text
}

// Format writes Error for every verb and flag.
func (r *Error) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(r.Error())) }

// Unwrap returns what on our own side brought the refusal about: the adapter's error, the context's, or the
// quarantine's that could not keep the response. Errors of the transport are not in it, since they may quote the
// upstream.
func (r *Error) Unwrap() []error {
	var causes []error
	for _, err := range []error{r.cause, r.lost} {
		if err != nil {
			causes = append(causes, err)
		}
	}
	return causes
}

// Unsent reports whether err proves that no byte of the request left and no command began: what a write's Commit may
// then return as envelope.NotSent(err). An error that is not this package's proves nothing.
func Unsent(err error) bool {
	if errors.Is(err, ErrCaller) {
		return true
	}
	r, ok := errors.AsType[*Error](err)
	return ok && !r.Sent
}

// Proof turns an error of [Client.Ask] into what a write's Commit returns: envelope.NotSent where [Unsent] holds;
// envelope.Refused where the upstream answered with one of the given HTTP statuses, or a command ended with one of them
// as exit status, by which it finally refuses what it has read (409, 422); otherwise err itself, which leaves the
// outcome unknown. Proof(nil) is nil.
func Proof(err error, final ...int) error {
	if err == nil {
		return nil
	}
	if Unsent(err) {
		return envelope.NotSent(err)
	}
	r, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	said := r.Rule == "status" && slices.Contains(final, r.Status) || r.Rule == "exit" && slices.Contains(final, r.Exit)
	if e, ok := errors.AsType[*envelope.Error](err); ok && said {
		return envelope.Refused(e)
	}
	return err
}

// fault is a refusal before it is dressed.
type fault struct {
	code    envelope.Code
	field   string
	rule    string
	wait    time.Duration // asked for by the upstream
	cause   error         // of our own side: stands in the chain
	hidden  error         // of the transport, or made of the answer: for the quarantine alone
	unsent  bool
	adapted bool // by the function that brings an earlier version to the present form
}

func refused(code envelope.Code, field, rule string) *fault {
	return &fault{code: code, field: field, rule: rule}
}

// ended is the fault of a context that is over; nil while it is not.
func ended(ctx context.Context, hidden error) *fault {
	switch err := ctx.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{code: envelope.DeadlineExceeded, rule: "deadline", cause: context.DeadlineExceeded, hidden: hidden}
	default:
		return &fault{code: envelope.Cancelled, rule: "cancelled", cause: context.Canceled, hidden: hidden}
	}
}

// judged is the fault of an error that one of the operation's own functions made of an answer. Of an *envelope.Error
// the code, the declared place and the rule count; the error itself may quote the answer.
func judged(err error, rule string, schema *validate.Schema) *fault {
	f := &fault{code: envelope.InvalidResponse, rule: rule, hidden: err}
	if e, ok := errors.AsType[*envelope.Error](err); ok && envelope.ValidCode(e.Code) {
		f.code, f.field, f.wait = e.Code, schema.Declared(e.Field), e.RetryAfter
		if e.Rule != "" {
			f.rule = e.Rule
		}
	}
	return f
}
