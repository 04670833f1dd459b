package crm_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

func open(t *testing.T) (*crm.Service, *crm.Conn) {
	t.Helper()
	s, err := crm.Open(t.Context(), t.TempDir(), func() time.Time { return noon })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c, err := s.Dial(t.Context())
	require.NoError(t, err)
	return s, c
}

func move(version int64, key string) crm.Replacement {
	return crm.Replacement{
		Tenant: "acme", CustomerID: "cus_9Qm4", Version: version, Key: key, By: "ana",
		Address: crm.Address{Line1: "4 Harbour Row", City: "Lübeck", Country: "DE"},
	}
}

// effects counts what the feed has under a key, and the requests that arrived with it.
func effects(t *testing.T, s *crm.Service, key string) (changes, requests string) {
	t.Helper()
	_, rows, err := s.Query(t.Context(), `SELECT
		(SELECT count(*) FROM change_feed WHERE key = '`+key+`'), (SELECT count(*) FROM requests WHERE key = '`+key+`')`)
	require.NoError(t, err)
	return rows[0][0], rows[0][1]
}

func TestCustomerBelongsToItsTenant(t *testing.T) {
	t.Parallel()
	_, c := open(t)
	got, err := c.Customer(t.Context(), "acme", "cus_9Qm4")
	require.NoError(t, err)
	require.Equal(t, int64(17), got.Version)
	require.Equal(t, "Kiel", got.Address.City)
	require.Len(t, got.Book, 2)
	require.Equal(t, "addr_2", got.Book[1].ID)

	_, err = c.Customer(t.Context(), "globex", "cus_9Qm4")
	require.ErrorIs(t, err, crm.ErrNotFound)
	_, err = c.RefundCase(t.Context(), "globex", "case_A1b2C3d4E5f6G7h8")
	require.ErrorIs(t, err, crm.ErrNotFound)
	_, _, err = c.Orders(t.Context(), "globex", "cus_9Qm4", "", 10, "")
	require.ErrorIs(t, err, crm.ErrNotFound)
	ws, err := c.Warehouses(t.Context(), "globex")
	require.NoError(t, err)
	require.Equal(t, []crm.Warehouse{{ID: "wh_main", City: "Rotterdam", Country: "NL"}}, ws)
}

func TestOrdersComeInPages(t *testing.T) {
	t.Parallel()
	_, c := open(t)
	for _, row := range []struct {
		name, why, status string
		limit             int
		want              [][]string
	}{
		{"all in one", "the page is larger than the list", "", 10, [][]string{{"ord_1001", "ord_1003", "ord_1004", "ord_1007"}}},
		{"exact", "a full last page has no next", "", 4, [][]string{{"ord_1001", "ord_1003", "ord_1004", "ord_1007"}}},
		{"three and one", "the cursor goes on after the last", "", 3, [][]string{{"ord_1001", "ord_1003", "ord_1004"}, {"ord_1007"}}},
		{"filtered", "the status holds on every page", "open", 1, [][]string{{"ord_1004"}, {"ord_1007"}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got [][]string
			for cursor, more := "", true; more; more = cursor != "" {
				page, next, err := c.Orders(t.Context(), "acme", "cus_9Qm4", row.status, row.limit, cursor)
				require.NoError(t, err)
				var ids []string
				for _, o := range page {
					ids = append(ids, o.ID)
				}
				got, cursor = append(got, ids), next
			}
			require.Equal(t, row.want, got, row.why)
		})
	}
	for _, cursor := range []string{"after_", "after_x", "1004", "after_-1", "after_0", "after_99999999999999999999"} {
		_, _, err := c.Orders(t.Context(), "acme", "cus_9Qm4", "", 3, cursor)
		require.ErrorIs(t, err, crm.ErrCursor, cursor)
	}
}

func TestReplaceAddressIsConditional(t *testing.T) {
	t.Parallel()
	s, c := open(t)
	ch, err := c.ReplaceAddress(t.Context(), move(17, "k1"))
	require.NoError(t, err)
	require.Equal(t, crm.Change{CustomerID: "cus_9Qm4", FromVersion: 17, ToVersion: 18, At: noon, Address: move(0, "").Address}, ch)

	_, err = c.ReplaceAddress(t.Context(), move(17, "k2"))
	require.ErrorIs(t, err, crm.ErrVersion)
	got, err := c.Customer(t.Context(), "acme", "cus_9Qm4")
	require.NoError(t, err)
	require.Equal(t, int64(18), got.Version)
	require.Equal(t, "Lübeck", got.Address.City)

	changes, requests := effects(t, s, "k2")
	require.Equal(t, "0", changes)
	require.Equal(t, "1", requests, "a refused request arrived all the same")

	foreign := move(18, "k3")
	foreign.Tenant = "globex"
	_, err = c.ReplaceAddress(t.Context(), foreign)
	require.ErrorIs(t, err, crm.ErrNotFound)
}

func TestLostAnswerLeavesItsEffect(t *testing.T) {
	t.Parallel()
	s, c := open(t)
	_, err := c.ChangeByKey(t.Context(), "acme", "k1")
	require.ErrorIs(t, err, crm.ErrNotFound, "nothing was sent so far")

	s.LoseAnswers(true)
	_, err = c.ReplaceAddress(t.Context(), move(17, "k1"))
	require.ErrorIs(t, err, crm.ErrLost)
	s.LoseAnswers(false)

	ch, err := c.ChangeByKey(t.Context(), "acme", "k1")
	require.NoError(t, err)
	require.Equal(t, int64(18), ch.ToVersion)
	require.Equal(t, "4 Harbour Row", ch.Address.Line1)
	_, err = c.ChangeByKey(t.Context(), "globex", "k1")
	require.ErrorIs(t, err, crm.ErrNotFound, "a key belongs to its tenant")

	_, err = c.ReplaceAddress(t.Context(), move(17, "k1"))
	require.ErrorIs(t, err, crm.ErrVersion, "a blind repetition reads as refused though the change was made")
	changes, requests := effects(t, s, "k1")
	require.Equal(t, "1", changes)
	require.Equal(t, "2", requests)
}

func TestFeedWouldShowADuplicate(t *testing.T) {
	t.Parallel()
	s, c := open(t)
	for v := int64(17); v < 19; v++ {
		_, err := c.ReplaceAddress(t.Context(), move(v, "same"))
		require.NoError(t, err)
	}
	changes, _ := effects(t, s, "same")
	require.Equal(t, "2", changes)
}

func TestUnpluggedSendsNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	s.Unplug(true)
	_, err := s.Dial(t.Context())
	require.ErrorIs(t, err, crm.ErrUnreachable)
	s.Unplug(false)
	_, err = s.Dial(t.Context())
	require.NoError(t, err)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Dial(ended)
	require.ErrorIs(t, err, context.Canceled)
}
