package trace_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type payIn struct {
	To   string `json:"to" jsonschema:"pattern=^acct_[0-9]{2}$"`
	Note string `json:"note,omitzero" jsonschema:"maxLength=80"`
}

type markIn struct {
	To string `json:"to" jsonschema:"pattern=^(acct_07|[a-z]+_[0-9])$"`
}

type nothing struct{}

// pays is a write whose target, which is free text in a proposal, stands in its arguments too; mark takes one account alone.
func pays(*registry) []tool.Definition {
	return []tool.Definition{
		tool.Write[payIn, payIn, moveOut]{
			Spec:  tool.Spec{Name: "pay", Version: 1, Description: "Pay.", Timeout: 5 * time.Second},
			Class: tool.Reversible, Unversioned: true,
			Preview: func(_ context.Context, _ tool.Caller, in payIn) (tool.Draft[payIn], error) {
				return tool.Draft[payIn]{Plan: in, Target: approval.Target{Type: "account", ID: in.To}, Summary: "Pay " + in.To}, nil
			},
			Commit: func(context.Context, tool.Approved[payIn]) (moveOut, error) {
				return moveOut{tool.Evidence{CommittedAt: epoch}, "north"}, nil
			},
		},
		tool.Tool[markIn, nothing]{
			Spec:   tool.Spec{Name: "mark", Version: 1, Description: "Mark.", Timeout: 5 * time.Second},
			Handle: func(context.Context, tool.Caller, markIn) (nothing, error) { return nothing{}, nil },
		},
	}
}

var payNames = []string{"preview_pay_v1", "commit_pay_v1", "mark_v1"}

// paid is a saved run of calls of mark and previews of pay, each of which must be taken.
func paid(t *testing.T, calls ...[2]string) string {
	t.Helper()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, pays, payNames...)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	for _, c := range calls {
		require.NoError(t, run.Call(t.Context(), call(c[0], c[1])).Err())
	}
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	return file.String()
}

var accounts = regexp.MustCompile(`"arguments":\{"to":"(acct_[0-9]{2})"`)

// What a proposal hides is replaced in the arguments by what their pattern takes: the prefix is the schema's own word. As
// many accounts as there were are there still.
func TestArgumentsKeepTheirFormAndStandApart(t *testing.T) {
	t.Parallel()
	calls := make([][2]string, 40)
	for n := range calls {
		calls[n] = [2]string{"preview_pay_v1", fmt.Sprintf(`{"to":"acct_%02d","note":"for: Ottilie %d"}`, n+1, n%3)}
	}
	file := paid(t, calls...)
	require.NotContains(t, file, "left_out")
	seen := map[string]bool{}
	for n, found := range accounts.FindAllStringSubmatch(file, -1) {
		require.NotEqual(t, fmt.Sprintf("acct_%02d", n+1), found[1])
		seen[found[1]] = true
	}
	require.Len(t, seen, 40)
	require.NotContains(t, file, "Ottilie")
	_, report := replayed(t, file, trace.PlayerConfig{}, nil, pays, payNames...)
	require.NoError(t, report.Err())
	require.Equal(t, 40, report.Count(trace.Same))
}

// Arguments for which nothing fits are left out, and cost no others theirs.
func TestHopelessArgumentsAreLeftOutAlone(t *testing.T) {
	t.Parallel()
	pay, mark := [2]string{"preview_pay_v1", `{"to":"acct_07"}`}, [2]string{"mark_v1", `{"to":"acct_07"}`}
	for _, calls := range [][][2]string{{pay, mark}, {mark, pay}} {
		file := paid(t, calls...)
		require.NotContains(t, file, "acct_07")
		require.Equal(t, 1, strings.Count(file, "left_out"))
		require.Len(t, accounts.FindAllString(file, -1), 1, "of the payment")
	}
}

type greetIn struct {
	Name string `json:"name" jsonschema:"pattern=^[a-z]+_[0-9]$" redact:"personal"`
}

// A prefix that no schema spells is part of the value.
func TestAPrefixOfTheValuesOwnGoes(t *testing.T) {
	t.Parallel()
	rec := newRecorder(t, trace.Config{})
	h := newHouse(t, func(c *tool.Config) error { rec.Wire(c); return nil }, func(*registry) []tool.Definition {
		return []tool.Definition{
			tool.Tool[greetIn, nothing]{
				Spec:   tool.Spec{Name: "greet", Version: 1, Description: "Greet.", Timeout: time.Second},
				Handle: func(context.Context, tool.Caller, greetIn) (nothing, error) { return nothing{}, nil },
			},
			tool.Tool[brandIn, nothing]{
				Spec:   tool.Spec{Name: "brand", Version: 1, Description: "Brand.", Timeout: time.Second},
				Handle: func(context.Context, tool.Caller, brandIn) (nothing, error) { return nothing{}, nil },
			},
		}
	}, "greet_v1", "brand_v1")
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, run.Call(t.Context(), call("greet_v1", `{"name":"brandvold_7"}`)).Err())
	require.NoError(t, run.Call(t.Context(), call("brand_v1", `{"to":"brandvold_7"}`)).Err())
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	for _, found := range encoded.FindAllStringSubmatch(file.String(), -1) {
		doc, err := base64.StdEncoding.DecodeString(found[1])
		require.NoError(t, err)
		require.NotContains(t, string(doc), "brandvold")
	}
	require.NotContains(t, file.String(), "brandvold")
	require.Equal(t, 1, strings.Count(file.String(), "left_out"))
}

type brandIn struct {
	To string `json:"to" jsonschema:"pattern=^[b][r][a-z]+_[0-9]$"`
}
