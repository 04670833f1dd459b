package sqliteledger_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/idemtest"
	"github.com/toolcontract/toolcontract/idem/sqliteledger"
	"github.com/toolcontract/toolcontract/redact"
)

func sealer(t *testing.T) redact.Sealer {
	t.Helper()
	s, err := redact.NewSealer(redact.Key{ID: "k1", Secret: bytes.Repeat([]byte{7}, 32)})
	require.NoError(t, err)
	return s
}

// opener opens the same file again and again, and closes all at the end.
type opener struct {
	t    *testing.T
	path string
	cfg  sqliteledger.Config
	all  []*sqliteledger.Ledger
}

func newOpener(t *testing.T) *opener {
	t.Helper()
	o := &opener{t: t, path: filepath.Join(t.TempDir(), "a b?c%20.db"), cfg: sqliteledger.Config{Sealer: sealer(t)}}
	t.Cleanup(o.shut)
	return o
}

func (o *opener) shut() {
	for _, l := range o.all {
		require.NoError(o.t, l.Shutdown())
	}
	o.all = nil
}

func (o *opener) open() (idem.Ledger, error) {
	l, err := sqliteledger.OpenMoved(o.t.Context(), o.path, o.cfg)
	if err == nil {
		o.all = append(o.all, l)
	}
	return l, err
}

func subject(t *testing.T) idemtest.Subject {
	t.Helper()
	o := newOpener(t)
	l, err := o.open()
	require.NoError(t, err)
	return idemtest.Subject{
		Ledger:  l,
		Advance: func(d time.Duration) { require.NoError(t, o.all[0].Advance(t.Context(), d.Milliseconds())) },
		Peer:    o.open,
		Spoil:   func(k idem.Key) error { return o.all[0].Spoil(o.t.Context(), k) },
		Reopen:  func() (idem.Ledger, error) { o.shut(); return o.open() },
	}
}

func TestLedger(t *testing.T) {
	t.Parallel()
	idemtest.Run(t, subject)
}

func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		idemtest.Histories(t, subject(t), idemtest.Load{Seed: seed})
	}
}
