package tool

import (
	"errors"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// Evidence is what a write proves with. Embed it by value in the write's Out; its members are members of Out on the wire.
// The library fills OperationID, ResourceID (the target's id), PreviousVersion and ChangedFields where they are empty. An
// id that the provider made is a field of Out. An Out proves nothing, and the outcome is unknown, where
//
//   - OperationID, ResourceID or PreviousVersion is not the operation's, the target's id, the version that was approved,
//   - NewVersion is empty although the target has versions and still exists,
//   - CommittedAt is no time: zero, not after 1970-01-01 (a number that was not there), or after the year 9999 (seconds read
//     as milliseconds). It is the provider's time and is compared with no clock: a provider's clock that goes wrong does not
//     undo what it did.
//
// ChangedFields is the provider's word and is kept as it is: a provider calls its fields by names of its own, and what it
// changed beyond the proposal's diffs is for the reader to see.
type Evidence struct {
	OperationID     string    `json:"operation_id" jsonschema:"pattern=^op_[0-9a-z]{4\\,64}$"`
	ResourceID      string    `json:"resource_id" jsonschema:"minLength=1,maxLength=512" redact:"trusted"`
	PreviousVersion string    `json:"previous_version,omitzero" jsonschema:"maxLength=512" redact:"trusted"`
	NewVersion      string    `json:"new_version,omitzero" jsonschema:"maxLength=512" redact:"trusted"`
	ChangedFields   []string  `json:"changed_fields" jsonschema:"maxItems=256" redact:"trusted"`
	CommittedAt     time.Time `json:"committed_at"`
}

// Evident is satisfied by Evidence and by the structs that embed it, and by nothing else.
type Evident interface{ evident() Evidence }

func (e Evidence) evident() Evidence { return e }

// complete fills the members that are empty from f.
func (e *Evidence) complete(f Evidence) {
	if e.OperationID == "" {
		e.OperationID = f.OperationID
	}
	if e.ResourceID == "" {
		e.ResourceID = f.ResourceID
	}
	if e.PreviousVersion == "" {
		e.PreviousVersion = f.PreviousVersion
	}
	if len(e.ChangedFields) == 0 {
		e.ChangedFields = f.ChangedFields
	}
	if !e.CommittedAt.IsZero() {
		e.CommittedAt = e.CommittedAt.UTC()
	}
}

var (
	errOtherOperation = errors.New("tool: the evidence names another operation")
	errOtherResource  = errors.New("tool: the evidence names another resource")
	errOtherVersion   = errors.New("tool: the evidence starts from another version")
	errNoTime         = errors.New("tool: the evidence has no time")
	errNoVersion      = errors.New("tool: the evidence has no new version")
)

// maxYear is the last that RFC 3339 can write (section 1).
const maxYear = 9999

// bound checks that the evidence speaks of this operation and of this target.
func (e Evidence) bound(operation string, t approval.Target) error {
	switch {
	case e.OperationID != operation:
		return errOtherOperation
	case e.ResourceID != t.ID:
		return errOtherResource
	case e.PreviousVersion != t.Version:
		return errOtherVersion
	case e.CommittedAt.Unix() <= 0, e.CommittedAt.Year() > maxYear:
		return errNoTime
	}
	return nil
}

// expected is what the library knows of the evidence before the provider speaks.
func expected(operation string, t approval.Target, diffs []approval.Diff) Evidence {
	e := Evidence{OperationID: operation, ResourceID: t.ID, PreviousVersion: t.Version}
	for _, d := range diffs {
		if !slices.Contains(e.ChangedFields, d.Field) {
			e.ChangedFields = append(e.ChangedFields, d.Field)
		}
	}
	return e
}
