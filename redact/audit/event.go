package audit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// Event is one decision. Every text in it is an identity, a name that a contract declares, a code or a digest: no
// argument, result, message or cause. At and Kind must be set; all else is empty where it does not apply. Events are
// values; a sink neither changes nor keeps the slices and maps of one after it returns.
type Event struct {
	At             time.Time         `json:"at"`                       // when it was decided, on the recording process's clock
	Kind           string            `json:"kind"`                     // what was decided: call, propose, decide, admit, dispatch, …
	Tenant         string            `json:"tenant,omitzero"`          // of the verified session
	Subject        string            `json:"subject,omitzero"`         // who asked, decided or opened
	Run            string            `json:"run,omitzero"`             // the agent's run
	Tool           string            `json:"tool,omitzero"`            // wire name
	RequestID      string            `json:"request_id,omitzero"`      // finds log lines and quarantined items
	Operation      string            `json:"operation,omitzero"`       // of a write that was admitted
	Proposal       string            `json:"proposal,omitzero"`        // of a write
	Code           envelope.Code     `json:"code,omitzero"`            // of a refusal or failure
	Field          string            `json:"field,omitzero"`           // the declared place of a refusal
	Fields         []string          `json:"fields,omitempty"`         // the declared names of the fields that were accepted
	Digests        map[string]string `json:"digests,omitempty"`        // keyed digests by what they are of
	Outcome        string            `json:"outcome,omitzero"`         // a word, not a message
	AuthorizedBy   string            `json:"authorized_by,omitzero"`   // the approver, or the policy's rule
	PolicyVersion  string            `json:"policy_version,omitzero"`  // of the policy table
	AdapterVersion string            `json:"adapter_version,omitzero"` // of the tool or the upstream's adapter
	Source         string            `json:"source,omitzero"`          // provenance: handler, upstream's name, cache, operator
}

// Sink records events. Record returns nil only when the event is recorded as durably as the sink promises; a write
// whose event cannot be recorded does not start, so a sink that drops events must say so by an error. Implementations
// are safe for concurrent use.
type Sink interface {
	Record(ctx context.Context, e Event) error
}

// ErrEvent says that an event lacks its time or its kind, or cannot be encoded.
var ErrEvent = errors.New("audit: not an event")

func (e Event) check() error {
	switch {
	case e.At.IsZero():
		return fmt.Errorf("%w: no time", ErrEvent)
	case e.Kind == "":
		return fmt.Errorf("%w: no kind", ErrEvent)
	}
	return nil
}

// Tee returns a Sink that records each event in every sink, in their order, whatever the others answered. Its error
// joins theirs; an event that some of them could not record may stand in the others. Without sinks nothing can be
// recorded: every event is an error.
func Tee(sinks ...Sink) Sink { return tee(append([]Sink(nil), sinks...)) }

type tee []Sink

func (t tee) Record(ctx context.Context, e Event) error {
	if len(t) == 0 {
		return errNoSink
	}
	var faults []error
	for _, s := range t {
		if s == nil {
			faults = append(faults, errNoSink)
			continue
		}
		faults = append(faults, s.Record(ctx, e))
	}
	return errors.Join(faults...)
}

var errNoSink = errors.New("audit: no sink")
