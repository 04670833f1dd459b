package trace_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact/audit"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// otherStore is a store of somebody's own: it says nothing of what it stands around.
type otherStore struct{ approval.Store }

// What Development returned is recorded and replayed as any other configuration, and still takes no store but memory.
func TestDevelopmentIsRecorded(t *testing.T) {
	t.Parallel()
	quiet := func(c *tool.Config) {
		was := *c // its stores and clock stand where the test puts them
		*c = tool.Development(approval.Everything(approval.Requirement{Level: approval.None}))
		if was.Now != nil {
			c.Now, c.Approvals, c.Ledger = was.Now, was.Approvals, was.Ledger
		}
		c.Logger, c.Audit = zap.NewNop(), audit.NewZap(zap.NewNop())
	}

	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { quiet(c); rec.Wire(c); return nil }, nil)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	p := run.Call(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
	require.NoError(t, p.Err())
	commit := `{"proposal_id":"` + between(string(p.Data), `"proposal_id":"`) + `"}`
	require.NoError(t, run.Call(t.Context(), call("commit_move_patient_v1", commit)).Err())
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	require.Contains(t, file.String(), `"state":"succeeded"`)

	tr, err := trace.Load(&file)
	require.NoError(t, err)
	player := trace.NewPlayer(tr, trace.PlayerConfig{})
	again := newHouse(t, func(c *tool.Config) error { quiet(c); return player.Wire(c) }, nil)
	report, err := player.Play(t.Context(), again.dispatcher, again.run)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Zero(t, again.registry.total())

	var cfg tool.Config
	quiet(&cfg)
	cfg.Approvals = otherStore{approval.NewMemory(nil)}
	rec.Wire(&cfg)
	_, err = tool.NewDispatcher(h.dispatcher.Catalog(), cfg)
	require.ErrorContains(t, err, "Development is for approval.Memory and idem.Memory alone", "nor behind a recorder")
	cfg.Approvals, cfg.Ledger = approval.NewMemory(nil), struct{ idem.Ledger }{idem.NewMemory(nil)}
	_, err = tool.NewDispatcher(h.dispatcher.Catalog(), cfg)
	require.Error(t, err)
}
