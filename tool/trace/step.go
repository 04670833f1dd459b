package trace

import (
	"encoding/json/jsontext"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// The steps of a saved trace, one JSON object a line; the first line is the head, the last is the end.
const (
	stepTrace    = "trace"
	stepCall     = "call"
	stepDecision = "decision"
	stepWithdraw = "withdrawal"
	stepWork     = "work"
	stepOutcome  = "outcome"
	stepResolve  = "resolution"
	stepCancel   = "cancel"
	stepNote     = "note"
	stepEnd      = "end"
)

// format is the form of the file. Another form is another number.
const format = 2

// head says of what the trace is.
type head struct {
	Step      string             `json:"step"`
	Format    int                `json:"format"`
	Run       string             `json:"run"`
	Principal approval.Principal `json:"principal"`
	Catalogue string             `json:"catalogue"` // the manifest's digest
	Manifest  tool.Manifest      `json:"manifest"`
}

// end says that nothing is missing: how many lines stand between it and the head.
type end struct {
	Step  string `json:"step"`
	Steps int    `json:"steps"`
}

// step is one thing that happened. A call's line is also what contracttest.Replay reads. Work is what a worker did once for
// an operation; it stands where it began, and is left out where it asked nothing and changed nothing.
type step struct {
	Step string    `json:"step"`
	At   time.Time `json:"at"`

	TookMS int64 `json:"took_ms,omitzero"` // of a call, and of work: how long it went on after At, rounded up

	Case         string         `json:"case,omitzero"` // of a call, or of work: its number
	Tool         string         `json:"tool,omitzero"`
	Arguments    jsontext.Value `json:"arguments,omitzero"`
	ArgumentsB64 *string        `json:"arguments_b64,omitzero"`
	LeftOut      bool           `json:"left_out,omitzero"` // the arguments could not be redacted and keep their verdict
	Verdict      string         `json:"verdict,omitzero"`  // accept or refuse: by the boundary
	Code         envelope.Code  `json:"code,omitzero"`
	Field        string         `json:"field,omitzero"` // declared
	Effect       string         `json:"effect,omitzero"`
	Operation    string         `json:"operation,omitzero"`
	Proposal     string         `json:"proposal,omitzero"`
	Answer       jsontext.Value `json:"answer,omitzero"`  // of work and a resolution: the result
	Hidden       []string       `json:"hidden,omitempty"` // places of the answer that are stand-ins
	Upstream     []exchange     `json:"upstream,omitempty"`
	Left         string         `json:"left,omitzero"` // of a call that was answered before its exchanges were: the caller had gone, in one of two ways

	Approved bool                `json:"approved,omitzero"` // of a decision
	By       *approval.Principal `json:"by,omitzero"`
	Reason   string              `json:"reason,omitzero"`
	Evidence string              `json:"evidence,omitzero"` // of a resolution
	Found    string              `json:"found,omitzero"`    // of work: the state before
	State    string              `json:"state,omitzero"`    // of an outcome; of work: the state after
	Until    int                 `json:"until,omitzero"`    // of work: how many of the next steps were over before it ended
	Kind     NoteKind            `json:"kind,omitzero"`     // of a note
	Text     string              `json:"text,omitzero"`
}

// exchange is one question to another system.
type exchange struct {
	Operation    string         `json:"operation"`
	Asked        jsontext.Value `json:"asked,omitzero"`
	AskedHidden  []string       `json:"asked_hidden,omitempty"`
	Answer       jsontext.Value `json:"answer,omitzero"`
	AnswerHidden []string       `json:"answer_hidden,omitempty"`
	Failure      *failure       `json:"failure,omitzero"`
	Sent         bool           `json:"sent,omitzero"`
	Late         bool           `json:"late,omitzero"`  // it went on when the call was answered, or the work ended; without answer and failure: nothing came of it
	After        int            `json:"after,omitzero"` // of work, and where it is late: how many of the next steps were over before it was answered

	fits     func(doc []byte) bool     // whether a document could stand for the answer
	declared func(field string) string // what its types declare of the field of a failure
	since    *taken                    // the last of those steps
}

type failure struct {
	Known    string `json:"known,omitzero"`
	Proof    uint8  `json:"proof,omitzero"`
	Code     string `json:"code,omitzero"`
	Field    string `json:"field,omitzero"`
	Rule     string `json:"rule,omitzero"`
	WaitMS   int64  `json:"wait_ms,omitzero"`
	Status   int    `json:"status,omitzero"`
	Exit     int    `json:"exit,omitzero"`
	Receipt  string `json:"receipt,omitzero"`
	NotFound bool   `json:"not_found,omitzero"`
	TimedOut bool   `json:"timed_out,omitzero"`
}

// NoteKind says what a note is.
type NoteKind string

// The kinds of notes.
const (
	Request NoteKind = "request" // what the model was asked
	Answer  NoteKind = "answer"  // what it answered in the end
)

// Boundary reports whether a code is the boundary's own refusal of a call, before any handler, whatever the tool.
func Boundary(code envelope.Code) bool {
	switch code {
	case envelope.MalformedJSON, envelope.DuplicateMember, envelope.TrailingData, envelope.PayloadTooLarge, envelope.TooDeep,
		envelope.UnknownField, envelope.InvalidArgument, envelope.UnknownTool, envelope.UnsupportedVersion:
		return true
	}
	return false
}

// How a caller goes away.
const leftByCancel, leftByDeadline = "cancel", "deadline"

const accepted, refused = "accept", "refuse"

func verdictOf(code envelope.Code) string {
	if Boundary(code) {
		return refused
	}
	return accepted
}
