package trace_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// queued are the registry's tools, its moves queued.
func queued(change func(r *registry, w *tool.Write[moveIn, moveIn, moveOut])) func(*registry) []tool.Definition {
	return func(r *registry) []tool.Definition {
		w := r.movePatient()
		w.Queued = true
		if change != nil {
			change(r, &w)
		}
		return []tool.Definition{r.getPatient(), w}
	}
}

// answering has the registry asked what became of a move.
func answering(r *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
	w.Contract, w.RunFor = idem.StatusQueryable, time.Hour
	w.Status = func(ctx context.Context, cmd tool.Approved[moveIn], _ string) (moveOut, error) {
		m, err := trace.Do(ctx, "registry.status", moving{cmd.ProviderKey, cmd.Plan.Ward}, func(context.Context) (moved, error) {
			if r.note("status") == 1 {
				return moved{}, errors.New("registry: not now")
			}
			return moved{Version: "2", At: epoch}, nil
		})
		return moveOut{tool.Evidence{NewVersion: m.Version, CommittedAt: m.At}, cmd.Plan.Ward}, err
	}
}

// office is a house with a recorded run, in a bubble.
type office struct {
	*house
	t     *testing.T
	rec   *trace.Recorder
	agent *trace.Run
}

func unasked(c *tool.Config) {
	c.Policy = approval.Everything(approval.Requirement{Level: approval.None})
}

// worked records a story that a worker takes part in.
func worked(t *testing.T, cfg trace.Config, defs func(*registry) []tool.Definition, wire func(*tool.Config), story func(o *office)) *office {
	t.Helper()
	o := &office{}
	synctest.Test(t, func(t *testing.T) {
		o.t = t
		cfg.Now = func() time.Time { return o.clock.Now() }
		var err error
		o.rec, err = trace.NewRecorder(cfg)
		require.NoError(t, err)
		o.house = newHouse(t, func(c *tool.Config) error {
			unasked(c)
			o.rec.Wire(c)
			if wire != nil {
				wire(c)
			}
			return nil
		}, defs)
		o.clock.start()
		o.agent, err = o.rec.Run(o.run)
		require.NoError(t, err)
		worker, err := tool.NewWorker(o.dispatcher, tool.WorkerConfig{Sweep: time.Hour})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- worker.Run(ctx) }()
		story(o)
		stop()
		require.NoError(t, <-done)
	})
	return o
}

// move queues a move and returns its operation.
func (o *office) move(patient string) string {
	o.t.Helper()
	p := o.agent.Call(o.t.Context(), call("preview_move_patient_v1", `{"patient_id":"`+patient+`","ward":"south"}`))
	require.NoError(o.t, p.Err())
	r := o.agent.Call(o.t.Context(), call("commit_move_patient_v1", `{"proposal_id":"`+between(string(p.Data), `"proposal_id":"`)+`"}`))
	require.Equal(o.t, envelope.InProgress, r.Error.Code)
	return r.Error.OperationID
}

// later lets the worker do what there is to do, and asks what became of an operation.
func (o *office) later(operation string) string {
	o.t.Helper()
	time.Sleep(5 * time.Minute)
	synctest.Wait()
	return o.state(operation)
}

func (o *office) state(operation string) string {
	o.t.Helper()
	r := o.agent.Call(o.t.Context(), call("get_operation_v1", `{"operation_id":"`+operation+`"}`))
	require.NoError(o.t, r.Err())
	return between(string(r.Data), `"state":"`)
}

func (o *office) saved() string {
	o.t.Helper()
	var file bytes.Buffer
	require.NoError(o.t, o.rec.Save(&file, o.run.ID()))
	return file.String()
}

// again replays what was saved.
func again(t *testing.T, file string, defs func(*registry) []tool.Definition, change func(*house)) (report *trace.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { // no time-out comes for a machine's sake
		report = played(t, file, defs, change)
	})
	return report
}

func played(t *testing.T, file string, defs func(*registry) []tool.Definition, change func(*house)) *trace.Report {
	t.Helper()
	tr, err := trace.Load(strings.NewReader(file))
	require.NoError(t, err)
	var h *house
	p := trace.NewPlayer(tr, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }})
	h = newHouse(t, func(c *tool.Config) error { unasked(c); return p.Wire(c) }, defs)
	if change != nil {
		change(h)
	}
	report, err := p.Play(t.Context(), h.dispatcher, h.run)
	require.NoError(t, err)
	require.Len(t, report.Calls, tr.Calls())
	require.Zero(t, h.registry.total(), "nothing live is asked")
	return report
}

// same holds a replay to the same answers and to so many works.
func same(t *testing.T, report *trace.Report, works int) {
	t.Helper()
	require.NoError(t, report.Err())
	require.Len(t, report.Work, works)
	require.Equal(t, len(report.Calls), report.Count(trace.Same))
	require.Empty(t, report.NotReplayed)
}

// plainMove is a run with one queued move.
func plainMove(t *testing.T, cfg trace.Config, defs func(*registry) []tool.Definition, prepare func(*registry)) *office {
	t.Helper()
	return worked(t, cfg, defs, nil, func(o *office) {
		if prepare != nil {
			prepare(o.registry)
		}
		require.Equal(t, "succeeded", o.later(o.move("pat_4711")))
	})
}

// lines are the steps of a kind.
func lines(file, kind string) (out []string) {
	for line := range strings.Lines(file) {
		if strings.HasPrefix(line, `{"step":"`+kind+`"`) {
			out = append(out, line)
		}
	}
	return out
}

// without leaves lines out of a file.
func without(file string, lines ...string) string {
	for _, line := range lines {
		file = strings.Replace(file, line, "", 1)
	}
	return counted(file)
}

// counted has a file's end say how many lines there are.
func counted(file string) string {
	return file[:strings.LastIndex(file, `{"step":"end"`)] + `{"step":"end","steps":` + strconv.Itoa(strings.Count(file, "\n")-2) + "}\n"
}
