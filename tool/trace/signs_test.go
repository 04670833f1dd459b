package trace_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
	"github.com/toolcontract/toolcontract/validate"
)

// Digits of any script go, and signs that are neither letters nor digits, wherever a value is hidden.
func TestSignsOfAnyScriptGo(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"Anruf ٠٩٠١٢٣٤٥٦٧٨", "０９０-１２３４-５６７８", "☎ 🤰💊", "Ⅻ ½ ²", "e\u0301 a\u0308"} {
		file := resolved(t, idem.Resolution{State: idem.Succeeded, Reason: said + " r", Evidence: said})
		rec := newRecorder(t, trace.Config{})
		h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, func(r *registry) []tool.Definition {
			g := r.getPatient()
			g.Handle = func(_ context.Context, _ tool.Caller, in patientIn) (patientOut, error) {
				return patientOut{in.PatientID, "Ottilie " + said, "1948-05-17", "north", 3}, nil
			}
			return []tool.Definition{g, r.movePatient()}
		})
		run, err := rec.Run(h.run)
		require.NoError(t, err)
		require.NoError(t, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711","reason":"please `+said+`"}`)).Err())
		require.Error(t, run.Call(t.Context(), call(said, `{}`)).Err())
		var saved bytes.Buffer
		require.NoError(t, rec.Save(&saved, run.ID()))
		require.NotContains(t, saved.String(), "left_out")
		for _, r := range said {
			if r > 0x7f {
				require.NotContains(t, file+saved.String(), string(r), said)
			}
		}
	}
}

type booking struct {
	Seats map[string]int `json:"seats" redact:"personal"`
}

// The field of a failure says what somebody declared, and no key of a map or other word of a sender.
func TestAFailuresFieldIsDeclared(t *testing.T) {
	t.Parallel()
	s, err := validate.For[booking]()
	require.NoError(t, err)
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, func(r *registry) []tool.Definition {
		g := r.getPatient()
		g.Handle = func(ctx context.Context, _ tool.Caller, in patientIn) (out patientOut, err error) {
			_, err = trace.Do(ctx, "registry.book", in, func(context.Context) (booking, error) {
				return booking{}, s.Check([]byte(`{"seats":{"OttilieBrandvold":"x"}}`), validate.Limits{})
			})
			return out, err
		}
		return []tool.Definition{g, r.movePatient()}
	})
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.Error(t, run.Call(t.Context(), call("get_patient_v1", `{"patient_id":"pat_4711"}`)).Err())
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	require.Contains(t, file.String(), `"failure":{"code":"INVALID_ARGUMENT","field":"seats"`)
	require.NotContains(t, file.String(), "Ottilie")

	said := resolved(t, idem.Resolution{
		State: idem.Failed, Reason: "x", Evidence: "y", Failure: envelope.New(envelope.PreconditionFailed).At("ottilie_brandvold"),
	})
	require.NotContains(t, said, "ottilie")
	said = resolved(t, idem.Resolution{State: idem.Failed, Reason: "x", Evidence: "y", Failure: envelope.New(envelope.PreconditionFailed).At("ward")})
	require.Contains(t, said, `"code":"PRECONDITION_FAILED","field":"ward"`)
}
