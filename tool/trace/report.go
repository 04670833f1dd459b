package trace

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// As says how a recorded call came out when it was made again. The zero value is invalid.
type As uint8

// How calls come out.
const (
	Same       As = iota + 1 // as it was recorded
	Migrated                 // in another form, with the same end
	OldVersion               // refused: the recorded version is no longer served as it was
	Different                // another answer, or other exchanges with other systems
	LeftOut                  // not made: its arguments, or those of a call that it rests on, could not be saved
)

// String returns same, migrated, refused as old version, different, left out; "invalid" for anything else.
func (a As) String() string {
	switch a {
	case Same:
		return "same"
	case Migrated:
		return "migrated"
	case OldVersion:
		return "refused as old version"
	case Different:
		return "different"
	case LeftOut:
		return "left out"
	}
	return "invalid"
}

// Replayed is one call of a replay, or one work on an operation. It names places and codes, never a value.
type Replayed struct {
	Case, Tool string
	As         As
	Why        string   // empty where the answer is the same
	Missing    []string // recorded exchanges that were not made, by operation
	Extra      []string // exchanges that were not recorded, by operation
}

// String says it in one line.
func (r Replayed) String() string {
	out := fmt.Sprintf("%s %s: %s", r.Case, r.Tool, r.As)
	if r.Why != "" {
		out += ": " + r.Why
	}
	if len(r.Missing) > 0 {
		out += "; missing: " + strings.Join(r.Missing, ", ")
	}
	if len(r.Extra) > 0 {
		out += "; not recorded: " + strings.Join(r.Extra, ", ")
	}
	return out
}

// Report is what a replay found.
type Report struct {
	Calls []Replayed
	Work  []Replayed // what workers did for operations
	Other []string   // decisions, resolutions and outcomes that are not as they were
	// NotReplayed are the tools whose operations wait for a worker now and were run then by one whose work was not recorded.
	// They are no difference.
	NotReplayed []string
}

func (r *Report) add(c Replayed) { r.Calls = append(r.Calls, c) }

func (r *Report) differ(format string, args ...any) {
	r.Other = append(r.Other, fmt.Sprintf(format, args...))
}

// Count returns how many calls came out so.
func (r *Report) Count(as As) (n int) {
	for _, c := range r.Calls {
		if c.As == as {
			n++
		}
	}
	return n
}

// What is wrong with a replay.
var (
	ErrOldVersion = errors.New("trace: refused as old version")
	ErrDifferent  = errors.New("trace: not as it was recorded")
	ErrNothing    = errors.New("trace: no call was made again")
)

// Err returns nil where at least one call was made again and every one is the same, migrated or left out; otherwise it
// joins a line for each that is not, wrapping [ErrOldVersion] or [ErrDifferent].
func (r *Report) Err() error {
	var errs []error
	for _, c := range slices.Concat(r.Calls, r.Work) {
		switch c.As {
		case OldVersion:
			errs = append(errs, fmt.Errorf("%w: %s", ErrOldVersion, c))
		case Different:
			errs = append(errs, fmt.Errorf("%w: %s", ErrDifferent, c))
		case Same, Migrated, LeftOut:
		}
	}
	for _, text := range r.Other {
		errs = append(errs, fmt.Errorf("%w: %s", ErrDifferent, text))
	}
	if r.Count(LeftOut) == len(r.Calls) {
		errs = append(errs, ErrNothing)
	}
	return errors.Join(errs...)
}
