package trace_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type renamedOut struct {
	tool.Evidence
	Unit string `json:"unit" jsonschema:"enum=north,enum=south"`
}

// renamed are the registry's tools, with another name in what a move answers and no new version.
func renamed(queued bool) func(*registry) []tool.Definition {
	return func(r *registry) []tool.Definition {
		was := r.movePatient()
		return []tool.Definition{r.getPatient(), tool.Write[moveIn, moveIn, renamedOut]{
			Spec: was.Spec, Class: was.Class, Preview: was.Preview, Current: was.Current, Queued: queued,
			Commit: func(ctx context.Context, cmd tool.Approved[moveIn]) (renamedOut, error) {
				out, err := was.Commit(ctx, cmd)
				return renamedOut{out.Evidence, out.Ward}, err
			},
		}}
	}
}

// refusedAlone holds a replay to so many refusals, and to no other difference.
func refusedAlone(t *testing.T, report *trace.Report, calls int) {
	t.Helper()
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, calls, report.Count(trace.OldVersion))
	require.Empty(t, report.Other)
}

// commitAgain asks with the commit what became of an operation that a worker ended.
func commitAgain(o *office) {
	p := o.agent.Call(o.t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
	require.NoError(o.t, p.Err())
	commit := call("commit_move_patient_v1", `{"proposal_id":"`+between(string(p.Data), `"proposal_id":"`)+`"}`)
	r := o.agent.Call(o.t.Context(), commit)
	require.Equal(o.t, envelope.InProgress, r.Error.Code)
	require.Equal(o.t, "succeeded", o.later(r.Error.OperationID))
	require.NoError(o.t, o.agent.Call(o.t.Context(), commit).Err())
}

// A call that is refused as old version says which member is not declared any more, and makes no difference of the
// operation that it was about.
func TestARenamedMemberIsNamed(t *testing.T) {
	t.Parallel()
	file := worked(t, trace.Config{}, queued(nil), nil, commitAgain).saved()
	report := again(t, file, renamed(true), nil)
	refusedAlone(t, report, 1)
	require.Equal(t, `commit_move_patient_v1: refused as old version: the answer is no longer of the contract: UNKNOWN_FIELD at "ward"`,
		report.Calls[3].String()[len("call-4 "):])
}

// An operation whose answer is refused before it is over is passed over, as it was and as it is.
func TestAnOperationThatIsPassedOverIsOnBothSides(t *testing.T) {
	t.Parallel()
	report := again(t, worked(t, trace.Config{}, func(r *registry) []tool.Definition {
		return []tool.Definition{r.getPatient(), r.movePatient()}
	}, nil, func(o *office) {
		o.registry.moves = func(int, moving) (moved, error) { return moved{Version: "2", At: epoch}, nil }
		p := o.agent.Call(o.t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
		commit := call("commit_move_patient_v1", `{"proposal_id":"`+between(string(p.Data), `"proposal_id":"`)+`"}`)
		require.NoError(o.t, o.agent.Call(o.t.Context(), commit).Err())
		require.NoError(o.t, o.agent.Call(o.t.Context(), commit).Err())
	}).saved(), renamed(false), nil)
	refusedAlone(t, report, 2)
}

type bedsIn struct {
	Wing string `json:"wing"`
}

type bedsByName struct {
	Beds map[string]int `json:"beds" redact:"personal"`
}

type bedsOfAll struct {
	Beds bedsTogether `json:"beds" redact:"personal"`
}

type bedsTogether struct {
	All int `json:"all"`
}

// beds answers how many beds there are.
func beds[Out any](out Out) func(*registry) []tool.Definition {
	return func(*registry) []tool.Definition {
		return []tool.Definition{tool.Tool[bedsIn, Out]{
			Spec:   tool.Spec{Name: "get_beds", Version: 1, Description: "Count beds.", Timeout: 5 * time.Second},
			Handle: func(context.Context, tool.Caller, bedsIn) (Out, error) { return out, nil },
		}}
	}
}

// What was the key of a map is a sender's word, and is not told.
func TestAKeyOfAMapIsNotNamed(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, beds(bedsByName{map[string]int{"brandvold": 3}}), "get_beds_v1")
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("get_beds_v1", `{"wing":"west"}`)).Err())
	_, report := replayed(t, savedBy(t, rec, run.ID()), trace.PlayerConfig{}, nil, beds(bedsOfAll{}), "get_beds_v1")
	refusedAlone(t, report, 1)
	require.Contains(t, report.Calls[0].Why, `UNKNOWN_FIELD at "beds"`)
}

func savedBy(t *testing.T, rec *trace.Recorder, run string) string {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run))
	return file.String()
}

// What a worker did for a call that is made in another form is held to its end, as the call is: its result has that form too.
func TestWorkOfAMigratedCallIsHeldToItsEnd(t *testing.T) {
	t.Parallel()
	file := worked(t, trace.Config{}, queued(nil), nil, func(o *office) {
		o.move("pat_4711")
		time.Sleep(time.Minute)
	}).saved()
	tr, err := trace.Load(strings.NewReader(file))
	require.NoError(t, err)
	as := func(name string) trace.Migration {
		return func(c envelope.Call) (envelope.Call, error) { c.Tool = name; return c, nil }
	}
	var h *house
	p := trace.NewPlayer(tr, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }, Migrate: map[string]trace.Migration{
		"preview_move_patient_v1": as("preview_move_patient_v2"), "commit_move_patient_v1": as("commit_move_patient_v2"),
	}})
	h = newHouse(t, func(c *tool.Config) error { unasked(c); return p.Wire(c) }, func(r *registry) []tool.Definition {
		w, ok := renamed(true)(r)[1].(tool.Write[moveIn, moveIn, renamedOut])
		require.True(t, ok)
		w.Spec.Version = 2
		return []tool.Definition{r.getPatient(), w}
	}, "preview_move_patient_v2", "commit_move_patient_v2")
	report, err := p.Play(t.Context(), h.dispatcher, h.run)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.Equal(t, 2, report.Count(trace.Migrated))
	require.Equal(t, "work-1 commit_move_patient_v1: migrated: as commit_move_patient_v2", report.Work[0].String())
}
