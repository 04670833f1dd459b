package trace

import (
	"context"
	"encoding/json/v2"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/claimctx"
	"github.com/toolcontract/toolcontract/internal/tape"
	"github.com/toolcontract/toolcontract/validate"
)

// Do makes one call of an adapter's own client to another system, so that it is recorded and can be replayed; outside a
// recorded call it is ask alone. Q and A are structs with json, jsonschema and redact tags, which say what of them a saved
// trace may keep; of a type that validate.For refuses nothing is kept. In a replay ask is not called: the recorded answer
// returns, or an error that is what the recorded one proved: an *envelope.Error of its code, a proof of package envelope,
// or one of known, the client's own errors, told apart by their texts. An ask that went on when its call was answered, at
// the call's time-out or because the caller had gone, goes on in the replay until the call is answered again.
func Do[Q, A any](ctx context.Context, operation string, q Q, ask func(ctx context.Context) (A, error), known ...error) (A, error) {
	t := tape.From(ctx)
	if t == nil {
		return ask(ctx)
	}
	e := tape.Exchange{Operation: operation, Declared: declaredIn[Q, A]}
	e.AskedHidden, _ = hiddenIn[Q]()
	var err error
	if e.Asked, err = json.Marshal(q, json.Deterministic(true)); err != nil {
		e.Asked, e.AskedHidden = nil, everything()
	}
	if t.Plays() {
		return played[A](ctx, t, e, known)
	}
	answered := t.Ask(ctx, e)
	e.Failure = &tape.Failure{} // of a panic
	defer func() {
		e.Sent = claimctx.Marked(ctx)
		answered(e)
	}()
	a, asked := ask(ctx)
	if asked != nil {
		e.Failure = failureOf(asked, known)
		return a, asked
	}
	e.Failure = nil
	e.AnswerHidden, e.Fits = hiddenIn[A]()
	if e.Answer, err = json.Marshal(a, json.Deterministic(true)); err != nil {
		e.Answer, e.AnswerHidden = nil, everything()
	}
	return a, nil
}

func everything() []string { return []string{"*"} }

// hiddenIn names what of a type is not to be kept, and tells what could stand in its place.
func hiddenIn[T any]() (hidden []string, fits func([]byte) bool) {
	s, err := validate.For[T]()
	if err != nil {
		return everything(), nil
	}
	return s.Hidden(), func(doc []byte) bool { return s.Check(doc, validate.Limits{}) == nil }
}

// declaredIn cuts a field back to what the types declare.
func declaredIn[Q, A any](field string) (declared string) {
	if s, err := validate.For[Q](); err == nil {
		declared = s.Declared(field)
	}
	if s, err := validate.For[A](); err == nil {
		declared = max(declared, s.Declared(field)) // both begin the field
	}
	return declared
}

func failureOf(err error, known []error) *tape.Failure {
	f := &tape.Failure{}
	for _, k := range known {
		if errors.Is(err, k) {
			f.Known = k.Error()
			break
		}
	}
	proof, refusal, receipt := envelope.Proven(err)
	f.Proof, f.Receipt = uint8(proof), receipt
	e := refusal
	if e == nil {
		e, _ = errors.AsType[*envelope.Error](err)
	}
	if e != nil {
		f.Code, f.Field, f.Rule, f.Wait = string(e.Code), e.Field, e.Rule, e.RetryAfter
	}
	f.NotFound, f.TimedOut = errors.Is(err, idem.ErrNotFound), errors.Is(err, context.DeadlineExceeded)
	return f
}

var (
	errNotRecorded = errors.New("trace: the recording has no such exchange")
	errRecorded    = errors.New("trace: the recorded call failed for a reason that was not recorded")
)

func played[A any](ctx context.Context, t tape.Tape, asked tape.Exchange, known []error) (a A, err error) {
	e, ok := t.Play(ctx, asked.Operation, asked.Asked, asked.AskedHidden)
	if !ok {
		return a, errNotRecorded
	}
	if e.Sent {
		envelope.Sent(ctx)
	}
	if e.Unanswered {
		return a, tape.Over(ctx)
	}
	if e.Failure != nil {
		return a, rebuilt(e.Failure, known)
	}
	if err := json.Unmarshal(e.Answer, &a); err != nil {
		var none A
		return none, errors.New("trace: the recorded answer is not of the present form")
	}
	return a, nil
}

// rebuilt is an error that says what the recorded one said.
func rebuilt(f *tape.Failure, known []error) error {
	err := errRecorded
	switch {
	case f.NotFound:
		err = idem.ErrNotFound
	case f.TimedOut:
		err = context.DeadlineExceeded
	}
	for _, k := range known {
		if k.Error() == f.Known {
			err = k
		}
	}
	var e *envelope.Error
	if f.Code != "" {
		e = envelope.New(envelope.Code(f.Code)).At(f.Field).After(f.Wait).WithCause(err)
		e.Rule = f.Rule
	}
	switch envelope.Proof(f.Proof) {
	case envelope.ProofRefused:
		return envelope.Refused(e)
	case envelope.ProofNotSent:
		return envelope.NotSent(err)
	case envelope.ProofRunning:
		return envelope.Running(f.Receipt)
	case envelope.ProofNothing:
	}
	if e != nil {
		return e
	}
	return err
}

func ofTape(e tape.Exchange) exchange {
	out := exchange{
		Operation: e.Operation, Asked: e.Asked, AskedHidden: e.AskedHidden, Answer: e.Answer, AnswerHidden: e.AnswerHidden, Sent: e.Sent,
		fits: e.Fits, declared: e.Declared,
	}
	if f := e.Failure; f != nil {
		out.Failure = &failure{f.Known, f.Proof, f.Code, f.Field, f.Rule, f.Wait.Milliseconds(), f.Status, f.Exit, f.Receipt, f.NotFound, f.TimedOut}
	}
	return out
}

// unanswered reports whether nothing came of an exchange.
func (e exchange) unanswered() bool { return e.Late && e.Answer == nil && e.Failure == nil }

func (e exchange) toTape() tape.Exchange {
	out := tape.Exchange{
		Unanswered: e.unanswered(),
		Operation:  e.Operation, Asked: e.Asked, AskedHidden: e.AskedHidden, Answer: e.Answer, AnswerHidden: e.AnswerHidden, Sent: e.Sent,
	}
	if f := e.Failure; f != nil {
		out.Failure = &tape.Failure{
			Known: f.Known, Proof: f.Proof, Code: f.Code, Field: f.Field, Rule: f.Rule, Wait: time.Duration(f.WaitMS) * time.Millisecond,
			Status: f.Status, Exit: f.Exit, Receipt: f.Receipt, NotFound: f.NotFound, TimedOut: f.TimedOut,
		}
	}
	return out
}
