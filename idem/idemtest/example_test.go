package idemtest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/idemtest"
)

// careless takes any request under a key that it knows for the same one.
type careless struct{ *idem.Memory }

func (c careless) Admit(ctx context.Context, cmd idem.Command, consumedBefore bool) (idem.Record, idem.Admission, error) {
	if cmd.RequestHash != "" {
		cmd.RequestHash = "always the same"
	}
	return c.Memory.Admit(ctx, cmd, consumedBefore)
}

// In a _test.go file this is idemtest.Run(t, …); Check says the same without a test.
func Example() {
	err := idemtest.Check(context.Background(), func() (idemtest.Subject, error) {
		return idemtest.Subject{Ledger: careless{idem.NewMemory(nil)}}, nil
	})
	var broken *idemtest.Broken
	if errors.As(err, &broken) {
		fmt.Println(broken.Rule+":", broken.Explanation)
	}
	// Output:
	// admit/conflict: the same key with another request hash is ErrConflict and changes nothing
}
