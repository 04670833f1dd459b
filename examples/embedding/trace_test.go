package embedding_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/embedding"
	"github.com/toolcontract/toolcontract/examples/internal/recordtest"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

func recorded() []string { return []string{"get_order_v1"} }

func catalogue(t *testing.T) *tool.Catalog {
	t.Helper()
	c, err := embedding.Catalogue()
	require.NoError(t, err)
	return c
}

// The Examples call one catalogue. It is recorded whole: its orders are in the program, so that a replay reads the same ones.
func TestRecordedRunReplays(t *testing.T) {
	t.Parallel()
	file := recordtest.Record(t, catalogue(t), recorded(), func(call func(name, arguments string) envelope.Result) {
		require.NoError(t, call("get_order_v1", `{"order_id":"1001"}`).Err())
		require.NoError(t, call("get_order_v1", `{"order_id":"1002"}`).Err())
		require.Equal(t, envelope.NotFound, call("get_order_v1", `{"order_id":"2001"}`).Error.Code, "another tenant's")
		require.Equal(t, envelope.UnknownField, call("get_order_v1", `{"order_id":"1001","tenant":"zenith"}`).Error.Code)
	})
	recordtest.Keep(t, file)
	for _, recording := range [][]byte{file, recordtest.Kept(t)} {
		report := recordtest.Replay(t, recording, catalogue(t), recorded())
		require.NoError(t, report.Err())
		require.Equal(t, 4, report.Count(trace.Same))
	}
}

// A member of another name breaks every caller of the closed contract, unless it is a new version.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	type query struct {
		Number string `json:"number" jsonschema:"pattern=^[0-9]{4}$"`
	}
	catalog, err := tool.NewCatalog(tool.Tool[query, embedding.Order]{
		Spec: tool.Spec{Name: "get_order", Version: 1, Description: "Read an order's state.", Timeout: time.Second},
		Handle: func(context.Context, tool.Caller, query) (embedding.Order, error) {
			return embedding.Order{}, envelope.New(envelope.NotFound)
		},
	})
	require.NoError(t, err)
	recordtest.Refused(t, recordtest.Replay(t, recordtest.Kept(t), catalog, recorded()), 3)
}
