package trace_test

import (
	"encoding/json/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// The same refusal with another effect is another answer.
func TestAnotherEffectIsADifference(t *testing.T) {
	t.Parallel()
	file := recorded(t, trace.Config{})
	require.Contains(t, file, `"code":"APPROVAL_PENDING","effect":"none"`)
	_, report := replayed(t, strings.Replace(file, `"code":"APPROVAL_PENDING","effect":"none"`, `"code":"APPROVAL_PENDING","effect":"unknown"`, 1), trace.PlayerConfig{}, nil, nil)
	require.ErrorIs(t, report.Err(), trace.ErrDifferent)
	require.Equal(t, 1, report.Count(trace.Different), report.Calls)
}

// A call in another form asks other systems what it asked before, no more and no less.
func TestAMigratedCallsExchangesAreCompared(t *testing.T) {
	t.Parallel()
	migrate := func(c envelope.Call) (envelope.Call, error) {
		var in patientIn
		err := json.Unmarshal(c.Arguments, &in)
		doc, _ := json.Marshal(patientV2In{in.PatientID})
		return envelope.Call{Tool: "get_patient_v2", Arguments: doc}, err
	}
	cfg := trace.PlayerConfig{Migrate: map[string]trace.Migration{"get_patient_v1": migrate}}
	file := recorded(t, trace.Config{})
	once, rest, _ := strings.Cut(file, "\n{\"step\":\"call\"")
	call, rest, _ := strings.Cut(rest, "\n")
	before, after, ok := strings.Cut(call, `,"upstream":[`)
	require.True(t, ok)
	one := after[:strings.LastIndexByte(after, ']')]
	for name, upstream := range map[string]string{"missing": one + "," + one, "extra": ""} {
		text := once + "\n{\"step\":\"call\"" + before + `,"upstream":[` + upstream + after[len(one):] + "\n" + rest
		_, report := replayed(t, text, cfg, nil, secondVersion(true), secondNames...)
		require.Equal(t, trace.Different, report.Calls[0].As, name)
		require.Len(t, append(report.Calls[0].Missing, report.Calls[0].Extra...), 1, name)
	}
}
