package tooltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

// What happens between a proposal and its admission, consumption and claim.

func twoProposals(p *play) {
	p.unversioned()
	s := p.process()
	p1, p2 := s.approved(250), s.approved(300)
	p.succeeded(s.commit(p1), "the first")
	p.none(s.commit(p2), envelope.VersionConflict, "the second was made before the first ran")
	p.that(p.proposal(p2).State == approval.Approved, "the second proposal is consumed")
	p.absent(p2)
	p.effects(1)
}

// unversioned makes the target one without a version.
func (p *play) unversioned() {
	preview := p.write.Preview
	p.write.Unversioned, p.write.Current = true, nil
	p.write.Preview = func(ctx context.Context, by tool.Caller, in change) (tool.Draft[change], error) {
		d, err := preview(ctx, by, in)
		d.Target.Version = ""
		return d, err
	}
}

func previewJoins(p *play) {
	s := p.process()
	id := s.preview(250)
	p.that(s.preview(250) == id, "a pending proposal is not joined")
	s.approve(id)
	p.that(s.preview(250) == id, "an approved proposal is not joined")
	p.that(s.preview(251) != id, "another plan joins")
	p.succeeded(s.commit(id), "commit")
	p.effects(1)
}

func storeDownBeforeConsume(p *play) {
	s := p.process()
	id := s.approved(250)
	p.approvals.consume.fail()
	e := p.refusal(s.commit(id), envelope.InProgress, "admitted, the approval store is down")
	p.that(e.OperationID == operation(id), "no operation is named")
	p.is(id, idem.Pending)
	p.effects(0)
	p.approvals.consume.clear()
	p.succeeded(s.commit(id), "the next commit goes on")
	p.effects(1)
}

func withdrawnBeforeConsume(p *play) {
	s := p.process()
	id := s.approved(250)
	p.approvals.consume.set(func() error {
		p.approvals.consume.clear()
		rec := p.proposal(id)
		_, err := p.stores.Approvals.Withdraw(p.t.Context(), tenant, id, rec.Decisions[0].ID, rec.Decisions[0].By)
		return err
	})
	p.none(s.commit(id), envelope.ApprovalRejected, "taken back in time")
	p.is(id, idem.Denied)
	p.effects(0)
}

func authorityDown(p *play) {
	s := p.process()
	id := s.approved(250)
	p.authority.set(errDown, nil)
	p.none(s.commit(id), envelope.Unavailable, "before the admission")
	p.absent(id)
	p.authority.set(nil, nil)
	p.admitOnly(s, id)
	p.authority.set(nil, errDown)
	p.refused(s.commit(id), envelope.InProgress, "the authority cannot be asked")
	p.is(id, idem.Pending)
	p.authority.set(fmt.Errorf("directory: %w", approval.ErrNotAllowed), nil)
	p.none(s.commit(id), envelope.ApproverNotAuthorized, "a definite no")
	p.is(id, idem.Denied)
	p.effects(0)
}

// admitOnly leaves the operation admitted and its approval not consumed.
func (p *play) admitOnly(s *session, id string) {
	p.t.Helper()
	p.approvals.consume.fail()
	p.refused(s.commit(id), envelope.InProgress, "admitted")
	p.approvals.consume.clear()
	p.is(id, idem.Pending)
}

func keyRotated(p *play) {
	s := p.process()
	done := s.approved(250)
	p.succeeded(s.commit(done), "before the rotation")
	waiting := s.approved(300)
	p.config.Digester = p.digester("k2", "k1")
	s = p.process()
	p.that(s.preview(300) == waiting, "the same proposal is not found under the old key")
	p.succeeded(s.commit(waiting), "a pending approval")
	p.replayed(s.commit(done), "a replay")
	p.effects(2)
}

func clocksApart(p *play) {
	p.config.Now = func() time.Time { return p.wall().Add(time.Hour) }
	fast := p.process()
	p.config.Now = func() time.Time { return p.wall().Add(-time.Hour) }
	slow := p.process()
	id := fast.approved(250)
	p.succeeded(slow.commit(id), "neither process takes the proposal for expired")
	late := slow.approved(300)
	p.advance(15*time.Minute + time.Second)
	p.none(fast.commit(late), envelope.ApprovalExpired, "over on the store's clock")
	p.none(slow.commit(late), envelope.ApprovalExpired, "for both")
	p.effects(1)
}

func twoPolicies(p *play) {
	old := p.config.Policy
	s := p.process()
	id := s.approved(250)
	p.config.Policy.Version++
	newer := p.process()
	newer.preview(300)
	p.config.Policy = old
	older := p.process()
	p.none(older.commit(id), envelope.Unavailable, "the older dispatcher commits")
	p.refused(older.call(previewTool, `{"limit":400}`), envelope.Unavailable, "and previews")
	p.effects(0)
	p.succeeded(newer.commit(id), "the newer one")
	p.effects(1)
}

func exactNumbers(p *play) {
	var ran []change
	commit := p.write.Commit
	p.write.Commit = func(ctx context.Context, cmd approved) (changed, error) {
		ran = append(ran, cmd.Plan)
		return commit(ctx, cmd)
	}
	s := p.process()
	e := p.refusal(s.call(previewTool, `{"limit":1,"note":"a\u0000b"}`), envelope.InvalidArgument, "U+0000")
	p.that(e.Field == "note" && e.Rule == "nul", "U+0000 is placed at %q by rule %q", e.Field, e.Rule)
	for _, args := range []string{`{"limit":9007199254740993,"rate":1E2}`, `{"limit":9223372036854775807}`} {
		id := s.propose(previewTool, args)
		s.approve(id)
		p.succeeded(s.commit(id), args)
	}
	want := []change{{Limit: 9007199254740993, Rate: 100}, {Limit: 9223372036854775807}}
	p.that(len(ran) == 2 && ran[0] == want[0] && ran[1] == want[1], "ran %v, want %v", ran, want)
}

func otherCloses(how idem.State) func(*play) {
	return func(p *play) {
		sending, release := make(chan struct{}), make(chan struct{})
		commit := p.write.Commit
		p.write.Lifetime = 10 * time.Minute
		p.write.Commit = func(ctx context.Context, cmd approved) (changed, error) {
			close(sending)
			<-release
			return commit(ctx, cmd)
		}
		s := p.process()
		p1, p2 := s.approved(250), s.approved(300)
		p.admitOnly(s, p2)
		first := make(chan envelope.Result, 1)
		go func() { first <- s.commit(p1) }()
		<-sending
		var err error
		if how == idem.Expired {
			p.advance(11 * time.Minute)
			_, err = p.ledger.Sweep(p.t.Context())
		} else {
			_, err = p.ledger.Close(p.t.Context(), key(p2), how, envelope.NotPermitted)
		}
		p.ok(err, string(how))
		p.is(p2, how)
		r := s.call(previewTool, `{"limit":400}`)
		p.that(!r.OK && r.Error.OperationID == operation(p1), "p3 is previewed while p1 is open")
		close(release)
		<-first
		p.effects(1)
	}
}

func deathBeforeClaim(p *play) {
	s := p.process()
	id := s.approved(250)
	p.ledger.claim.fail()
	p.refused(s.commit(id), envelope.InProgress, "consumed, not claimed")
	p.that(p.proposal(id).State == approval.Consumed, "the approval is not consumed")
	p.is(id, idem.Pending)
	p.ledger.claim.clear()
	p.succeeded(p.process().commit(id), "another process goes on")
	p.effects(1)
}

func operationBetween(p *play) {
	p.unversioned()
	preview, calls, other := p.write.Preview, 0, ""
	var s *session
	p.write.Preview = func(ctx context.Context, by tool.Caller, in change) (tool.Draft[change], error) {
		d, err := preview(ctx, by, in)
		if in.Limit == 300 {
			if calls++; calls == 2 {
				return d, errors.Join(err, s.commit(other).Err()) //nolint:contextcheck // another call's
			}
		}
		return d, err
	}
	s = p.process()
	other = s.approved(250)
	stale := s.preview(300)
	s.approve(stale)
	p.none(s.commit(stale), envelope.VersionConflict, "its facts are older than the operation")
	p.effects(1)
}

func cancelledThenPreviewed(p *play) {
	s := p.process()
	id := s.approved(250)
	p.admitOnly(s, id)
	p.succeeded(s.call("cancel_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, operation(id))), "cancel")
	p.is(id, idem.Cancelled)
	again := s.approved(250)
	p.that(again != id, "the cancelled operation's proposal is joined")
	p.succeeded(s.commit(again), "the new one")
	p.none(s.commit(id), envelope.Cancelled, "the first")
	p.effects(1)
}
