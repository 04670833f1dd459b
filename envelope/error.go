package envelope

import (
	"encoding/json/v2"
	"time"
)

// Effect says what a write did before it was answered. The zero value is unset: the answer is not a write's.
type Effect string

// The effects of a write that is answered with an error.
const (
	EffectNone    Effect = "none"    // nothing was done
	EffectDone    Effect = "done"    // the change was made; only its report is faulty
	EffectUnknown Effect = "unknown" // nobody can prove either
)

// Violation is one broken rule: the path of the field and the keyword or limit that it breaks.
type Violation struct {
	Field string `json:"field,omitzero"`
	Rule  string `json:"rule,omitzero"`
}

// Error is the one error that crosses the boundary. It holds no input value, no address and no cause's text.
// The zero value is not a valid error; New makes one. An Error is immutable once it is handed out.
type Error struct {
	Code        Code
	Message     string        // the declaration's, written for the model
	Retryable   bool          // the same call may succeed later
	Field       string        // path of the field; empty at the root
	Rule        string        // JSON Schema keyword, "limit", "nul" or "type"; empty outside the schema
	RetryAfter  time.Duration // how long to wait before the same call; zero: not said. Whole milliseconds on the wire, rounded up
	Effect      Effect        // of a write; empty for reads
	OperationID string        // of a write that was admitted
	ProposalID  string        // of a write
	Reason      string        // a rejection's reason: bounded, untrusted text of a person
	Violations  []Violation   // all that were found, the first of them also in Field and Rule; empty when there is one

	cause error
}

// New returns an error of the given code with the library's message. For a domain code the message is empty until
// the dispatcher puts the declared one in.
func New(code Code) *Error {
	f, _ := Declared(code)
	return &Error{Code: code, Message: f.Message, Retryable: f.Retryable}
}

// Error prints the code and the field alone: text for logs holds neither values nor causes.
func (e *Error) Error() string {
	if e == nil {
		return "no error"
	}
	if e.Field == "" {
		return string(e.Code)
	}
	return string(e.Code) + " at " + e.Field
}

// GoString is Error, so that no verb of fmt reaches the cause.
func (e *Error) GoString() string { return e.Error() }

// At returns a copy whose field is the given path.
func (e *Error) At(field string) *Error {
	c := *e
	c.Field = field
	return &c
}

// After returns a copy that asks to wait for d before the same call.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

// WithCause returns a copy that carries err for errors.Is, errors.As and the quarantine. It is never serialised or printed.
func (e *Error) WithCause(err error) *Error {
	c := *e
	c.cause = err
	return &c
}

// Unwrap returns the cause, nil where there is none.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// Bare returns a copy without the cause: what may leave the process.
func (e *Error) Bare() *Error { return e.WithCause(nil) }

type wireError struct {
	Code         Code        `json:"code"`
	Message      string      `json:"message"`
	Retryable    bool        `json:"retryable"`
	Field        string      `json:"field,omitzero"`
	Rule         string      `json:"rule,omitzero"`
	RetryAfterMS int64       `json:"retry_after_ms,omitzero"`
	Effect       Effect      `json:"effect,omitzero"`
	OperationID  string      `json:"operation_id,omitzero"`
	ProposalID   string      `json:"proposal_id,omitzero"`
	Reason       string      `json:"reason,omitzero"`
	Violations   []Violation `json:"violations,omitempty"`
}

// MarshalJSON writes the wire form; empty members are left out.
func (e *Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireError{
		e.Code, e.Message, e.Retryable, e.Field, e.Rule, int64((e.RetryAfter + time.Millisecond - 1) / time.Millisecond),
		e.Effect, e.OperationID, e.ProposalID, e.Reason, e.Violations,
	})
}

// UnmarshalJSON reads the wire form, for hosts that keep results; unknown members are refused.
func (e *Error) UnmarshalJSON(b []byte) error {
	var w wireError
	if err := json.Unmarshal(b, &w, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	*e = Error{
		Code: w.Code, Message: w.Message, Retryable: w.Retryable, Field: w.Field, Rule: w.Rule,
		RetryAfter: time.Duration(w.RetryAfterMS) * time.Millisecond, Effect: w.Effect, OperationID: w.OperationID,
		ProposalID: w.ProposalID, Reason: w.Reason, Violations: w.Violations,
	}
	return nil
}
