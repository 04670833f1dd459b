package trace_test

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

var errNoWord = errors.New("registry: no answer")

// unheard are the registry's tools, whose moves get no answer.
func unheard(r *registry) []tool.Definition {
	w := r.movePatient()
	w.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
		_, err := trace.Do(ctx, "registry.move", moving{cmd.ProviderKey, cmd.Plan.Ward}, func(context.Context) (moved, error) { return moved{}, errNoWord }, errNoWord)
		return moveOut{}, err
	}
	return []tool.Definition{r.getPatient(), w}
}

var operator = approval.Principal{Kind: approval.Person, Tenant: "clinic", Subject: "Otto Dahlgren", Roles: []string{approval.RoleOperator}}

// resolved is a saved run of a move that nobody answered, on which an operator has the last word.
func resolved(t *testing.T, word idem.Resolution) string {
	t.Helper()
	recorders := &clock{now: epoch}
	rec := newRecorder(t, trace.Config{Now: recorders.Now})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, unheard)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	moves := func(ask func(context.Context, envelope.Call) envelope.Result) string {
		p := ask(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
		require.NoError(t, p.Err())
		id := between(string(p.Data), `"proposal_id":"`)
		h.approve(t, id)
		r := ask(t.Context(), call("commit_move_patient_v1", `{"proposal_id":"`+id+`"}`))
		require.Equal(t, envelope.OutcomeUnknown, r.Error.Code)
		for _, c := range []*clock{recorders, h.clock} {
			c.set(c.Now().Add(5 * time.Minute)) // no request is on its way any more
		}
		said := word
		said.Result = bytes.ReplaceAll(word.Result, []byte("<op>"), []byte(r.Error.OperationID))
		_, err := h.dispatcher.Resolve(t.Context(), idem.Key{Tenant: "clinic", Operation: r.Error.OperationID}, operator, said)
		require.NoError(t, err)
		return r.Error.OperationID
	}
	moves(h.start(t, h.run.Role()).Call) // of a run that nobody records
	op := moves(run.Call)
	run.Call(t.Context(), call("get_operation_v1", `{"operation_id":"`+op+`"}`))
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	return file.String()
}

// What an operator says of an unknown operation is said again, with stand-ins for who it was and why.
func TestAnOperatorsWordIsSaidAgain(t *testing.T) {
	t.Parallel()
	for name, word := range map[string]idem.Resolution{
		"done": {State: idem.Succeeded, Reason: "Ottilie lies there.", Evidence: "Ring Sunniva at 4711", Result: jsontext.Value(
			`{"operation_id":"<op>","resource_id":"pat_4711","new_version":"2","changed_fields":[],"committed_at":"2026-08-14T16:25:00Z","ward":"south"}`)},
		"done, without a result": {State: idem.Succeeded, Reason: "Ottilie lies there.", Evidence: "Ring Sunniva at 4711"},
		"not done":               {State: idem.Failed, Reason: "Ottilie lies there.", Evidence: "Ring Sunniva at 4711", Failure: envelope.New(envelope.PreconditionFailed)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := resolved(t, word)
			require.Equal(t, 1, strings.Count(file, `"step":"resolution"`))
			for _, hidden := range []string{"Otto", "Dahlgren", "Ottilie", "Sunniva"} {
				require.NotContains(t, file, hidden)
			}
			_, report := replayed(t, file, trace.PlayerConfig{}, nil, unheard)
			require.NoError(t, report.Err())
			require.Equal(t, len(report.Calls), report.Count(trace.Same))
		})
	}
}

// Whoever may not resolve now is refused, and that is a difference. Of an operation that is not made, nothing is said.
func TestAnOperatorsWordMayBeRefused(t *testing.T) {
	t.Parallel()
	file := resolved(t, idem.Resolution{State: idem.Succeeded, Reason: "It is seen.", Evidence: "Call 12"})
	nobody := trace.PlayerConfig{Principal: func(p approval.Principal) approval.Principal {
		if p.HasRole(approval.RoleOperator) {
			p.Roles = nil
		}
		return p
	}}
	_, report := replayed(t, file, nobody, nil, unheard)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.ErrorContains(t, report.Err(), "an operator's resolution is refused now")

	_, report = replayed(t, file, trace.PlayerConfig{}, nil, func(r *registry) []tool.Definition {
		return []tool.Definition{r.getPatient(), r.movePatient9()}
	})
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
}
