package idem_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
)

func TestNegativeFieldsAreNamed(t *testing.T) {
	t.Parallel()
	for field, spoil := range map[string]func(*idem.Command){
		"sequence":     func(c *idem.Command) { c.Seq = -1 },
		"attempts":     func(c *idem.Command) { c.Attempts = -1 },
		"available in": func(c *idem.Command) { c.AvailableIn = -1 },
		"expires in":   func(c *idem.Command) { c.ExpiresIn = -1 },
		"dedup for":    func(c *idem.Command) { c.DedupFor = -1 },
		"run for":      func(c *idem.Command) { c.RunFor = -1 },
		"settle":       func(c *idem.Command) { c.Settle = -1 },
	} {
		c := idem.Command{Key: idem.Key{Tenant: "t", Operation: "op"}, RequestHash: "h", Resource: "r", ExpiresIn: time.Hour}
		require.NoError(t, c.Validate())
		spoil(&c)
		err := c.Validate()
		require.ErrorIs(t, err, idem.ErrInvalid)
		require.EqualError(t, err, "idem: invalid argument: command: "+field+" is negative")
	}
}
