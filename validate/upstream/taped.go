package upstream

import (
	"context"
	"encoding/json/v2"
	"errors"
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/validate"
)

// everything hides all values of a question whose type tells nothing of them.
var everything = []string{"*"} //nolint:gochecknoglobals // a constant

// taped asks under the eyes of a recorder, or lets the recording answer.
func (c *Client[Q, A]) taped(ctx context.Context, t tape.Tape, by Caller, q Q) (accepted[A], error) {
	e := tape.Exchange{Operation: c.op.Name, AskedHidden: hiddenOf[Q](), Declared: c.declared}
	var err error
	if e.Asked, err = json.Marshal(q, json.Deterministic(true)); err != nil {
		e.Asked, e.AskedHidden = nil, everything
	}
	if t.Plays() {
		return c.played(ctx, t, by, q, e)
	}
	answered := t.Ask(ctx, e)
	e.Failure, e.Sent = &tape.Failure{Code: string(envelope.Internal)}, true // of a panic
	defer func() { answered(e) }()
	a, err := c.live(ctx, by, q)
	if err != nil {
		e.Failure, e.Sent = failureOf(err), !Unsent(err)
		return a, err
	}
	e.Failure = nil
	schema := c.contract.forms[0].schema
	e.Sent, e.AnswerHidden = true, schema.Hidden()
	e.Fits = func(doc []byte) bool { return schema.Check(doc, c.contract.accepted) == nil }
	if e.Answer, err = json.Marshal(a.got, json.Deterministic(true)); err != nil {
		e.Answer, e.AnswerHidden = nil, everything
	}
	return a, nil
}

// declared cuts the field of a failure back to what the question and the answer's forms declare.
func (c *Client[Q, A]) declared(field string) (declared string) {
	if s, err := validate.For[Q](); err == nil {
		declared = s.Declared(field)
	}
	for _, form := range c.contract.forms {
		declared = max(declared, form.schema.Declared(field)) // all begin the field
	}
	return declared
}

// hiddenOf names the places of a type that a recording must not keep; everything where the type is no contract.
func hiddenOf[T any]() []string {
	s, err := validate.For[T]()
	if err != nil {
		return everything
	}
	return s.Hidden()
}

func failureOf(err error) *tape.Failure {
	f := &tape.Failure{}
	if e, ok := errors.AsType[*envelope.Error](err); ok {
		f.Code, f.Field, f.Rule, f.Wait = string(e.Code), e.Field, e.Rule, e.RetryAfter
	}
	if r, ok := errors.AsType[*Error](err); ok {
		f.Code, f.Field, f.Rule, f.Status, f.Exit = string(r.Code), r.Field, r.Rule, r.Status, r.Exit
	}
	f.TimedOut = errors.Is(err, context.DeadlineExceeded)
	return f
}

var errNotRecorded = errors.New("upstream: the recording has no such exchange")

// played answers from the recording, whose answer is held to the present contract. Where nothing of the exchange is
// hidden it is bound to its question again.
func (c *Client[Q, A]) played(ctx context.Context, t tape.Tape, by Caller, q Q, asked tape.Exchange) (accepted[A], error) {
	e, ok := t.Play(ctx, asked.Operation, asked.Asked, asked.AskedHidden)
	if !ok {
		return accepted[A]{}, c.refuse(ctx, by, reply{}, &fault{code: envelope.UpstreamUnavailable, rule: "recording", cause: errNotRecorded, unsent: true})
	}
	if e.Sent {
		envelope.Sent(ctx)
	}
	if e.Unanswered {
		f := &fault{code: envelope.Cancelled, rule: "cancelled", cause: context.Canceled}
		if over := tape.Over(ctx); errors.Is(over, context.DeadlineExceeded) {
			f = &fault{code: envelope.DeadlineExceeded, rule: "deadline", cause: over}
		}
		return accepted[A]{}, c.refuse(ctx, by, reply{}, f)
	}
	if e.Failure != nil {
		f := &fault{code: envelope.Code(e.Failure.Code), field: e.Failure.Field, rule: e.Failure.Rule, wait: e.Failure.Wait, unsent: !e.Sent}
		if e.Failure.TimedOut {
			f.cause = context.DeadlineExceeded
		}
		return accepted[A]{}, c.refuse(ctx, by, reply{status: e.Failure.Status, exit: e.Failure.Exit}, f)
	}
	got, f := c.contract.forms[0].decode(e.Answer)
	a := accepted[A]{doc: e.Answer, got: got}
	if f != nil {
		f = c.contract.explain(c.contract.forms[0], nil, e.Answer, f)
	}
	if f == nil && len(e.AskedHidden)+len(e.AnswerHidden) == 0 && !slices.Contains(asked.AskedHidden, "*") {
		f = c.bind(q, a)
	}
	if f != nil {
		return accepted[A]{}, c.refuse(ctx, by, reply{}, f)
	}
	return a, nil
}
