package trace_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// slow are the registry's tools, a preview of which takes its time.
func slow(h **house, takes time.Duration) func(*registry) []tool.Definition {
	return func(r *registry) []tool.Definition {
		w := r.movePatient()
		preview := w.Preview
		w.Preview = func(ctx context.Context, by tool.Caller, in moveIn) (tool.Draft[moveIn], error) {
			_, err := trace.Do(ctx, "registry.slow", in, func(context.Context) (moving, error) {
				(*h).clock.set((*h).clock.Now().Add(takes))
				return moving{}, nil
			})
			if err != nil {
				return tool.Draft[moveIn]{}, err
			}
			return preview(ctx, by, in)
		}
		return []tool.Definition{r.getPatient(), w}
	}
}

// slowly records a move whose preview takes its time, on a clock that goes on meanwhile.
func slowly(t *testing.T, takes time.Duration) string {
	t.Helper()
	var h *house
	rec := newRecorder(t, trace.Config{Now: func() time.Time { return h.clock.Now() }})
	h = newHouse(t, func(c *tool.Config) error { unasked(c); rec.Wire(c); return nil }, slow(&h, takes))
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	p := run.Call(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
	require.NoError(t, p.Err())
	require.NoError(t, run.Call(t.Context(), call("commit_move_patient_v1", `{"proposal_id":"`+between(string(p.Data), `"proposal_id":"`)+`"}`)).Err())
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	return file.String()
}

func TestARunOnAClockThatGoesOnReplays(t *testing.T) {
	t.Parallel()
	file := slowly(t, 99500*time.Microsecond)
	require.Contains(t, file, `"took_ms":199`, "twice as long, rounded up")
	report := again(t, file, slow(nil, 0), nil)
	require.NoError(t, report.Err())
	require.Equal(t, 2, report.Count(trace.Same))
}

// A recording of before says nothing of how long its calls took: times are compared as they are.
func TestARecordingWithoutDurationsIsExact(t *testing.T) {
	t.Parallel()
	file := strings.Replace(slowly(t, 100*time.Millisecond), `,"took_ms":200`, "", 1)
	require.NotContains(t, file, "took_ms")
	report := again(t, file, slow(nil, 0), nil)
	require.Equal(t, `the answer differs at "expires_at"`, report.Calls[0].Why)
	require.Equal(t, trace.Same, report.Calls[1].As, "what differs before an id does not hide the id")
}

type dueOut struct {
	Due  time.Time `json:"due"`
	Beds int       `json:"beds"`
}

type dueIn struct {
	Since time.Time `json:"since"`
}

// due has a time in its answer, and asks with one.
func due(h **house, takes time.Duration, out dueOut, since time.Time) func(*registry) []tool.Definition {
	return func(*registry) []tool.Definition {
		return []tool.Definition{tool.Tool[patientIn, dueOut]{
			Spec: tool.Spec{Name: "get_due", Version: 1, Description: "Read when a patient is due.", Timeout: 5 * time.Second},
			Handle: func(ctx context.Context, _ tool.Caller, _ patientIn) (dueOut, error) {
				return trace.Do(ctx, "registry.due", dueIn{since}, func(context.Context) (dueOut, error) {
					(*h).clock.set((*h).clock.Now().Add(takes))
					return out, nil
				})
			},
		}}
	}
}

// at changes what the tool answers.
func at(defs func(*registry) []tool.Definition, answers dueOut) func(*registry) []tool.Definition {
	return func(r *registry) []tool.Definition {
		got, ok := defs(r)[0].(tool.Tool[patientIn, dueOut])
		if !ok {
			return nil
		}
		handle := got.Handle
		got.Handle = func(ctx context.Context, by tool.Caller, in patientIn) (dueOut, error) {
			_, err := handle(ctx, by, in)
			return answers, err
		}
		return []tool.Definition{got}
	}
}

func TestTimesDifferByNoMoreThanACallTook(t *testing.T) {
	t.Parallel()
	const took = 40 * time.Millisecond
	for name, c := range map[string]struct {
		late, since time.Duration
		beds        int
		free        bool // the player has no At
		same        bool
	}{
		"as it was":               {same: true},
		"later by as much":        {late: took, same: true},
		"earlier by as much":      {late: -took, same: true},
		"later by more":           {late: took + 1},
		"earlier by more":         {late: -took - 1},
		"asked by as much":        {since: took, same: true},
		"asked by more":           {since: took + 1},
		"another number":          {beds: 1},
		"without At, by a day":    {free: true, late: 24 * time.Hour, since: time.Hour, same: true},
		"without At, beds differ": {free: true, beds: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var h *house
			rec := newRecorder(t, trace.Config{Now: func() time.Time { return h.clock.Now() }})
			h = newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, due(&h, took, dueOut{epoch, 3}, epoch), "get_due_v1")
			run, err := rec.Run(h.run)
			require.NoError(t, err)
			require.NoError(t, run.Call(t.Context(), call("get_due_v1", `{"patient_id":"pat_4711"}`)).Err())
			var file bytes.Buffer
			require.NoError(t, rec.Save(&file, run.ID()))

			tr, err := trace.Load(&file)
			require.NoError(t, err)
			cfg := trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }}
			if c.free {
				cfg.At = nil
			}
			p := trace.NewPlayer(tr, cfg)
			now := at(due(nil, 0, dueOut{}, epoch.Add(c.since)), dueOut{epoch.Add(c.late), 3 + c.beds})
			h = newHouse(t, p.Wire, now, "get_due_v1")
			report, err := p.Play(t.Context(), h.dispatcher, h.run)
			require.NoError(t, err)
			if c.same {
				require.NoError(t, report.Err())
				return
			}
			require.ErrorIs(t, report.Err(), trace.ErrDifferent)
		})
	}
}

// Of a worker's work the time is kept as of a call.
func TestHowLongWorkTookIsKept(t *testing.T) {
	t.Parallel()
	file := worked(t, trace.Config{}, queued(nil), nil, func(o *office) {
		o.registry.moves = func(int, moving) (moved, error) {
			time.Sleep(1500 * time.Millisecond)
			return moved{Version: "2", At: o.clock.Now()}, nil
		}
		require.Equal(t, "succeeded", o.later(o.move("pat_4711")))
	}).saved()
	work := lines(file, "work")
	require.Len(t, work, 1)
	var s struct {
		Took int64 `json:"took_ms"`
	}
	require.NoError(t, json.Unmarshal([]byte(work[0]), &s))
	require.EqualValues(t, 1500, s.Took)
	same(t, again(t, file, queued(nil), nil), 1)
}
