package embedding_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/idemtest"
)

// countedLedger is a ledger of the host's own around another one: it counts what operations come to, for a dashboard.
type countedLedger struct {
	idem.Ledger
	mu       sync.Mutex
	finished map[idem.State]int
}

// Finish implements idem.Ledger.
func (l *countedLedger) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	rec, err := l.Ledger.Finish(ctx, c, o)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.finished[rec.State]++
	}
	return rec, err
}

// hastyLedger is one that means well: it says that an operation failed where its lease ran out, so that it can be tried again.
type hastyLedger struct{ idem.Ledger }

// Find implements idem.Ledger.
func (l hastyLedger) Find(ctx context.Context, k idem.Key) (idem.Record, error) {
	rec, err := l.Ledger.Find(ctx, k)
	if rec.State == idem.Unknown {
		rec.State = idem.Failed
	}
	return rec, err
}

// movable is a clock that stands where it is moved to.
type movable struct {
	mu sync.Mutex
	at time.Time
}

func (m *movable) now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at
}

func (m *movable) advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = m.at.Add(d)
}

// The suite checks a ledger of one's own against every rule of the contract, here outside of a test: idemtest.Run is the
// same within one. What breaks a rule is named with it.
func Example_ownLedger() {
	check := func(name string, own func(idem.Ledger) idem.Ledger) {
		err := idemtest.Check(context.Background(), func() (idemtest.Subject, error) {
			clock := &movable{at: time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)}
			return idemtest.Subject{Ledger: own(idem.NewMemory(clock.now)), Advance: clock.advance}, nil
		})
		broken, _ := errors.AsType[*idemtest.Broken](err)
		if broken == nil {
			fmt.Println(name+":", "every rule holds", err)
			return
		}
		fmt.Println(name+":", broken.Explanation)
	}
	check("counted", func(l idem.Ledger) idem.Ledger {
		return &countedLedger{Ledger: l, finished: map[idem.State]int{}}
	})
	check("hasty", func(l idem.Ledger) idem.Ledger { return hastyLedger{l} })

	// Output:
	// counted: every rule holds <nil>
	// hasty: past its lease a dispatching operation is unknown to whoever reads it, and its attempt ended with the lease (T6)
}
