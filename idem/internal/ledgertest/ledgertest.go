// Package ledgertest is what the tests of the durable ledgers share and a user's do not need: idemtest is for those.
package ledgertest

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// Committing is the context of a Commit under the claim, whose check takes strings.
func Committing(ctx context.Context, l idem.Ledger, c idem.Claim) context.Context {
	return idem.WithHolder(ctx, idem.Holder{Ledger: l, Claim: c, Check: func(_ context.Context, out any) (idem.Outcome, error) {
		s, ok := out.(string)
		if !ok {
			return idem.Outcome{}, errors.New("not the tool's output")
		}
		return idem.Outcome{State: idem.Succeeded, Result: jsontext.Value(`"` + s + `"`)}, nil
	}})
}

// Dispatched admits a command and claims it.
func Dispatched(t *testing.T, l idem.Ledger, c idem.Command) idem.Claim {
	t.Helper()
	_, _, err := l.Admit(t.Context(), c, false)
	require.NoError(t, err)
	claim, err := l.Claim(t.Context(), c.Key, "w", time.Hour)
	require.NoError(t, err)
	return claim
}

// EvidenceOfATombstone checks that evidence which comes when its row has just been purged is not kept: the tombstone would hang
// on it. open is asked for an empty ledger with the sealer; late is called when the evidence came.
func EvidenceOfATombstone(t *testing.T, open func(s redact.Sealer) idem.Ledger, c idem.Command, late func()) {
	t.Helper()
	var l idem.Ledger
	l = open(tapped{redact.Plain(), func(ctx context.Context, aad []byte) {
		if bytes.Contains(aad, []byte("evidence/")) {
			n, err := l.Purge(ctx, 0, time.Hour)
			require.NoError(t, err)
			require.Equal(t, 1, n)
		}
	}})
	claim := Dispatched(t, l, c)
	_, err := l.Finish(t.Context(), claim, idem.Outcome{State: idem.Succeeded})
	require.NoError(t, err)
	_, err = l.Finish(t.Context(), claim, idem.Outcome{State: idem.Failed, Failure: envelope.New(envelope.Internal)})
	require.ErrorIs(t, err, idem.ErrFenced)
	late()
	n, err := l.Purge(t.Context(), 0, 0)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}

// tapped is a sealer that says what it is about to seal.
type tapped struct {
	redact.Sealer
	before func(ctx context.Context, aad []byte)
}

func (s tapped) Seal(ctx context.Context, aad, plain []byte) ([]byte, error) {
	s.before(ctx, aad)
	return s.Sealer.Seal(ctx, aad, plain)
}
