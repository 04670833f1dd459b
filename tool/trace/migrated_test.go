package trace_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// A commit of another version finds the proposal that the migrated preview made.
func TestIdsOfAMigratedCallAreBound(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { unasked(c); rec.Wire(c); return nil }, nil)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	p := run.Call(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
	require.NoError(t, p.Err())
	require.NoError(t, run.Call(t.Context(), call("commit_move_patient_v1", `{"proposal_id":"`+between(string(p.Data), `"proposal_id":"`)+`"}`)).Err())
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))

	tr, err := trace.Load(&file)
	require.NoError(t, err)
	second := func(c envelope.Call) (envelope.Call, error) {
		c.Tool = strings.Replace(c.Tool, "_v1", "_v2", 1)
		return c, nil
	}
	player := trace.NewPlayer(tr, trace.PlayerConfig{Migrate: map[string]trace.Migration{
		"preview_move_patient_v1": second, "commit_move_patient_v1": second,
	}})
	h = newHouse(t, func(c *tool.Config) error { unasked(c); return player.Wire(c) }, func(r *registry) []tool.Definition {
		w := r.movePatient()
		w.Spec.Version = 2
		return []tool.Definition{w}
	}, "preview_move_patient_v2", "commit_move_patient_v2")
	report, err := player.Play(t.Context(), h.dispatcher, h.run)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Equal(t, 2, report.Count(trace.Migrated), "%v", report.Calls)
}

type pairIn struct {
	First  string `json:"first" jsonschema:"pattern=^req_[a-z]{25}0$"`
	Second string `json:"second" jsonschema:"enum=one,enum=two"`
}

// A recorded question that is not the one that is asked now says nothing of its ids.
func TestAnotherQuestionBindsNoID(t *testing.T) {
	t.Parallel()
	ask := func(ids []string) func(*registry) []tool.Definition {
		return func(r *registry) []tool.Definition {
			get := r.getPatient()
			get.Handle = func(ctx context.Context, _ tool.Caller, in patientIn) (out patientOut, err error) {
				for _, second := range []string{"one", "two"} {
					_, err = trace.Do(ctx, "registry.pair", pairIn{ids[0], second}, func(context.Context) (moving, error) { return moving{}, nil })
					if ids = ids[1:]; err != nil {
						return out, err
					}
				}
				return patientOut{PatientID: in.PatientID, Name: "Ottilie Brandvold", Born: "1948-05-17", Ward: "north"}, nil
			}
			return []tool.Definition{get}
		}
	}
	a, b := "req_"+strings.Repeat("a", 25)+"0", "req_"+strings.Repeat("b", 25)+"0"
	x, y := "req_"+strings.Repeat("c", 25)+"0", "req_"+strings.Repeat("d", 25)+"0"
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, ask([]string{a, b}), "get_patient_v1")
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)).Err())
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	swapped := strings.Replace(strings.Replace(strings.Replace(file.String(), `"one"`, `"0"`, 1), `"two"`, `"one"`, 1), `"0"`, `"two"`, 1)
	_, report := replayed(t, swapped, trace.PlayerConfig{}, nil, ask([]string{x, y}), "get_patient_v1")
	require.NoError(t, report.Err(), "asked in another order")
}
