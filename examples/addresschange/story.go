package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// tell plays the write with all that can happen to it. It reports whether everything was as it must be.
func tell(ctx context.Context, w io.Writer) (_ bool, err error) {
	h, err := newHost(ctx, 100)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	t := &teller{ctx: ctx, w: w, h: h}
	t.play()
	if err := t.accounts(); err != nil {
		return false, err
	}
	return t.wrong == 0, nil
}

// play is the story without its last scene, the service's accounts.
func (t *teller) play() {
	t.cast()
	t.answerLost()
	t.versionMoved()
	t.rejected()
	t.expired()
	t.cannotBeAsked()
}

// cast says who acts, and under which rule.
func (t *teller) cast() {
	t.say("agent       %s, a program of the tenant %s, in one run; it may read, preview and commit", agent().Subject, tenant)
	t.say("lead        %s, a person with the role support_lead; decides in the host's console, never through a tool", lead().Subject)
	t.say("rule        policy.json: an address change needs one support lead, and lasts fifteen minutes")
	t.say("stores      approvals and ledger in SQLite files, sealed")
	t.say("service     keeps customers with versions in SQLite; can be asked what an idempotency key did")
	t.say("clock       stands still at %s until the story moves it", t.h.clock.now().Format("2006-01-02 15:04 UTC"))
	t.gap()
}

// answerLost is the long way round: the change is made, its answer does not come back, and the proof is found.
func (t *teller) answerLost() {
	t.scene("The answer is lost on the way, and the proof is found")
	r := t.call("get_customer_v1", `{"customer_id":"cus_9Qm4"}`)
	if c, err := r.Decode[customerView](); t.must("the customer", err) {
		t.say("         version %d; %s, %s, %s; %d saved addresses", c.Version, c.Address.Line1, c.Address.City, c.Address.Country, len(c.AddressBook))
		t.expect(r.ran && c.Version == 17 && c.Address.City == "Kiel", "the customer lives in Kiel, version 17")
	}
	t.gap()

	p := t.propose("cus_9Qm4", "addr_2")
	t.expect(t.version("cus_9Qm4") == 17, "nothing has changed: a preview only reads")
	t.gap()
	t.say("What the support lead sees:")
	t.card(p)
	t.gap()

	t.refused(t.commit(p), envelope.ApprovalPending, envelope.EffectNone, "nobody has decided")
	t.gap()
	again := t.propose("cus_9Qm4", "addr_2")
	t.expect(again.ProposalID == p.ProposalID, "asking again is the same proposal, not a second one")
	t.gap()

	t.h.clock.advance(2 * time.Minute)
	t.decide(p, true, "")
	t.gap()

	t.say("The network begins to lose answers.")
	t.h.crm.LoseAnswers(true)
	id := t.unknown(t.commit(p), "the request left, no answer came")
	t.gap()
	other := t.preview("cus_9Qm4", "addr_1")
	t.expect(other.Error != nil && other.Error.Code == envelope.OutcomeUnknown && other.Error.OperationID == id,
		"no other write on this customer while the first is unknown")
	t.gap()

	t.say("The network is whole again. Asked for the operation, the library asks the service what the key did.")
	t.h.crm.LoseAnswers(false)
	t.proof(id)
	t.gap()

	r = t.commit(p)
	if out, err := r.Decode[addressChanged](); t.must("the commit's answer", err) {
		t.expect(r.Replayed && !r.ran, "the same proposal a second time: the stored answer, nothing is sent")
		t.expect(out.NewVersion == "18" && out.Address.Line1 == "4 Harbour Row", "it is the change that was approved")
	}
	t.expect(t.changes() == 1 && t.requests("cus_9Qm4") == 1, "one request arrived at the service, with one effect")
	t.gap()
}

// proof asks what became of the operation and shows the evidence.
func (t *teller) proof(id string) {
	op := t.operation(id)
	t.say("         %s", op.State)
	e := op.Evidence
	if op.State != "succeeded" || e == nil {
		t.expect(false, "the operation succeeded, with evidence")
		return
	}
	t.say("         evidence: %s, version %s → %s, changed %s, at %s", e.ResourceID, e.PreviousVersion, e.NewVersion,
		strings.Join(e.ChangedFields, " "), e.CommittedAt.Format(time.RFC3339))
	t.expect(e.OperationID == id && e.ResourceID == "cus_9Qm4" && e.PreviousVersion == "17" && e.NewVersion == "18",
		"the operation succeeded, by the service's own word: version 17 became 18")
}

// versionMoved has somebody else change the customer after the approval.
func (t *teller) versionMoved() {
	t.scene("The version moves from 17 to 18 under an approved proposal")
	p := t.propose("cus_4Hk2", "addr_7")
	t.decide(p, true, "")
	t.gap()

	t.say("The back office corrects the same customer's address: version 18.")
	conn, err := t.h.crm.Dial(t.ctx)
	if err == nil {
		_, err = conn.ReplaceAddress(t.ctx, crm.Replacement{
			Tenant: tenant, CustomerID: "cus_4Hk2", Version: 17, Key: "back-office-1", By: "back office",
			Address: crm.Address{Line1: "3a Mill Court", City: "Bremen", Country: "DE"},
		})
	}
	t.must("the back office's change", err)
	t.gap()

	t.refused(t.commit(p), envelope.VersionConflict, envelope.EffectNone, "version 17 was approved, version 18 is there")
	t.expect(t.requests("cus_4Hk2") == 1 && t.version("cus_4Hk2") == 18, "nothing was sent: the only request is the back office's")
	rec := t.stored(p)
	t.expect(rec.State == approval.Approved && rec.ConsumedBy == "", "the proposal is %s and not consumed", rec.State)
	t.gap()
}

func (t *teller) rejected() {
	t.scene("A person says no")
	p := t.propose("cus_7Rw8", "addr_3")
	t.decide(p, false, "the parcel is already at the depot in Galway")
	t.gap()
	r := t.commit(p)
	t.refused(r, envelope.ApprovalRejected, envelope.EffectNone, "a no is final for this proposal")
	if r.Error != nil {
		t.expect(r.Error.Reason != "", "the agent reads why: “%s”", redact.Visible(r.Error.Reason))
	}
	t.gap()
	r = t.preview("cus_7Rw8", "addr_3")
	if again, err := r.Decode[proposal](); t.must("the preview", err) {
		t.say("         proposal %s, %s", again.ProposalID, again.State)
		t.expect(again.ProposalID == p.ProposalID && again.State == "rejected", "asking again brings the same no, not a second vote")
		t.expect(slices.Contains(r.Untrusted, "reason"), "the reason is marked untrusted: to be read, not to be obeyed")
	}
	t.gap()
}

func (t *teller) expired() {
	t.scene("An approval is used too late")
	p := t.propose("cus_2Zt6", "addr_5")
	t.decide(p, true, "")
	t.h.clock.advance(15 * time.Minute)
	t.say("Fifteen minutes pass.")
	t.gap()
	t.refused(t.commit(p), envelope.ApprovalExpired, envelope.EffectNone, "an approval lasts as long as its proposal")
	t.expect(t.requests("cus_2Zt6") == 0, "nothing was sent")
	t.gap()
}

// cannotBeAsked loses the answer and then the service itself.
func (t *teller) cannotBeAsked() {
	t.scene("The answer is lost, and nobody can be asked")
	p := t.propose("cus_5Pd1", "addr_9")
	t.decide(p, true, "")
	t.gap()

	t.say("The network loses the answer, then the service goes off the network altogether.")
	t.h.crm.LoseAnswers(true)
	id := t.unknown(t.commit(p), "the request left, no answer came")
	t.h.crm.Unplug(true)
	t.gap()

	op := t.operation(id)
	t.expect(op.State == "unknown", "the operation is still %s: silence proves nothing", op.State)
	t.gap()
	t.refused(t.commit(p), envelope.OutcomeUnknown, envelope.EffectUnknown, "it is not sent a second time either")
	t.gap()
	t.queue(id)
	t.gap()
}

// queue shows what waits for an operator.
func (t *teller) queue(id string) {
	t.say("The operator's queue:")
	waiting, _, err := t.h.ledger.Unknown(t.ctx, tenant, idem.Page{})
	if !t.must("the queue", err) {
		return
	}
	q := table{columns: []column{{"operation", 0}, {"tool", 0}, {"resource", 0}, {"state", 0}, {"sent", 0}}}
	for _, rec := range waiting {
		q.add(rec.Command.Key.Operation, rec.Command.Tool, rec.Command.Resource, string(rec.State), fmt.Sprintf("%d×", len(rec.Attempts)))
	}
	q.write(t.w, "      ")
	t.expect(len(waiting) == 1 && waiting[0].Command.Key.Operation == id, "exactly this operation waits for evidence or for a person")
}
