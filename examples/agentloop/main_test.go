package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

func none(string) string { return "" }

// What the program shows without flags, offline: every step in its order, and an exit status of zero.
func TestAWholeChangeOffline(t *testing.T) {
	t.Parallel()
	var out, complaints bytes.Buffer
	require.Zero(t, command(t.Context(), nil, none, &out, &complaints), complaints.String())
	text := out.String()
	for _, step := range []string{
		"person   Set the price of the harbour lamp to 84.90 EUR.",
		`model  → find_articles_v1 {"text":"harbour lamp"}`,
		`← ok {"articles":[{"sku":"A-77"`,
		"model  → lookup_price",
		"← UNKNOWN_TOOL",
		`model  → preview_set_price_v1 {"sku":"A-77","price":84.90}`,
		"← UNKNOWN_FIELD",
		`model  → preview_set_price_v1 {"sku":"A-77","cents":8490}`,
		`"state":"pending"`,
		"model  → commit_set_price_v1",
		"← APPROVAL_PENDING; the run waits for a person",
		"person   approved: “Set the price of Harbour lamp (A-77)”",
		`"previous_version":"9","new_version":"10"`,
		"model  → get_operation_v1",
		`"state":"succeeded"`,
		"model    The price of the harbour lamp (A-77) is 84.90 EUR now; the operation succeeded.",
	} {
		_, after, found := strings.Cut(text, step)
		require.True(t, found, "%s\n%s", step, out.String())
		text = after
	}
}

// A recorded run is made again without the model, the person and the shop; a recording that says otherwise is found out.
func TestRecordedAndReplayed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "run.jsonl")
	var out, complaints bytes.Buffer
	require.Zero(t, command(t.Context(), []string{"-record", file}, none, &out, &complaints), complaints.String())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), `"harbour lamp"`, "free text of the model is replaced")

	out.Reset()
	require.Zero(t, command(t.Context(), []string{"-replay", file}, none, &out, &complaints), complaints.String())
	require.NotContains(t, out.String(), "lookup_price", "a name that no catalogue has is the model's text")
	require.Equal(t, `call-1 find_articles_v1: same
call-2 ?: same
call-3 preview_set_price_v1: same
call-4 preview_set_price_v1: same
call-5 commit_set_price_v1: same
call-6 commit_set_price_v1: same
call-7 get_operation_v1: same
`, regexp.MustCompile(`(?m)^call-2 \w+:`).ReplaceAllString(out.String(), "call-2 ?:"))

	changed := strings.Replace(string(text), `"new_version":"10"`, `"new_version":"11"`, 1)
	require.NotEqual(t, string(text), changed)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	out.Reset()
	require.Equal(t, 1, command(t.Context(), []string{"-replay", file}, none, &out, &complaints))
	require.Contains(t, out.String(), "call-6 commit_set_price_v1: different")
	require.Equal(t, 2, command(t.Context(), []string{"-replay", file + ".none"}, none, &out, &complaints))
}

func TestExports(t *testing.T) {
	t.Parallel()
	c, err := newShop(time.Now).catalogue()
	require.NoError(t, err)
	role, err := clerk(c)
	require.NoError(t, err)
	exporttest.Golden(t, role.Published(), "testdata/export.golden")
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"help", []string{"-h"}, 0, "-provider"},
		{"unknown flag", []string{"-x"}, 2, "-x"},
		{"arguments", []string{"x"}, 2, "no arguments"},
		{"unknown provider", []string{"-provider", "oracle"}, 2, "there is no provider"},
		{"no key", []string{"-provider", "openai"}, 2, "the key is missing"},
		{"no key", []string{"-provider", "anthropic"}, 2, "the key is missing"},
		{"an address that others reach", []string{"-addr", "0.0.0.0:0"}, 2, "loopback"},
		{"no calls", []string{"-calls", "0"}, 2, "budget"},
		{"few calls", []string{"-calls", "2"}, 1, "BUDGET_EXHAUSTED"},
		{"few tokens", []string{"-tokens", "300"}, 1, "tokens: BUDGET_EXHAUSTED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, complaints bytes.Buffer
			require.Equal(t, c.code, command(t.Context(), c.args, none, &out, &complaints), complaints.String())
			require.Contains(t, complaints.String(), c.says)
		})
	}
}

// A person who says no is the end of it: the model is told, and the price stays.
func TestAPersonWhoSaysNo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var approvals approval.Store
	s := settings{provider: scripted, address: "127.0.0.1:0", calls: 20, tokens: 100_000, patience: time.Minute}
	h, err := newHost(t.Context(), s, &out, func(cfg *tool.Config) error { approvals = cfg.Approvals; return nil })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	h.decide = func(ctx context.Context, proposal string) error {
		rec, err := approvals.Find(ctx, tenant, proposal)
		if err == nil {
			_, err = h.dispatcher.Decide(ctx, tenant, proposal, approval.Decision{By: lea(), Reason: "Not today.", Digest: rec.Proposal.Digest})
		}
		return err
	}
	m, err := h.newModel(t.Context(), s, none)
	require.NoError(t, err)
	_, err = h.answer(t.Context(), m, "Set the price.")
	require.ErrorIs(t, err, errNoAnswer, "the script knows no way on from here")
	require.Contains(t, out.String(), "person   rejected")
	require.Contains(t, out.String(), "← APPROVAL_REJECTED")
	require.Contains(t, out.String(), `"reason":"Not today."`)
	a, err := h.shop.article(t.Context(), "A-77")
	require.NoError(t, err)
	require.Equal(t, 8990, a.Cents)
}

func TestTextOfAModelIsShownWithItsHiddenCharacters(t *testing.T) {
	t.Parallel()
	require.NotContains(t, line("a\x1b[2Jb\u202ec"), "\x1b")
	require.Contains(t, line("a\u202ec"), "U+202E")
	require.LessOrEqual(t, len([]rune(line(strings.Repeat("é", 1000)))), 201)
}

// Only who has the key is let in to the page: the model and other programs of the machine are nobody.
func TestTheDoor(t *testing.T) {
	t.Parallel()
	h, err := newHost(t.Context(), settings{provider: scripted, address: "127.0.0.1:0", calls: 1, tokens: 1, patience: time.Minute}, &bytes.Buffer{}, func(*tool.Config) error { return nil })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.close(t.Context())) })
	get := func(path string, session string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.page+path, nil)
		require.NoError(t, err)
		if session != "" {
			r.AddCookie(&http.Cookie{Name: cookie, Value: session})
		}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusUnauthorized, get("/approvals/", ""))
	require.Equal(t, http.StatusUnauthorized, get("/approvals/", "guessed"))
	require.Equal(t, http.StatusForbidden, get("/sign-in?key=guessed", ""))
	require.Equal(t, http.StatusOK, get("/approvals/", h.door.session))
	require.ErrorContains(t, newVisitor(h.page, "guessed").approve(t.Context(), "p_1234"), "403")
	require.ErrorContains(t, newVisitor(h.page, h.door.key).approve(t.Context(), "p_1234"), "does not list")
}
