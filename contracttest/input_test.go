package contracttest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
)

func TestAGoodCataloguePasses(t *testing.T) {
	t.Parallel()
	shop := samples.NewShop()
	catalog, err := shop.Typical()
	require.NoError(t, err)
	contracttest.Run(t, func(tb testing.TB) *contracttest.Fixture {
		tb.Helper()
		f := contracttest.NewFixture(tb, catalog)
		f.Upstream, f.Touch = shop.Reset(), shop.Touch
		return f
	})
}
