package tool //nolint:testpackage // no exported way leads to what must not be reached

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
)

// Of the two stores a shadow has what looks and nothing else: every other method is refused before the store is asked.
func TestShadowStoresAreOnlyAsked(t *testing.T) {
	t.Parallel()
	c := Config{Approvals: approval.NewMemory(time.Now), Ledger: idem.NewMemory(time.Now)}
	(&Shadow{}).stores(&c)
	looks := []string{"Find", "Alike", "Pending", "Resource", "Open", "Unknown"}
	for _, store := range []reflect.Value{reflect.ValueOf(&c.Approvals).Elem(), reflect.ValueOf(&c.Ledger).Elem()} {
		for m := range store.Type().Methods() {
			if slices.Contains(looks, m.Name) {
				continue
			}
			args := []reflect.Value{reflect.ValueOf(t.Context())}
			for i := 1; i < m.Type.NumIn(); i++ {
				args = append(args, reflect.Zero(m.Type.In(i)))
			}
			out := store.MethodByName(m.Name).Call(args)
			err, _ := out[len(out)-1].Interface().(error)
			require.ErrorIs(t, err, ErrNotLive, m.Name)
		}
	}
	var none Config
	(&Shadow{}).stores(&none)
	require.Nil(t, none.Approvals, "what is not there is not put there")
	require.Nil(t, none.Ledger)
	live := Config{Ledger: idem.NewMemory(time.Now)}
	(*Shadow)(nil).stores(&live)
	require.IsType(t, &idem.Memory{}, live.Ledger)
}
