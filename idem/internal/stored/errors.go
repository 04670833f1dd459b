package stored

import (
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/idem"
)

// Wrap names the ledger and the operation of an error that is the machinery's. The contract's are handed on as they are.
func Wrap(ledger, op string, err error) error {
	if err == nil || Refusal(err) {
		return err
	}
	return fmt.Errorf("idem: %s: %s: %w", ledger, op, err)
}

// Refusal reports whether err is the contract's.
func Refusal(err error) bool {
	for _, e := range []error{
		idem.ErrState, idem.ErrConflict, idem.ErrBusy, idem.ErrSequence, idem.ErrAttempts, idem.ErrEmpty, idem.ErrFenced,
		idem.ErrNotFound, idem.ErrGone, idem.ErrInvalid,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
