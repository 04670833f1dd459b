package trace_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

type ownerIn struct {
	Owner string `json:"owner" jsonschema:"pattern=^[a-z.@:]{1\\,40}$"`
}

type ownerOut struct {
	Owner string `json:"owner" jsonschema:"pattern=^[a-z.@:]{1\\,40}$"`
	Login string `json:"login" jsonschema:"pattern=^[a-z.@:]{1\\,40}$"`
}

// ofOwner answers the caller alone.
func ofOwner() tool.Tool[ownerIn, ownerOut] {
	return tool.Tool[ownerIn, ownerOut]{
		Spec: tool.Spec{Name: "ask", Version: 1, Description: "Ask.", Timeout: 5 * time.Second},
		Handle: func(ctx context.Context, by tool.Caller, in ownerIn) (ownerOut, error) {
			if in.Owner != by.Principal.Subject {
				return ownerOut{}, envelope.New(envelope.NotFound).At("owner")
			}
			_, err := trace.Do(ctx, "directory.find", in, func(context.Context) (ownerIn, error) { return in, nil })
			return ownerOut{in.Owner, "login:" + in.Owner}, err
		},
	}
}

// peopled is a run of two changes, of which the requester approves one and another person the other.
func peopled(t *testing.T, requester, approver string) string {
	t.Helper()
	rec := newRecorder(t, trace.Config{})
	h := hosting(t, func(c *tool.Config) error { rec.Wire(c); return nil }, requester)
	run, err := rec.Run(h.run)
	require.NoError(t, err)
	require.NoError(t, rec.Note(run.ID(), trace.Request, requester+" asks, "+strings.ToUpper(approver)+" decides."))
	require.NoError(t, run.Call(t.Context(), call("ask_v1", `{"owner":"`+requester+`"}`)).Err())
	for _, by := range []string{requester, approver} {
		p := run.Call(t.Context(), call("preview_move_patient_v1", `{"patient_id":"pat_4711","ward":"south"}`))
		require.NoError(t, p.Err())
		id := between(string(p.Data), `"proposal_id":"`)
		stored, err := h.cfg.Approvals.Find(t.Context(), "clinic", id)
		require.NoError(t, err)
		_, err = h.dispatcher.Decide(t.Context(), "clinic", id, approval.Decision{
			Approved: true, By: approval.Principal{Kind: approval.Person, Tenant: "clinic", Subject: by, Roles: []string{"lead"}}, Digest: stored.Proposal.Digest,
		})
		require.NoError(t, err)
		require.NoError(t, run.Call(t.Context(), call("commit_move_patient_v1", `{"proposal_id":"`+id+`"}`)).Err())
	}
	var file bytes.Buffer
	require.NoError(t, rec.Save(&file, run.ID()))
	return file.String()
}

func hosting(t *testing.T, wire func(*tool.Config) error, requester string) *house {
	t.Helper()
	h := newHouse(t, func(c *tool.Config) error {
		c.Policy = approval.Everything(approval.Requirement{Level: approval.One, Role: "lead", Self: true})
		return wire(c)
	}, func(r *registry) []tool.Definition {
		w := r.movePatient()
		return []tool.Definition{ofOwner(), w}
	}, "ask_v1", "preview_move_patient_v1", "commit_move_patient_v1")
	by := agent()
	by.Subject = requester
	var err error
	h.run, err = h.dispatcher.Start(tool.RunConfig{Principal: by, Role: h.run.Role(), Budget: tool.Budget{Calls: 100}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	return h
}

// Who asked and who decided is personal: stand-ins take their places wherever they are named, one for each, and a
// replay takes the run's own principal for whoever asked.
func TestASubjectGoes(t *testing.T) {
	t.Parallel()
	for name, who := range map[string][2]string{
		"addresses": {"jane.doe@example.org", "omar@example.org"}, "short": {"al", "bo"}, "of one form": {"u.ann", "u.bob"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := peopled(t, who[0], who[1])
			if len(who[0]) > 2 {
				for _, subject := range who {
					require.NotContains(t, strings.ToLower(file), subject)
				}
			}
			require.NotContains(t, file, `"subject":"`+who[0]+`"`)
			require.NotContains(t, file, `"subject":"`+who[1]+`"`)
			require.NotContains(t, file, `"owner":"`+who[0]+`"`)
			seen := map[string]int{}
			for _, part := range strings.Split(file, `"subject":"`)[1:] {
				subject, _, _ := strings.Cut(part, `"`)
				seen[subject]++
			}
			require.Len(t, seen, 2, "equal subjects have equal stand-ins, others others")
			require.Equal(t, 2, seen[between(file, `"subject":"`)], "the requester, who decided once")
			for _, now := range []string{who[0], "somebody.else@example.net"} {
				tr, err := trace.Load(strings.NewReader(file))
				require.NoError(t, err)
				var h *house
				player := trace.NewPlayer(tr, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }})
				h = hosting(t, player.Wire, now)
				report, err := player.Play(t.Context(), h.dispatcher, h.run)
				require.NoError(t, err)
				require.NoError(t, report.Err(), now)
				require.Zero(t, h.registry.total())
			}
		})
	}
}

// In a replay, too, nobody approves what he asked for where the policy forbids it; and a host may say who stands for whom.
func TestAReplayKnowsWhoIsWho(t *testing.T) {
	t.Parallel()
	file := peopled(t, "jane.doe@example.org", "omar@example.org")
	played := func(self bool, principal func(approval.Principal) approval.Principal) error {
		tr, err := trace.Load(strings.NewReader(file))
		require.NoError(t, err)
		var h *house
		player := trace.NewPlayer(tr, trace.PlayerConfig{At: func(at time.Time) { h.clock.set(at) }, Principal: principal})
		h = hosting(t, func(c *tool.Config) error {
			c.Policy = approval.Everything(approval.Requirement{Level: approval.One, Role: "lead", Self: self})
			return player.Wire(c)
		}, "new.name@example.org")
		report, err := player.Play(t.Context(), h.dispatcher, h.run)
		require.NoError(t, err)
		return report.Err()
	}
	require.ErrorContains(t, played(false, nil), "a decision is refused now", "by the one who asked")
	asked := 0
	err := played(true, func(p approval.Principal) approval.Principal {
		asked++
		p.Subject = "new.name@example.org"
		return p
	})
	require.NoError(t, err)
	require.Equal(t, 1, asked, "of the one who did not ask")
}
