package contracttest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
)

func TestGoodAdaptersRaiseNoAlarm(t *testing.T) {
	t.Parallel()
	good, err := samples.Good()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(good), 12)
	for _, a := range good {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, contracttest.Check(contracttest.Make(a.New), a.Options...).Err())
		})
	}
}
