package idem

// State is where an operation stands. The zero value is no state.
type State string

// The states.
const (
	Pending     State = "pending"     // admitted; nothing was sent, or NotSent was proved for every claim
	Dispatching State = "dispatching" // a claim is given: bytes may be leaving
	Running     State = "running"     // the provider took it and works on it
	Succeeded   State = "succeeded"   // the effect is there
	Failed      State = "failed"      // finally refused: no effect
	Denied      State = "denied"      // closed before anything was sent: a definite no, or no attempts left
	Expired     State = "expired"     // closed before anything was sent: its time was over
	Cancelled   State = "cancelled"   // closed before anything was sent, or stopped by the provider while running
	Unknown     State = "unknown"     // it may have had its effect; nobody can prove either yet
)

// Terminal reports whether s never changes again: Succeeded, Failed, Denied, Expired, Cancelled.
func (s State) Terminal() bool {
	switch s {
	case Succeeded, Failed, Denied, Expired, Cancelled:
		return true
	case Pending, Dispatching, Running, Unknown:
	}
	return false
}

// Open reports whether an operation in s keeps its resource closed to others: Dispatching, Running, Unknown.
func (s State) Open() bool { return s == Dispatching || s == Running || s == Unknown }

func (s State) valid() bool { return s == Pending || s.Open() || s.Terminal() }

// Admission says what Admit found. The zero value is none.
type Admission string

// The admissions.
const (
	Admitted   Admission = "admitted"    // inserted by this call: pending, or unknown when the approval was consumed before
	Replayed   Admission = "replayed"    // the same request is already terminal; the record is its answer
	InProgress Admission = "in_progress" // the same request is there and not terminal
)
