package trace_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

func TestWhatAWorkerDoesIsMadeAgain(t *testing.T) {
	t.Parallel()
	defs := queued(nil)
	file := plainMove(t, trace.Config{}, defs, nil).saved()
	work := lines(file, "work")
	require.Len(t, work, 1)
	for _, part := range []string{`"case":"work-1","tool":"commit_move_patient_v1"`, `"operation":"op_`, "registry.find", "registry.move", `"found":"pending","state":"succeeded"`} {
		require.Contains(t, work[0], part)
	}
	kinds := ""
	for line := range strings.Lines(file) {
		kinds += between(line, `"step":"`) + " "
	}
	require.Equal(t, "trace call call work outcome call end ", kinds, "in the order in which it happened")

	report := again(t, file, defs, nil)
	same(t, report, 1)
	require.Equal(t, "work-1 commit_move_patient_v1: same", report.Work[0].String())
}

// Whatever a worker needs several looks for is made again look by look.
func TestSeveralWorksAreMadeAgain(t *testing.T) {
	t.Parallel()
	first := func(err error) func(*registry) {
		return func(r *registry) {
			r.moves = func(n int, _ moving) (moved, error) {
				if n == 1 {
					return moved{}, err
				}
				return moved{Version: "2", At: epoch}, nil
			}
		}
	}
	sent := func(r *registry) { first(errors.New("EOF"))(r) }
	unsent := func(r *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
		w.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			m, err := trace.Do(ctx, "registry.move", moving{cmd.ProviderKey, cmd.Plan.Ward}, func(context.Context) (moved, error) {
				return r.moves(r.note("move"), moving{})
			})
			return moveOut{tool.Evidence{NewVersion: m.Version, CommittedAt: m.At}, cmd.Plan.Ward}, err
		}
	}
	for name, row := range map[string]struct {
		write  func(*registry, *tool.Write[moveIn, moveIn, moveOut])
		moves  func(*registry)
		states []string
	}{
		"unknown, then asked for": {answering, sent, []string{"pending unknown", "unknown unknown", "unknown succeeded"}},
		"unknown, then sent again": {func(_ *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
			w.Contract, w.DedupFor = idem.ReplaySafe, time.Hour
		}, sent, []string{"pending unknown", "unknown succeeded"}},
		"rate limited, then not":       {unsent, first(envelope.NotSent(envelope.New(envelope.RateLimited).After(time.Second))), []string{"pending pending", "pending succeeded"}},
		"running, then asked for":      {answering, first(envelope.Running("receipt 7")), []string{"pending running", "running running", "running succeeded"}},
		"no answer about the target":   {func(r *registry, w *tool.Write[moveIn, moveIn, moveOut]) { w.Current = r.shaky() }, nil, []string{"pending pending", "pending succeeded"}},
		"refused because of a version": {func(r *registry, w *tool.Write[moveIn, moveIn, moveOut]) { w.Current = r.elsewhere() }, nil, []string{"pending denied with VERSION_CONFLICT"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defs := queued(row.write)
			file := worked(t, trace.Config{}, defs, nil, func(o *office) {
				if row.moves != nil {
					row.moves(o.registry)
				}
				o.later(o.move("pat_4711"))
			}).saved()
			var states []string
			for _, line := range lines(file, "work") {
				state := between(line, `"found":"`) + " " + between(line, `"state":"`)
				if code := between(line, `"code":"`); strings.Contains(state, "denied") {
					state += " with " + code
				}
				states = append(states, state)
			}
			require.Equal(t, row.states, states)
			require.NotContains(t, file, "receipt 7")
			report := again(t, file, defs, nil)
			same(t, report, len(row.states))
		})
	}
}

// shaky says where a patient is, but not the second time, when the worker asks.
func (r *registry) shaky() func(context.Context, tool.Caller, approval.Target) (string, error) {
	return func(ctx context.Context, _ tool.Caller, target approval.Target) (string, error) {
		p, err := trace.Do(ctx, "registry.ward", patientIn{PatientID: target.ID}, func(context.Context) (moving, error) {
			if r.note("ward") == 2 {
				return moving{}, envelope.New(envelope.UpstreamUnavailable)
			}
			return moving{Ward: "north"}, nil
		})
		return p.Ward, err
	}
}

// elsewhere says that the patient has been moved, once the worker asks.
func (r *registry) elsewhere() func(context.Context, tool.Caller, approval.Target) (string, error) {
	return func(ctx context.Context, _ tool.Caller, target approval.Target) (string, error) {
		p, err := trace.Do(ctx, "registry.ward", patientIn{PatientID: target.ID}, func(context.Context) (moving, error) {
			if r.note("ward") == 2 {
				return moving{Ward: "south"}, nil
			}
			return moving{Ward: "north"}, nil
		})
		return p.Ward, err
	}
}

// An exchange of a worker more, or one less, is a difference, and so is another end.
func TestAWorkersExchangesAreCompared(t *testing.T) {
	t.Parallel()
	defs := queued(nil)
	file := plainMove(t, trace.Config{}, defs, func(r *registry) { r.looks = 1 }).saved()
	report := again(t, file, defs, func(h *house) { h.registry.looks = 1 })
	same(t, report, 1)

	report = again(t, file, defs, func(h *house) { h.registry.looks = 2 })
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, []string{"registry.find"}, report.Work[0].Extra)

	report = again(t, file, defs, nil)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, trace.Different, report.Work[0].As)
	require.Equal(t, []string{"registry.find"}, report.Work[0].Missing)
	require.Empty(t, report.Work[0].Why, "it ends as it did")

	refused := queued(func(_ *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
		commit := w.Commit
		w.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			if _, err := commit(ctx, cmd); err != nil {
				return moveOut{}, err
			}
			return moveOut{}, envelope.Refused(envelope.New(envelope.PreconditionFailed))
		}
	})
	report = again(t, file, refused, func(h *house) { h.registry.looks = 1 })
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, "succeeded when it was recorded, failed with PRECONDITION_FAILED now", report.Work[0].Why)
}

func TestACanaryInAWorkersExchangeRefusesTheTrace(t *testing.T) {
	t.Parallel()
	o := plainMove(t, trace.Config{Canaries: []redact.Canary{canary(t, "keep her daughter out")}}, queued(nil), func(r *registry) {
		r.moves = func(int, moving) (moved, error) {
			return moved{Version: "2", At: epoch, Remark: "keep her daughter out"}, nil
		}
	})
	var file bytes.Buffer
	err := o.rec.Save(&file, o.run.ID())
	require.ErrorIs(t, err, trace.ErrCanary)
	require.Zero(t, file.Len())
}

func TestAWorkersExchangesAreRedacted(t *testing.T) {
	t.Parallel()
	defs := queued(nil)
	file := plainMove(t, trace.Config{}, defs, func(r *registry) {
		r.moves = func(int, moving) (moved, error) { return moved{Version: "2", At: epoch, Porter: "por_8351"}, nil }
	}).saved()
	require.NotContains(t, file, "por_8351")
	require.NotContains(t, file, "8351")
	require.Regexp(t, `"porter":"por_[0-9]{4}"`, lines(file, "work")[0], "what stands there passes the schema")
	require.Contains(t, lines(file, "work")[0], `"answer_hidden":["porter"]`)
	report := again(t, file, defs, nil)
	same(t, report, 1)
}

// What nothing can stand for is told with the work's number.
func TestWhatNothingCanStandForInAWork(t *testing.T) {
	t.Parallel()
	o := plainMove(t, trace.Config{}, queued(nil), func(r *registry) {
		r.moves = func(int, moving) (moved, error) { return moved{Version: "2", At: epoch, Porter: "nobody"}, nil }
	})
	err := o.rec.Save(&bytes.Buffer{}, o.run.ID())
	require.ErrorIs(t, err, trace.ErrStandIn)
	require.ErrorContains(t, err, "in work-1 of commit_move_patient_v1: registry.move")
}

// An operation that rests on a call of an old version is passed over, and so is what a worker did for it.
func TestWorkOfAnOldVersionIsPassedOver(t *testing.T) {
	t.Parallel()
	file := plainMove(t, trace.Config{}, queued(nil), nil).saved()
	report := again(t, file, func(r *registry) []tool.Definition {
		w := r.movePatient9()
		w.Queued = true
		return []tool.Definition{r.getPatient(), w}
	}, nil)
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, 3, report.Count(trace.OldVersion))
	require.Empty(t, report.Work)
	require.Empty(t, report.NotReplayed)
}

// Two operations are worked at once; each has its own exchanges.
func TestTwoOperationsAtOnce(t *testing.T) {
	t.Parallel()
	defs := queued(nil)
	file := worked(t, trace.Config{}, defs, nil, func(o *office) {
		var both sync.WaitGroup
		both.Add(2)
		o.registry.looks = 1
		o.registry.moves = func(int, moving) (moved, error) {
			both.Done()
			both.Wait() // each is in the middle of its work
			return moved{Version: "2", At: epoch}, nil
		}
		one, two := o.move("pat_4711"), o.move("pat_4713")
		require.Equal(t, "succeeded", o.later(one))
		require.Equal(t, "succeeded", o.later(two))
	}).saved()
	work := lines(file, "work")
	require.Len(t, work, 2)
	for _, line := range work {
		require.NotEqual(t, strings.Contains(line, "pat_4711"), strings.Contains(line, "pat_4713"), line)
	}
	report := again(t, file, defs, func(h *house) { h.registry.looks = 1 })
	same(t, report, 2)
}

// Whoever asks while a worker is in the middle of its work is told what there was to see then.
func TestCallsBesideWorkSeeWhatTheySaw(t *testing.T) {
	t.Parallel()
	defs := queued(func(r *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
		w.Current = func(ctx context.Context, _ tool.Caller, target approval.Target) (string, error) {
			p, err := trace.Do(ctx, "registry.ward", patientIn{PatientID: target.ID}, func(context.Context) (moving, error) {
				if r.note("ward") == 2 { // the worker's
					time.Sleep(2 * time.Second)
				}
				return moving{Ward: "north"}, nil
			})
			return p.Ward, err
		}
	})
	var states []string
	file := worked(t, trace.Config{}, defs, nil, func(o *office) {
		o.registry.moves = func(int, moving) (moved, error) {
			time.Sleep(2 * time.Second)
			return moved{Version: "2", At: epoch}, nil
		}
		op := o.move("pat_4711")
		for range 5 {
			time.Sleep(900 * time.Millisecond)
			states = append(states, o.state(op))
		}
	}).saved()
	require.Equal(t, []string{"queued", "queued", "running", "running", "succeeded"}, states)
	require.Contains(t, file, `"after":2`)
	require.Contains(t, file, `"until":4`)
	report := again(t, file, defs, nil)
	same(t, report, 1)

	none := strings.NewReplacer(`,"after":2`, "", `,"after":4`, "", `,"until":4`, "").Replace(file)
	require.Equal(t, 1, again(t, none, defs, nil).Count(trace.Same)-2, "of those that asked, the last alone")
}

// A file that speaks of more steps than there are is none.
func TestWorkCountsItsSteps(t *testing.T) {
	t.Parallel()
	file := plainMove(t, trace.Config{}, queued(nil), nil).saved()
	with := func(until, after string) error {
		text := strings.Replace(file, `"found":"pending"`, `"found":"pending","until":`+until, 1)
		text = strings.Replace(text, `"sent":true}`, `"sent":true,"after":`+after+`}`, 1)
		_, err := trace.Load(strings.NewReader(text))
		return err
	}
	require.NoError(t, with("2", "2"))
	for _, row := range [][2]string{{"3", "0"}, {"9223372036854775807", "0"}, {"-1", "0"}, {"2", "3"}, {"2", "-1"}} {
		require.ErrorIs(t, with(row[0], row[1]), trace.ErrTrace, row)
	}
	_, err := trace.Load(strings.NewReader(strings.Replace(file, `"found":"pending",`, "", 1)))
	require.ErrorIs(t, err, trace.ErrTrace)
}

// A call that was not over when the worker was answered is not waited for: it may have waited for the worker.
func TestWorkDoesNotWaitForCallsThatWaitedForIt(t *testing.T) {
	t.Parallel()
	with := func(r *registry) []tool.Definition {
		one := make(chan struct{}, 1) // handler at a time
		get, move := r.getPatient(), r.movePatient()
		find, commit := get.Handle, move.Commit
		get.Handle = func(ctx context.Context, by tool.Caller, in patientIn) (patientOut, error) {
			one <- struct{}{}
			defer func() { <-one }()
			return find(ctx, by, in)
		}
		move.Queued = true
		move.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			one <- struct{}{}
			defer func() { <-one }()
			return commit(ctx, cmd)
		}
		return []tool.Definition{get, move}
	}
	file := worked(t, trace.Config{}, with, nil, func(o *office) {
		asked, answered := make(chan struct{}), make(chan struct{})
		o.registry.moves = func(int, moving) (moved, error) {
			close(asked)
			<-answered
			return moved{Version: "2", At: epoch}, nil
		}
		op := o.move("pat_4711")
		<-asked
		done := make(chan envelope.Result)
		go func() { done <- o.agent.Call(o.t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)) }()
		synctest.Wait() // it waits for the worker's handler
		close(answered)
		require.NoError(o.t, (<-done).Err())
		require.Equal(o.t, "succeeded", o.later(op))
	}).saved()
	same(t, again(t, file, with, nil), 1)
}

// What a worker of another process did is not recorded. Nor is what followed made again then: the operation waits.
func TestWorkOfOthersIsNotReplayed(t *testing.T) {
	t.Parallel()
	defs := queued(answering)
	file := worked(t, trace.Config{}, defs, nil, func(o *office) {
		o.registry.moves = func(int, moving) (moved, error) { return moved{}, errors.New("EOF") }
		o.move("pat_4711")
		time.Sleep(5 * time.Minute)
	}).saved()
	work, outcomes := lines(file, "work"), lines(file, "outcome")
	require.Len(t, work, 3)
	for name, text := range map[string]string{
		"all of it":             without(file, append(work, outcomes...)...),
		"an old trace":          without(file, work...),
		"all but the last":      without(file, append(work[:2:2], outcomes[:2]...)...),
		"the first that it was": without(file, work[0], outcomes[0]),
	} {
		report := again(t, text, defs, nil)
		require.NoError(t, report.Err(), name)
		require.Empty(t, report.Work, name)
		if name != "all of it" {
			require.Equal(t, []string{"commit_move_patient_v1"}, report.NotReplayed, name)
		}
	}
}

// refusing is a ledger in which somebody else has the claim first.
type refusing struct {
	idem.Ledger
	mu   sync.Mutex
	once bool
}

func (l *refusing) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	l.mu.Lock()
	first := !l.once
	l.once = true
	l.mu.Unlock()
	if first {
		return idem.Claim{}, idem.ErrBusy
	}
	return l.Ledger.Claim(ctx, k, worker, lease)
}

func TestWorkThatAnotherHasIsNotKept(t *testing.T) {
	t.Parallel()
	defs := queued(nil)
	file := worked(t, trace.Config{}, defs, func(c *tool.Config) { c.Ledger = &refusing{Ledger: c.Ledger} }, func(o *office) {
		require.Equal(t, "succeeded", o.later(o.move("pat_4711")))
	}).saved()
	require.Len(t, lines(file, "work"), 1)
	report := again(t, file, defs, nil)
	same(t, report, 1)
}

// seen is a ledger that tells at once what is stored.
type seen struct {
	idem.Ledger
	tell func()
}

func (l *seen) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	rec, err := l.Ledger.Finish(ctx, c, o)
	l.tell()
	return rec, err
}

// Whoever sees that an operation ended can save what ended it.
func TestWhatEndedCanBeSaved(t *testing.T) {
	t.Parallel()
	var o *office
	var file string
	o = worked(t, trace.Config{}, queued(nil), func(c *tool.Config) {
		c.Ledger = &seen{c.Ledger, func() { file = o.saved() }}
	}, func(started *office) {
		o = started
		o.later(o.move("pat_4711"))
	})
	require.Contains(t, file, `"found":"pending","state":"succeeded"`)
	require.Equal(t, lines(o.saved(), "work"), lines(file, "work"))
}

// late is a ledger that does not take the first outcome at once.
type late struct {
	idem.Ledger
	mu   sync.Mutex
	once bool
}

func (l *late) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	l.mu.Lock()
	first := !l.once
	l.once = true
	l.mu.Unlock()
	if first {
		return idem.Record{}, errors.New("ledger: not now")
	}
	return l.Ledger.Finish(ctx, c, o)
}

// What is stored late is what the work came to.
func TestWorkIsWhatWasStoredInTheEnd(t *testing.T) {
	t.Parallel()
	defs := queued(nil)
	file := worked(t, trace.Config{}, defs, func(c *tool.Config) { c.Ledger = &late{Ledger: c.Ledger} }, func(o *office) {
		require.Equal(t, "succeeded", o.later(o.move("pat_4711")))
	}).saved()
	same(t, again(t, file, defs, nil), 1)
}

// A run of the same id is another tenant's own: what is done for it is not of this trace.
func TestWorkForAnotherTenantIsNotHeard(t *testing.T) {
	t.Parallel()
	file := worked(t, trace.Config{}, queued(nil), nil, func(o *office) {
		by := agent()
		by.Tenant = "surgery"
		run, err := o.dispatcher.Start(tool.RunConfig{
			ID: o.run.ID(), Principal: by, Role: o.run.Role(), Budget: tool.Budget{Calls: 9}, Deadline: epoch.Add(time.Hour),
		})
		require.NoError(o.t, err)
		p := run.Call(o.t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4713","ward":"south"}`))
		require.NoError(o.t, p.Err())
		run.Call(o.t.Context(), call("commit_move_patient_v1", `{"proposal_id":"`+between(string(p.Data), `"proposal_id":"`)+`"}`))
		o.later(o.move("pat_4711"))
		require.Equal(o.t, 2, o.registry.asked["move"])
	}).saved()
	require.Len(t, lines(file, "work"), 1)
	require.NotContains(t, file, "pat_4713")
}

// A replay that the host's clock does not follow says so.
func TestWorkThatIsNotDueIsADifference(t *testing.T) {
	t.Parallel()
	defs := queued(func(r *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
		w.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			m, err := trace.Do(ctx, "registry.move", moving{cmd.ProviderKey, cmd.Plan.Ward}, func(context.Context) (moved, error) {
				if r.note("move") == 1 {
					return moved{}, envelope.NotSent(errors.New("dial"))
				}
				return moved{Version: "2", At: epoch}, nil
			})
			return moveOut{tool.Evidence{NewVersion: m.Version, CommittedAt: m.At}, cmd.Plan.Ward}, err
		}
	})
	file := plainMove(t, trace.Config{}, defs, nil).saved()
	tr, err := trace.Load(strings.NewReader(file))
	require.NoError(t, err)
	p := trace.NewPlayer(tr, trace.PlayerConfig{})
	h := newHouse(t, func(c *tool.Config) error { unasked(c); return p.Wire(c) }, defs)
	report, err := p.Play(t.Context(), h.dispatcher, h.run)
	require.NoError(t, err)
	require.Equal(t, trace.Same, report.Work[0].As)
	require.Equal(t, "work-2 commit_move_patient_v1: different: the host's clock does not let the operation go on yet", report.Work[1].String())
}

// A replayed operation that was called off meanwhile is not worked.
func TestWorkOfWhatIsOverIsADifference(t *testing.T) {
	t.Parallel()
	defs := queued(nil)
	file := plainMove(t, trace.Config{}, defs, nil).saved()
	work := lines(file, "work")[0]
	file = strings.Replace(file, work, `{"step":"cancel","at":"2026-08-14T16:25:00Z"}`+"\n"+work, 1)
	report := again(t, counted(file), defs, nil)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, "the operation was pending when it was recorded, and is cancelled now", report.Work[0].Why)
}

// another stores another result than the registry's move came to.
func another(change func(*moveOut)) func(*registry) []tool.Definition {
	return queued(func(_ *registry, w *tool.Write[moveIn, moveIn, moveOut]) {
		commit := w.Commit
		w.Commit = func(ctx context.Context, cmd tool.Approved[moveIn]) (moveOut, error) {
			out, err := commit(ctx, cmd)
			change(&out)
			return out, err
		}
	})
}

// What a worker stored is compared too, though nobody asked for it.
func TestAnotherResultOfAWorkerIsADifference(t *testing.T) {
	t.Parallel()
	file := worked(t, trace.Config{}, queued(nil), nil, func(o *office) {
		o.move("pat_4711")
		time.Sleep(5 * time.Minute)
	}).saved()
	same(t, again(t, file, queued(nil), nil), 1)
	for name, change := range map[string]func(*moveOut){
		"ward":        func(out *moveOut) { out.Ward = "north" },
		"new_version": func(out *moveOut) { out.NewVersion = "99" },
	} {
		report := again(t, file, another(change), nil)
		require.ErrorIs(t, report.Err(), trace.ErrDifferent)
		require.Equal(t, `work-1 commit_move_patient_v1: different: the result differs at "`+name+`"`, report.Work[0].String())
	}
}

// Files of before have no result, and are held to the state alone.
func TestAResultThatWasNotKeptIsNotCompared(t *testing.T) {
	t.Parallel()
	file := worked(t, trace.Config{}, queued(nil), nil, func(o *office) {
		o.move("pat_4711")
		time.Sleep(5 * time.Minute)
	}).saved()
	work := lines(file, "work")[0]
	_, rest, ok := strings.Cut(work, `,"answer":`)
	require.True(t, ok)
	old := strings.Replace(work, `,"answer":`+rest[:strings.Index(rest, `}`)+1], "", 1)
	require.NotContains(t, old, "new_version")
	same(t, again(t, strings.Replace(file, work, old, 1), another(func(out *moveOut) { out.NewVersion = "99" }), nil), 1)
}

type carriedOut struct {
	tool.Evidence
	Porter string `json:"porter" jsonschema:"pattern=^por_[0-9]{4}$" redact:"personal"`
}

// A stored result is redacted as an answer is, and its hidden places are held to their kind.
func TestAWorkersResultIsRedacted(t *testing.T) {
	t.Parallel()
	carried := func(porter string) func(*registry) []tool.Definition {
		return func(r *registry) []tool.Definition {
			was := r.movePatient()
			return []tool.Definition{r.getPatient(), tool.Write[moveIn, moveIn, carriedOut]{
				Spec: was.Spec, Class: was.Class, Preview: was.Preview, Current: was.Current, Queued: true,
				Commit: func(ctx context.Context, cmd tool.Approved[moveIn]) (carriedOut, error) {
					out, err := was.Commit(ctx, cmd)
					return carriedOut{out.Evidence, porter}, err
				},
			}}
		}
	}
	file := worked(t, trace.Config{}, carried("por_8351"), nil, func(o *office) {
		o.move("pat_4711")
		time.Sleep(5 * time.Minute)
	}).saved()
	require.NotContains(t, file, "8351")
	require.Regexp(t, `"porter":"por_[0-9]{4}"`, lines(file, "work")[0])
	require.Contains(t, lines(file, "work")[0], `"hidden":["porter"]`)
	same(t, again(t, file, carried("por_1234"), nil), 1)
}

// A result that is not of the present contract is refused as of an old version.
func TestAResultOfAnOldVersionIsRefused(t *testing.T) {
	t.Parallel()
	file := worked(t, trace.Config{}, queued(nil), nil, func(o *office) {
		o.move("pat_4711")
		time.Sleep(5 * time.Minute)
	}).saved()
	report := again(t, file, renamed(true), nil)
	refusedAlone(t, report, 0)
	require.Equal(t, `work-1 commit_move_patient_v1: refused as old version: the result is no longer of the contract: UNKNOWN_FIELD at "ward"`,
		report.Work[0].String())
}
