package envelope

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
)

// Call is what a model asks for. All of it is untrusted: nothing in it names a tenant, a person or a key.
// ID matches ^[A-Za-z0-9_.:-]{0,64}$ and only correlates; Tool is a wire name, spelt exactly; Arguments are the bytes as sent.
type Call struct {
	ID        string
	Tool      string
	Arguments jsontext.Value
}

// Result is what the model reads: data or an error, never both. Results are values; Data is not to be changed.
type Result struct {
	OK        bool
	Tool      string // wire name; empty where the call named no tool of the catalogue
	RequestID string // finds the call in logs, audit and quarantine
	Data      jsontext.Value
	Error     *Error
	Replayed  bool // the stored outcome of a write that ran before

	// Untrusted names the places in Data whose text comes from outside and must not be obeyed, as the output's schema declares
	// them: "note", "lines[].sku" for every item, "pair[1]" for one, "labels{}" for every value of a map. "labels" where labels
	// is a map stands for its keys. "children[]" where a tree begins again stands for all that is there and below, and "" for
	// the keys, or the text, of Data itself. "error.reason" is the one place outside Data: a rejecting person's words.
	Untrusted []string
}

// Decode reads Data into T, strictly: an unknown or duplicate member is an error. For a result that is not OK it returns [Result.Err].
func (r Result) Decode[T any]() (T, error) {
	var v T
	if err := r.Err(); err != nil {
		return v, err
	}
	err := json.Unmarshal(r.Data, &v, json.RejectUnknownMembers(true))
	return v, err
}

// Err returns nil for a result that is OK, otherwise its *Error.
func (r Result) Err() error {
	switch {
	case r.OK:
		return nil
	case r.Error == nil:
		return errNoError
	}
	return r.Error
}

var errNoError = errors.New("envelope: a result that is neither OK nor an error")

type wireResult struct {
	OK        bool           `json:"ok"`
	Tool      string         `json:"tool,omitzero"`
	RequestID string         `json:"request_id"`
	Data      jsontext.Value `json:"data,omitzero"`
	Error     *Error         `json:"error,omitzero"`
	Replayed  bool           `json:"replayed,omitzero"`
	Untrusted []string       `json:"untrusted,omitempty"`
}

// MarshalJSON writes the wire form; empty members are left out.
func (r Result) MarshalJSON() ([]byte, error) { return json.Marshal(wireResult(r)) }

// UnmarshalJSON reads the wire form, for hosts that keep results; unknown members are refused.
func (r *Result) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, (*wireResult)(r), json.RejectUnknownMembers(true))
}
