package tool_test

import (
	"context"
	"encoding/json"
	"encoding/json/jsontext"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

type orderIn struct {
	OrderID  string   `json:"order_id" jsonschema:"pattern=^ord_[a-z0-9]{8\\,16}$"`
	Customer string   `json:"customer" jsonschema:"minLength=1,maxLength=64"`
	Status   string   `json:"status" jsonschema:"enum=open,enum=shipped,enum=cancelled"`
	Limit    int      `json:"limit" jsonschema:"minimum=1,maximum=100"`
	Tags     []string `json:"tags" jsonschema:"maxItems=10"`
}

// BenchmarkCall is a whole guarded read; BenchmarkFloor decodes and encodes the same documents without a boundary.
func BenchmarkCall(b *testing.B) {
	args := jsontext.Value(`{"order_id":"ord_a1b2c3d4e5","customer":"Ada Lovelace of London","status":"shipped","limit":50,"tags":["express","gift","fragile","signature"]}`)
	echo := tool.Tool[orderIn, orderIn]{
		Spec:   tool.Spec{Name: "echo", Version: 1, Description: "Echo.", Timeout: time.Second},
		Handle: func(_ context.Context, _ tool.Caller, in orderIn) (orderIn, error) { return in, nil },
	}
	c, err := tool.NewCatalog(echo)
	require.NoError(b, err)
	d, err := tool.NewDispatcher(c, tool.Config{})
	require.NoError(b, err)
	role, err := c.Role("bench", "echo_v1")
	require.NoError(b, err)
	run, err := d.Start(tool.RunConfig{Principal: approval.Principal{Kind: approval.Service, Tenant: "t", Subject: "s"}, Role: role, Budget: tool.Budget{Calls: 1 << 40}, Deadline: time.Now().Add(time.Hour)})
	require.NoError(b, err)
	b.Run("read/200B", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if r := run.Call(b.Context(), envelope.Call{Tool: "echo_v1", Arguments: args}); !r.OK {
				b.Fatal(r.Error)
			}
		}
	})
	b.Run("floor/200B", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var in orderIn
			if json.Unmarshal(args, &in) != nil {
				b.Fatal()
			}
			if _, err := json.Marshal(in); err != nil {
				b.Fatal()
			}
		}
	})
}
