package tool

import (
	"context"
	"time"
)

// Budget is what a run may use up. As a run's limit: Calls must be set; zero Parallel is 4; zero Elapsed is up to the
// run's deadline; zero Tokens are not counted.
type Budget struct {
	Calls    int           // calls of tools, refused ones included; a wait for an approval is none
	Parallel int           // calls under way at one moment
	Elapsed  time.Duration // since the run was first started
	Tokens   int64         // of the host's model, told by Run.Spend
}

const defaultParallel = 4

// BudgetStore counts what runs use. It is safe for concurrent use and, where several machines serve one run, shared by
// them. Package budgettest checks implementations.
//
// A negative amount is refused with an *[AmountError] before anything is looked at or changed ([CheckReserve],
// [CheckSettle]). What is counted stays between zero and the largest number of its type: a sum beyond that is that number.
//
// A run is known from its first reservation, refused or not, until the latest until that one of its reservations named:
// as long as that lies ahead nothing is forgotten. After it a store may forget the run, and then a reservation under the
// same id begins a new budget. Run ids are not to be used again.
type BudgetStore interface {
	// Reserve takes want from what is left of limit, all of it or nothing, in one step. What does not fit is an
	// *envelope.Error: BUDGET_EXHAUSTED for calls, time and tokens, RATE_LIMITED for parallel work. Any other error is the
	// machinery's: it may have been taken, and the store gives it back by itself. A reservation for parallel work that is
	// not settled ends at until. Of want the Elapsed is nothing.
	Reserve(ctx context.Context, tenant, run string, want, limit Budget, until time.Time) error
	// Settle gives back what was reserved and not used. Parallel work is always given back. What was used beyond the
	// reservation counts as well. Settling what was never reserved, or was settled before, changes nothing where the
	// reservation was for parallel work, and otherwise leaves never more than the limit.
	Settle(ctx context.Context, tenant, run string, reserved, used Budget) error
}

// ElapsedStore is what a BudgetStore offers that tells how much of a run's time is left, so that a call ends with it, on
// whatever machine the run began. Without it a process counts from its own first Start of the run.
type ElapsedStore interface {
	BudgetStore
	// ReserveRest is Reserve, and answers what is left of limit.Elapsed after it: not more than that, measured from before
	// the call. Zero or less is none. Without a limit.Elapsed, and beside an error, the rest means nothing.
	ReserveRest(ctx context.Context, tenant, run string, want, limit Budget, until time.Time) (rest time.Duration, err error)
}

// AmountError says that an amount which was handed to a BudgetStore cannot be.
type AmountError struct {
	Place string // the argument and its field, as in want.calls
}

// Error names the place.
func (e *AmountError) Error() string { return "tool: budget: " + e.Place + ": must not be negative" }

// CheckReserve returns the *AmountError of the first negative amount that Reserve must refuse, for implementations; nil:
// there is none.
func CheckReserve(want, limit Budget) error { return checkAmounts("want", want, "limit", limit) }

// CheckSettle is CheckReserve for Settle.
func CheckSettle(reserved, used Budget) error {
	return checkAmounts("reserved", reserved, "used", used)
}

func checkAmounts(one string, a Budget, two string, b Budget) error {
	field := a.negative()
	if field == "" {
		one, field = two, b.negative()
	}
	if field == "" {
		return nil
	}
	return &AmountError{Place: one + "." + field}
}

// negative names the first field below zero.
func (b Budget) negative() string {
	switch {
	case b.Calls < 0:
		return "calls"
	case b.Parallel < 0:
		return "parallel"
	case b.Elapsed < 0:
		return "elapsed"
	case b.Tokens < 0:
		return "tokens"
	}
	return ""
}
