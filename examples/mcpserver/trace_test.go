package main

import (
	"context"
	"encoding/json/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/internal/recordtest"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

func recorded() []string {
	return []string{"get_customer_v1", "get_parcel_v1", "preview_address_change_v1", "commit_address_change_v1"}
}

// openedDesk is a desk with a database of its own.
func openedDesk(t *testing.T) *desk {
	t.Helper()
	d, err := openDesk(t.Context(), filepath.Join(t.TempDir(), "desk.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.close()) })
	return d
}

func desks(t *testing.T) *tool.Catalog {
	t.Helper()
	catalog, err := openedDesk(t).catalogue()
	require.NoError(t, err)
	return catalog
}

// The calls are recorded at the run: package mcptool makes runs of the dispatcher itself, so that a recorder has no place behind
// the protocol. A replay asks no database: what the desk reads is in the recording.
func TestRecordedRunReplays(t *testing.T) {
	t.Parallel()
	file := recordtest.Record(t, desks(t), recorded(), func(call func(name, arguments string) envelope.Result) {
		require.NoError(t, call("get_customer_v1", `{"customer_id":"cus_1842"}`).Err())
		require.NoError(t, call("get_parcel_v1", `{"parcel_id":"par_77"}`).Err())
		require.Equal(t, envelope.NotFound, call("get_parcel_v1", `{"parcel_id":"par_78"}`).Error.Code)
		require.Equal(t, envelope.InvalidArgument, call("get_customer_v1", `{"customer_id":"1842"}`).Error.Code)
		proposed := call("preview_address_change_v1", `{"customer_id":"cus_1842","address":"4 Harbour Row, Lübeck"}`)
		require.NoError(t, proposed.Err())
		var p struct {
			ProposalID string `json:"proposal_id"`
		}
		require.NoError(t, json.Unmarshal(proposed.Data, &p))
		require.Equal(t, envelope.ApprovalPending, call("commit_address_change_v1", `{"proposal_id":"`+p.ProposalID+`"}`).Error.Code)
	})
	require.NotContains(t, string(file), "left_out")
	recordtest.Keep(t, file)
	for _, recording := range [][]byte{file, recordtest.Kept(t)} {
		report := recordtest.Replay(t, recording, desks(t), recorded())
		require.NoError(t, report.Err())
		require.Equal(t, 6, report.Count(trace.Same))
	}
}

// A status more breaks every reader of the closed contract, unless it is a new version.
func TestRecordedRunOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	type newParcel struct {
		ParcelID string `json:"parcel_id" jsonschema:"maxLength=6" redact:"trusted"`
		Status   string `json:"status" jsonschema:"enum=stored,enum=sent"`
	}
	d := openedDesk(t)
	catalog, err := tool.NewCatalog(d.getCustomer(), tool.Tool[parcelIn, newParcel]{
		Spec: spec("get_parcel", "Read a parcel", "Read where a parcel goes."),
		Handle: func(ctx context.Context, by tool.Caller, in parcelIn) (newParcel, error) {
			_, _, err := d.read(ctx, by.Principal.Tenant, "parcel", in.ParcelID)
			return newParcel{}, failure(err, "parcel_id")
		},
	}, d.addressChange())
	require.NoError(t, err)
	recordtest.Refused(t, recordtest.Replay(t, recordtest.Kept(t), catalog, recorded()), 1)
}
