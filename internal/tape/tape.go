// Package tape carries, in a handler's context, who listens to the exchanges with other systems, or answers in their
// place.
package tape

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"time"
)

// Exchange is one question to another system and what came of it, as the adapter was told: what was checked, never the
// bytes that arrived. Hidden names the places, by their declared paths, whose values are not to be kept; a single "*"
// hides everything.
type Exchange struct {
	Operation    string
	Asked        jsontext.Value
	AskedHidden  []string
	Answer       jsontext.Value // nil where it failed
	AnswerHidden []string
	Failure      *Failure
	Sent         bool                  // bytes may have left
	Unanswered   bool                  // nothing came of it
	Fits         func(doc []byte) bool // whether a document could stand for the answer; nil: nobody knows
	// Declared cuts the field of a failure back to what question and answer declare; nil: they declare nothing.
	Declared func(field string) string
}

// Failure is why there was no answer.
type Failure struct {
	Known string        // the text of one of the adapter's declared errors
	Proof uint8         // an envelope.Proof
	Code  string        // an envelope.Code; empty: an error that says nothing
	Field string        // as it was told: it may name what a sender chose
	Rule  string        // of package upstream
	Wait  time.Duration // asked for
	// Status and Exit are the upstream's, Receipt the provider's.
	Status, Exit int
	Receipt      string
	// NotFound: the provider does not know the key. TimedOut: the context was over.
	NotFound, TimedOut bool
}

// Tape listens or plays. Safe for concurrent use.
type Tape interface {
	// Plays reports whether the tape answers: then the other system is not asked.
	Plays() bool
	// Play returns the recorded exchange for the question, false where there is none. One that went on when its call was
	// answered returns when the call has been answered again.
	Play(ctx context.Context, operation string, asked jsontext.Value, hidden []string) (Exchange, bool)
	// Ask takes note of an exchange as it begins. What it returns is told once what came of it, and may be told when the call
	// has been answered long since.
	Ask(ctx context.Context, e Exchange) (answered func(Exchange))
}

// Over is what ctx ended with, for who is answered nothing.
func Over(ctx context.Context) error {
	if err := ctx.Err(); err != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return err
	} else if err != nil {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// Works is told of what is done for an operation beside every call.
type Works interface {
	// Begin returns who listens to the work on an operation, nil where it is of no recorded run.
	Begin(o Operation) Working
}

// Operation is what is worked, and the state that it was found in.
type Operation struct{ Tenant, Run, ID, Tool, State string }

// Working listens to the work on an operation.
type Working interface {
	Tape
	// Runs is told that the operation's handler runs: that is an attempt, whatever it asks.
	Runs()
	// Result is told the result of what succeeded, nil where there is none, before Ends is told the rest. The last word counts.
	Result(v jsontext.Value)
	// Ends is told what the work comes to, the state and why: before it is stored, so that nobody sees it earlier, and as it
	// stands afterwards. The last word counts. Work of which nothing is told was another's.
	Ends(state, code string)
}

type key struct{}

// With returns a context whose exchanges the tape keeps or plays.
func With(ctx context.Context, t Tape) context.Context { return context.WithValue(ctx, key{}, t) }

// From returns the context's tape, nil where there is none.
func From(ctx context.Context) Tape {
	t, _ := ctx.Value(key{}).(Tape)
	return t
}
