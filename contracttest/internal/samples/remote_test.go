package samples

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
)

// The machine is really asked: an adapter whose every call fails would raise no alarm either.
func TestTheMachineAnswers(t *testing.T) {
	t.Parallel()
	d, err := remote()
	require.NoError(t, err)
	show, ok := d.(tool.Tool[unitIn, unitOut])
	require.True(t, ok)
	out, err := show.Handle(context.Background(), tool.Caller{Principal: approval.Principal{Tenant: "t"}, Tool: "show_unit_v1", RequestID: "req_1"}, unitIn{"a-b.service"})
	require.NoError(t, err)
	require.Equal(t, unitOut{"a-b.service", "active"}, out)
}
