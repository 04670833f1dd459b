package idem

import "errors"

// The refusals of a ledger, for errors.Is. Every other error is the machinery's or a faulty argument: then nothing is
// known to have changed, unless the call's comment says so.
var (
	ErrState    = errors.New("idem: the operation's state does not allow it")
	ErrConflict = errors.New("idem: the key belongs to another request")
	ErrBusy     = errors.New("idem: busy, to be asked again later")
	ErrSequence = errors.New("idem: another operation on the resource began or ended since the proposal was made")
	ErrAttempts = errors.New("idem: no attempts left")
	ErrEmpty    = errors.New("idem: nothing to deliver")
	ErrFenced   = errors.New("idem: the claim is no longer the operation's")
	ErrNotFound = errors.New("idem: no such operation")
	ErrGone     = errors.New("idem: the operation is no longer kept")
)

// ErrSealed says that a sealed part of an operation does not open: it was altered, its key is lost, or the key service is
// away. Nothing of it is sent or replayed.
var ErrSealed = errors.New("idem: a sealed part does not open")

// ErrInvalid says that an argument is faulty and nothing was done.
var ErrInvalid = errors.New("idem: invalid argument")

// Gone is the error for a key of which only a tombstone is left. It is ErrGone for errors.Is.
//
//nolint:errname // it reads as what it is: errors.As(err, &gone)
type Gone struct {
	State State // the terminal state that the operation ended in
}

func (g *Gone) Error() string { return ErrGone.Error() + ": it ended " + string(g.State) }

// Is reports whether target is ErrGone.
func (g *Gone) Is(target error) bool { return target == ErrGone }
