package trace_test

import (
	"bytes"
	"context"
	"encoding/json/v2"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

func TestARunReplaysWithoutTheOtherSystem(t *testing.T) {
	t.Parallel()
	h, report := replayed(t, recorded(t, trace.Config{}), trace.PlayerConfig{}, nil, nil)
	require.NoError(t, report.Err())
	require.Equal(t, len(report.Calls), report.Count(trace.Same), report.Calls)
	require.Zero(t, h.registry.total(), "nothing live is asked")
}

func TestWhatIsSavedIsRedacted(t *testing.T) {
	t.Parallel()
	file := recorded(t, trace.Config{})
	for _, secret := range []string{"Ottilie Brandvold", "1948-05-17", "her daughter asked", "Sunniva", `"visits":12`} {
		require.NotContains(t, file, secret)
	}
	require.Contains(t, file, "pat_4711", "what no class hides stays, so the search can find")
	require.Contains(t, file, "is on her way to the south ward", "of a note only what is hidden elsewhere goes")
	require.Contains(t, file, "registry.find")
}

// What no class names goes with the canaries: the trace is not saved at all.
func TestACanaryStillInsideRefusesTheTrace(t *testing.T) {
	t.Parallel()
	for name, planted := range map[string]string{
		"whole": "the south ward", "a piece": "the southern ward", "absent": "nowhere to be found",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec, run := recording(t, trace.Config{Canaries: []redact.Canary{canary(t, planted)}})
			var out bytes.Buffer
			err := rec.Save(&out, run)
			if name == "absent" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, trace.ErrCanary)
			require.NotContains(t, err.Error(), "south")
			require.Zero(t, out.Len(), "nothing is written")
		})
	}
}

func TestTheSameKeyMakesTheSameStandIns(t *testing.T) {
	t.Parallel()
	key := bytes.Repeat([]byte{7}, 32)
	name := func(file string) string { return between(file, `"patient_id":"pat_4711","name":"`) }
	a, b := recorded(t, trace.Config{Key: key}), recorded(t, trace.Config{Key: key})
	require.Equal(t, name(a), name(b))
	require.Len(t, []rune(name(a)), len("Ottilie Brandvold"))
	require.NotEqual(t, name(a), name(recorded(t, trace.Config{})), "another key, other stand-ins")
	_, err := trace.NewRecorder(trace.Config{Key: []byte("short")})
	require.Error(t, err)
}

// An exchange more, or one less, is a difference.
func TestExchangesAreCompared(t *testing.T) {
	t.Parallel()
	file := recorded(t, trace.Config{})
	h, report := replayed(t, file, trace.PlayerConfig{}, func(h *house) { h.registry.ask = 2 }, nil)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, []string{"registry.find"}, report.Calls[0].Extra)
	require.Zero(t, h.registry.total(), "nor is it asked then")

	_, report = replayed(t, file, trace.PlayerConfig{}, func(h *house) { h.registry.ask = 0 }, nil)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, []string{"registry.find"}, report.Calls[0].Missing)
	require.Equal(t, trace.Different, report.Calls[0].As)
}

// The same operation asked for something else is another exchange.
func TestAnotherQuestionIsAnotherExchange(t *testing.T) {
	t.Parallel()
	file := strings.ReplaceAll(recorded(t, trace.Config{}), `"asked":{"patient_id":"pat_4711"}`, `"asked":{"patient_id":"pat_4712"}`)
	_, report := replayed(t, file, trace.PlayerConfig{}, nil, nil)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, []string{"registry.find"}, report.Calls[0].Missing)
	require.Equal(t, []string{"registry.find"}, report.Calls[0].Extra)
}

func TestAnAnswerThatChangedIsADifference(t *testing.T) {
	t.Parallel()
	file := recorded(t, trace.Config{})
	for name, row := range map[string]struct{ from, to, why string }{
		"data":    {`"ward":"north","visits"`, `"ward":"south","visits"`, `"ward"`},
		"code":    {`"code":"NOT_FOUND"`, `"code":"PRECONDITION_FAILED"`, "PRECONDITION_FAILED"},
		"field":   {`"code":"NOT_FOUND","field":"patient_id"`, `"code":"NOT_FOUND"`, "NOT_FOUND"},
		"outcome": {`"state":"succeeded"}`, `"state":"failed"}`, "operation 1"},
		"refused": {`"verdict":"refuse","code":"UNKNOWN_FIELD"`, `"verdict":"accept"`, "UNKNOWN_FIELD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, file, row.from)
			_, report := replayed(t, strings.Replace(file, row.from, row.to, 1), trace.PlayerConfig{}, nil, nil)
			require.ErrorContains(t, report.Err(), row.why)
		})
	}
}

type patientV2In struct {
	Patient string `json:"patient" jsonschema:"pattern=^pat_[0-9]{4\\,9}$"`
}

func secondVersion(retire bool) func(r *registry) []tool.Definition {
	return func(r *registry) []tool.Definition {
		first := r.getPatient()
		first.Spec.Retired = true
		second := tool.Tool[patientV2In, patientOut]{
			Spec: tool.Spec{Name: "get_patient", Version: 2, Description: "Read a patient.", Timeout: 5 * time.Second},
			Handle: func(ctx context.Context, _ tool.Caller, in patientV2In) (patientOut, error) {
				out, err := r.find(ctx, in.Patient)
				if err != nil {
					return out, envelope.New(envelope.NotFound).At("patient")
				}
				return out, nil
			},
		}
		defs := []tool.Definition{second, r.movePatient()}
		if retire {
			defs = append(defs, first)
		}
		return defs
	}
}

var secondNames = []string{"get_patient_v2", "preview_move_patient_v1", "commit_move_patient_v1"}

func TestAnOldVersionIsRefusedUnlessItIsMigrated(t *testing.T) {
	t.Parallel()
	file := recorded(t, trace.Config{})
	for name, retired := range map[string]bool{"retired": true, "removed": false} {
		h, report := replayed(t, file, trace.PlayerConfig{}, nil, secondVersion(retired), secondNames...)
		require.ErrorIs(t, report.Err(), trace.ErrOldVersion, name)
		require.NotErrorIs(t, report.Err(), trace.ErrDifferent, name)
		require.Equal(t, 5, report.Count(trace.OldVersion), "every call of it, the refused ones too: "+name)
		require.Zero(t, h.registry.total())
	}
	migrate := func(c envelope.Call) (envelope.Call, error) {
		var in patientIn
		if err := json.Unmarshal(c.Arguments, &in); err != nil {
			return c, err
		}
		if in.PatientID == "" {
			return c, errors.New("not an old call")
		}
		doc, err := json.Marshal(patientV2In{in.PatientID})
		return envelope.Call{Tool: "get_patient_v2", Arguments: doc}, err
	}
	_, report := replayed(t, file, trace.PlayerConfig{Migrate: map[string]trace.Migration{"get_patient_v1": migrate}}, nil, secondVersion(true), secondNames...)
	require.Equal(t, 2, report.Count(trace.Migrated), "the one that was found and the one that was not: %v", report.Calls)
	require.Equal(t, 3, report.Count(trace.OldVersion), "what was refused has nothing to carry over")
}

// A schema that was changed without a new version.
func TestAChangedContractIsRefusedAsOldVersion(t *testing.T) {
	t.Parallel()
	file := recorded(t, trace.Config{})
	_, report := replayed(t, file, trace.PlayerConfig{}, nil, func(r *registry) []tool.Definition {
		return []tool.Definition{r.getPatient(), r.movePatient9()}
	})
	require.ErrorIs(t, report.Err(), trace.ErrOldVersion)
	require.NotErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, 4, report.Count(trace.OldVersion), "the preview, and the commits that rest on it: %v", report.Calls)
	require.ErrorContains(t, report.Err(), "it rests on call-7")
}

func TestDoRebuildsWhatAnErrorProved(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err  error
		same func(error) bool
	}{
		"a code": {envelope.New(envelope.RateLimited).At("patient_id").After(time.Minute), func(err error) bool { return isError(err, envelope.RateLimited, "patient_id", time.Minute) }},
		"refused": {envelope.Refused(envelope.New(envelope.VersionConflict)), func(err error) bool {
			p, e, _ := envelope.Proven(err)
			return p == envelope.ProofRefused && e.Code == envelope.VersionConflict
		}},
		"not sent":    {envelope.NotSent(nil), func(err error) bool { p, _, _ := envelope.Proven(err); return p == envelope.ProofNotSent }},
		"running":     {envelope.Running("rcpt_1"), func(err error) bool { p, _, _ := envelope.Proven(err); return p == envelope.ProofRunning }},
		"not found":   {idem.ErrNotFound, func(err error) bool { return errors.Is(err, idem.ErrNotFound) }},
		"timed out":   {context.DeadlineExceeded, func(err error) bool { return errors.Is(err, context.DeadlineExceeded) }},
		"the adapter": {errRegistry, func(err error) bool { return errors.Is(err, errRegistry) }},
		"another":     {errors.New("secret text"), func(err error) bool { return err != nil && !strings.Contains(err.Error(), "secret") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got error
			defs := func(*registry) []tool.Definition {
				return []tool.Definition{tool.Tool[struct{}, struct{}]{
					Spec: tool.Spec{Name: "ask", Version: 1, Description: "Ask.", Timeout: 5 * time.Second},
					Handle: func(ctx context.Context, _ tool.Caller, _ struct{}) (struct{}, error) {
						_, got = trace.Do(ctx, "other.system", patientIn{PatientID: "pat_4711"}, func(context.Context) (struct{}, error) { return struct{}{}, row.err }, errRegistry)
						return struct{}{}, got
					},
				}}
			}
			rec := newRecorder(t, trace.Config{})
			h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, defs, "ask_v1")
			run, err := rec.Run(h.run)
			require.NoError(t, err)
			run.Call(t.Context(), call("ask_v1", `{}`))
			var file bytes.Buffer
			require.NoError(t, rec.Save(&file, run.ID()))
			require.NotContains(t, file.String(), "secret text")
			got = nil
			_, report := replayed(t, file.String(), trace.PlayerConfig{}, nil, defs, "ask_v1")
			require.NoError(t, report.Err())
			require.True(t, row.same(got), "%v", got)
		})
	}
}

func isError(err error, code envelope.Code, field string, wait time.Duration) bool {
	e, ok := errors.AsType[*envelope.Error](err)
	return ok && e.Code == code && e.Field == field && e.RetryAfter == wait
}

func TestOutsideOfARecordingDoOnlyAsks(t *testing.T) {
	t.Parallel()
	got, err := trace.Do(t.Context(), "other.system", struct{}{}, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, got)
}

func TestLoadRefusesWhatIsNoTrace(t *testing.T) {
	t.Parallel()
	file := recorded(t, trace.Config{})
	head, rest, _ := strings.Cut(file, "\n")
	first, after, _ := strings.Cut(rest, "\n")
	for name, text := range map[string]string{
		"nothing":            "",
		"no head":            rest,
		"another format":     strings.Replace(file, `"format":2`, `"format":1`, 1),
		"an unknown member":  strings.Replace(file, `"format":2`, `"format":2,"extra":1`, 1),
		"the head alone":     head + "\n",
		"no end":             file[:strings.LastIndex(file, `{"step":"end"`)],
		"half of it":         head + "\n" + first + "\n",
		"a line left out":    head + "\n" + after,
		"more behind it":     file + first + "\n",
		"an unknown step":    head + "\n" + `{"step":"dance","at":"2026-08-14T16:25:00Z"}`,
		"a cut line":         file[:len(file)-20],
		"no verdict":         strings.Replace(file, `"verdict":"accept"`, `"verdict":"perhaps"`, 1),
		"a step's new field": strings.Replace(rest, `"step":"call"`, `"step":"call","live":true`, 1),
	} {
		_, err := trace.Load(strings.NewReader(text))
		require.ErrorIs(t, err, trace.ErrTrace, name)
	}
	tr, err := trace.Load(strings.NewReader(file))
	require.NoError(t, err)
	require.Equal(t, 10, tr.Calls())
	require.NotEmpty(t, tr.Run())
	require.Contains(t, tr.Catalogue(), "sha256:")
}

func TestARunThatIsNotRecorded(t *testing.T) {
	t.Parallel()
	rec, run := recording(t, trace.Config{})
	require.Error(t, rec.Note("run_other", trace.Request, "text"))
	require.Error(t, rec.Note(run, "gossip", "text"))
	require.Error(t, rec.Save(&bytes.Buffer{}, "run_other"))
	rec.Forget(run)
	require.Error(t, rec.Save(&bytes.Buffer{}, run))
}

// A value whose place admits only itself cannot be replaced: the trace is not saved, and the error says where, not what.
func TestWhatNothingCanStandForIsNotSaved(t *testing.T) {
	t.Parallel()
	type out struct {
		Faith string `json:"faith" jsonschema:"enum=quaker,enum=none" redact:"personal"`
	}
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, func(*registry) []tool.Definition {
		return []tool.Definition{tool.Tool[struct{}, out]{
			Spec:   tool.Spec{Name: "ask", Version: 1, Description: "Ask.", Timeout: 5 * time.Second},
			Handle: func(context.Context, tool.Caller, struct{}) (out, error) { return out{"quaker"}, nil },
		}}
	}, "ask_v1")
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("ask_v1", `{}`)).Err())
	var file bytes.Buffer
	err = rec.Save(&file, run.ID())
	require.ErrorIs(t, err, trace.ErrStandIn)
	require.ErrorContains(t, err, "call-1 of ask_v1")
	require.NotContains(t, err.Error(), "quaker")
	require.Zero(t, file.Len())
}
