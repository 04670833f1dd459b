package tool

import (
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// terminal reports whether a state never changes again.
func terminal(s idem.State) bool {
	switch s {
	case idem.Succeeded, idem.Failed, idem.Denied, idem.Expired, idem.Cancelled:
		return true
	case idem.Pending, idem.Dispatching, idem.Running, idem.Unknown:
	}
	return false
}

// inProgress answers for an operation that is under way.
func inProgress(rec idem.Record, operation string) *envelope.Error {
	e := envelope.New(envelope.InProgress).After(max(rec.AvailableIn, busyRetry))
	e.OperationID = operation
	return e
}

// operationAnswer is what a commit answers from its operation. replayed says that this call did not run it.
func operationAnswer(rec idem.Record, replayed bool) (reply, error) {
	op := rec.Command.Key.Operation
	e := &envelope.Error{}
	switch rec.State {
	case idem.Succeeded:
		if rec.Failure == nil && rec.Result != nil {
			return reply{data: rec.Result, replayed: replayed}, nil
		}
		e = settled(rec.Failure, envelope.OutputInvalid, envelope.EffectDone)
	case idem.Failed:
		e = settled(rec.Failure, envelope.UpstreamRejected, envelope.EffectNone)
	case idem.Denied:
		e = settled(rec.Failure, envelope.NotPermitted, envelope.EffectNone)
	case idem.Expired:
		e = settled(nil, envelope.ApprovalExpired, envelope.EffectNone)
	case idem.Cancelled:
		e = settled(nil, envelope.Cancelled, envelope.EffectNone)
	case idem.Unknown:
		e = settled(nil, envelope.OutcomeUnknown, envelope.EffectUnknown)
	case idem.Pending, idem.Dispatching, idem.Running:
		e = inProgress(rec, op)
	}
	e.OperationID, e.ProposalID = op, rec.Command.Proposal
	return reply{}, &final{e}
}

// settled is the error of an operation that will not change by being asked again: never retryable.
func settled(stored *envelope.Error, otherwise envelope.Code, effect envelope.Effect) *envelope.Error {
	e := stored
	if e == nil {
		e = envelope.New(otherwise)
	}
	e = e.Bare()
	e.Retryable, e.RetryAfter, e.Effect = false, 0, effect
	if e.Message == "" {
		f, _ := envelope.Declared(e.Code)
		e.Message = f.Message
	}
	return e
}

// purgedAnswer is what is left to say of an operation that is no longer kept.
func purgedAnswer(err error, proposal, operation string) error {
	effect := envelope.EffectUnknown
	if g, ok := errors.AsType[*idem.Gone](err); ok {
		if effect = envelope.EffectNone; g.State == idem.Succeeded {
			effect = envelope.EffectDone
		}
	}
	e := withEffect(envelope.New(envelope.ApprovalConsumed), effect)
	e.ProposalID, e.OperationID = proposal, operation
	return &final{e}
}

// backOff is how long an operation rests after its attempt-th dispatch, doubling from a second to a minute.
func backOff(attempt int) time.Duration {
	return min(time.Second<<min(max(attempt-1, 0), 6), time.Minute)
}
