package trace_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// hanging is a registry that answers nobody in time: it gives up with the context, at once or a little later.
func hanging(after time.Duration, change func(get *tool.Tool[patientIn, patientOut], w *tool.Write[moveIn, moveIn, moveOut])) func(*registry) []tool.Definition {
	return func(r *registry) []tool.Definition {
		get, w := r.getPatient(), r.movePatient()
		get.Spec.Timeout, w.Spec.Timeout = 100*time.Millisecond, 100*time.Millisecond
		get.Handle = func(ctx context.Context, _ tool.Caller, in patientIn) (patientOut, error) {
			return trace.Do(ctx, "registry.slow", in, func(ctx context.Context) (patientOut, error) {
				<-ctx.Done()
				time.Sleep(after)
				return patientOut{}, ctx.Err()
			})
		}
		w.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			return trace.Do(ctx, "registry.slowmove", moving{cmd.ProviderKey, "x"}, func(ctx context.Context) (moveOut, error) {
				envelope.Sent(ctx)
				<-ctx.Done()
				time.Sleep(after)
				return moveOut{}, ctx.Err()
			})
		}
		if change != nil {
			change(&get, &w)
		}
		return []tool.Definition{get, w}
	}
}

// bubble records a story in a bubble, and plays it in another one.
func bubble(t *testing.T, defs func(*registry) []tool.Definition, story func(t *testing.T, h *house, run *trace.Run)) (file string, report *trace.Report, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rec := newRecorder(t, trace.Config{})
		h := newHouse(t, func(c *tool.Config) error { unasked(c); rec.Wire(c); return nil }, defs)
		run, err := rec.Run(h.run)
		require.NoError(t, err)
		story(t, h, run)
		var out bytes.Buffer
		require.NoError(t, rec.Save(&out, run.ID()))
		file = out.String()
		time.Sleep(2 * time.Hour) // who was left behind has ended
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		report = played(t, file, defs, nil)
		took = time.Since(began)
	})
	return file, report, took
}

func move(ctx context.Context, t *testing.T, run *trace.Run) envelope.Result {
	t.Helper()
	p := run.Call(context.WithoutCancel(ctx), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
	require.NoError(t, p.Err())
	return run.Call(ctx, call("commit_move_patient_v1", `{"proposal_id":"`+between(string(p.Data), `"proposal_id":"`)+`"}`))
}

func TestWhatIsAnsweredAtItsTimeOutReplays(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]time.Duration{"gives up at once": 0, "gives up later": 5 * time.Millisecond, "never seen": time.Hour} {
		file, report, took := bubble(t, hanging(after, nil), func(t *testing.T, _ *house, run *trace.Run) {
			t.Helper()
			require.Equal(t, envelope.DeadlineExceeded, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)).Error.Code)
			require.NotNil(t, move(t.Context(), t, run).Error)
			if after < time.Hour {
				time.Sleep(50 * time.Millisecond)
			}
		})
		require.NoError(t, report.Err(), name)
		require.Equal(t, 3, report.Count(trace.Same), name)
		require.Equal(t, 1, strings.Count(file, `"operation":"registry.slow"`), name)
		require.Equal(t, 1, strings.Count(file, `"operation":"registry.slowmove"`), name)
		require.Less(t, took, time.Second, name)
	}
}

func TestWhoseCallerGoesAwayReplays(t *testing.T) {
	t.Parallel()
	patient := call("get_patient_v1", `{"patient_id":"pat_4711"}`)
	for name, after := range map[string]time.Duration{"gives up at once": 0, "gives up later": 5 * time.Millisecond} {
		file, report, took := bubble(t, hanging(after, func(get *tool.Tool[patientIn, patientOut], w *tool.Write[moveIn, moveIn, moveOut]) {
			get.Spec.Timeout, w.Spec.Timeout = time.Minute, time.Minute
		}), func(t *testing.T, _ *house, run *trace.Run) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			require.Equal(t, envelope.DeadlineExceeded, run.Call(ctx, patient).Error.Code)
			ctx, cancel = context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			require.Equal(t, envelope.Cancelled, run.Call(ctx, patient).Error.Code)
			time.AfterFunc(50*time.Millisecond, func() { run.Cancel("") })
			require.Equal(t, envelope.Cancelled, run.Call(t.Context(), patient).Error.Code)
		})
		require.NoError(t, report.Err(), name)
		require.Equal(t, 3, report.Count(trace.Same), name)
		require.Equal(t, 3, strings.Count(file, `"left":`), name)
		require.Less(t, took, time.Second, "nobody waits for the tool's time: "+name)
	}
}

// A write goes on when its caller has gone, and what comes of it is made again.
func TestAWriteGoesOnWithoutItsCaller(t *testing.T) {
	t.Parallel()
	file, report, took := bubble(t, hanging(0, func(_ *tool.Tool[patientIn, patientOut], w *tool.Write[moveIn, moveIn, moveOut]) {
		w.Spec.Timeout = time.Minute
		w.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			for range 2 {
				_, err := trace.Do(ctx, "registry.look", moving{cmd.ProviderKey, "x"}, func(context.Context) (moved, error) {
					time.Sleep(time.Second)
					return moved{}, nil
				})
				if err != nil {
					return moveOut{}, err
				}
			}
			return moveOut{tool.Evidence{NewVersion: "2", CommittedAt: epoch}, cmd.Plan.Ward}, nil
		}
	}), func(t *testing.T, _ *house, run *trace.Run) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		r := move(ctx, t, run)
		require.Equal(t, envelope.InProgress, r.Error.Code)
		state := func() string {
			r := run.Call(t.Context(), call("get_operation_v1", `{"operation_id":"`+r.Error.OperationID+`"}`))
			require.NoError(t, r.Err())
			return between(string(r.Data), `"state":"`)
		}
		require.Equal(t, "running", state())
		time.Sleep(5 * time.Second)
		require.Equal(t, "succeeded", state())
	})
	require.Equal(t, 2, strings.Count(file, `"operation":"registry.look"`))
	require.NoError(t, report.Err())
	require.Equal(t, 4, report.Count(trace.Same))
	require.Less(t, took, time.Second)
}

// A worker's handler whose time is up.
func TestWorkThatEndsAtItsTimeOutReplays(t *testing.T) {
	t.Parallel()
	defs := hanging(5*time.Millisecond, func(_ *tool.Tool[patientIn, patientOut], w *tool.Write[moveIn, moveIn, moveOut]) { w.Queued = true })
	file := worked(t, trace.Config{}, defs, nil, func(o *office) { o.later(o.move("pat_4711")) }).saved()
	require.Contains(t, strings.Join(lines(file, "work"), ""), `"late":true`)
	report := again(t, file, defs, nil)
	require.NoError(t, report.Err())
	require.NotEmpty(t, report.Work)
}

// An ask that panics has failed.
func TestAPanicInAnAskIsAnExchange(t *testing.T) {
	t.Parallel()
	defs := hanging(0, func(get *tool.Tool[patientIn, patientOut], _ *tool.Write[moveIn, moveIn, moveOut]) {
		get.Handle = func(ctx context.Context, _ tool.Caller, in patientIn) (patientOut, error) {
			return trace.Do(ctx, "registry.find", in, func(context.Context) (patientOut, error) { panic("no registry") })
		}
	})
	file, report, _ := bubble(t, defs, func(t *testing.T, _ *house, run *trace.Run) {
		t.Helper()
		require.Equal(t, envelope.Internal, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)).Error.Code)
	})
	require.Equal(t, 1, strings.Count(file, `"registry.find"`))
	require.NoError(t, report.Err())
}

// What a call left behind ends whenever it likes, beside Save too.
func TestWhatIsLeftBehindEndsBesideSave(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	defs := hanging(0, func(get *tool.Tool[patientIn, patientOut], _ *tool.Write[moveIn, moveIn, moveOut]) {
		get.Spec.Timeout = time.Minute
		get.Handle = func(ctx context.Context, _ tool.Caller, in patientIn) (patientOut, error) {
			begun := make(chan struct{})
			for range 8 {
				go func() {
					_, _ = trace.Do(ctx, "registry.tell", in, func(context.Context) (moved, error) {
						begun <- struct{}{}
						<-goOn
						return moved{}, errors.New("gone")
					})
				}()
				<-begun
			}
			return patientOut{in.PatientID, "Ottilie Brandvold", "1948-05-17", "north", 3}, nil
		}
	})
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, defs)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)).Err())
	close(goOn)
	for range 20 {
		var file bytes.Buffer
		require.NoError(t, rec.Save(&file, run.ID()))
		_, err := trace.Load(&file)
		require.NoError(t, err)
	}
}
