package idem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
)

func TestOperationID(t *testing.T) {
	t.Parallel()
	id := idem.OperationID("acme", "p_1")
	require.Equal(t, "op_fzegvkt129yddycms39swscfj0rwk1efftcj0tjdg7vz1xpfqdr0", id, "made by another implementation: no release may change it")
	require.NotEqual(t, id, idem.OperationID("acmep", "_1"), "the parts are led by their lengths")
	require.NotEqual(t, id, idem.OperationID("other", "p_1"))
}
