package bell_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/bell"
)

func TestBell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var b bell.Bell
		b.Ring()
		ctx, cancel := context.WithCancel(t.Context())
		one, two := b.Listen(ctx), b.Listen(t.Context())
		b.Ring()
		b.Ring()
		<-one
		require.Empty(t, one, "two rings before anybody looked are one")
		cancel()
		synctest.Wait()
		_, open := <-one
		require.False(t, open, "closed with its context")
		require.Equal(t, 1, b.Listeners())
		<-two
		b.Ring()
		_, open = <-two
		require.True(t, open, "others go on")
	})
}
