package tooltest

import (
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
)

// Stores is what one interleaving runs on, empty at its beginning.
type Stores struct {
	Approvals approval.Store
	Ledger    idem.Ledger
	// Advance moves the clocks of both stores ahead by d.
	Advance func(d time.Duration)
	// Forgotten returns an empty ledger with the same clock, as after a restore from a backup that was taken before.
	Forgotten func() idem.Ledger
}

// Open returns fresh stores for one interleaving.
type Open func(t *testing.T) Stores

type interleaving struct {
	name, explanation string
	play              func(*play)
}

// Interleavings runs every interleaving as a subtest of its own, named by its number, in parallel.
func Interleavings(t *testing.T, open Open) {
	t.Helper()
	for _, i := range interleavings() {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, open(t))
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("%s: %s", i.name, i.explanation)
				}
			})
			i.play(p)
		})
	}
}

func interleavings() []interleaving {
	return []interleaving{
		{"I1", "answer lost, unknown; the same is previewed and committed again: refused while unknown, one effect", answerLost},
		{"I2", "two proposals without a version are approved; the first runs: the second is refused by sequence", twoProposals},
		{"I3", "previewed again after the approval: the same proposal", previewJoins},
		{"I4", "queued past its expiry: expired, not sent", queuedExpires},
		{"I5-expiry", "claim, lost answer, expiry, resolver: no resend", noResendAfter(func(p *play) { p.advance(20 * time.Minute) })},
		{"I5-revocation", "claim, lost answer, revocation, resolver: no resend", noResendAfter(func(p *play) { p.authority.set(approval.ErrNotAllowed, nil) })},
		{"I5-version", "claim, lost answer, new version, resolver: no resend", noResendAfter(func(p *play) { p.provider.touch() })},
		{"I6", "a time-out in an envelope, a malformed 200 passed on: unknown", errorsProveNothing},
		{"I7", "a worker pauses before sending and is reaped, status says not found, it wakes: no failure, no send", lateWorker},
		{"I8-purged", "success, ledger purged, commit again: unknown, one effect", purged},
		{"I8-restored", "success, ledger restored from before, commit again: unknown, one effect", restored},
		{"I9", "the first of two requests lands, the second cannot dial: unknown", sentThenNotSent},
		{"I10", "effect done, ledger down at Finish: unknown, resolved from evidence, never two truths", ledgerDownAtFinish},
		{"I11", "the client disconnects after the claim: the handler finishes, the outcome is stored", clientDisconnects},
		{"I12", "approval store down between Admit and Consume: pending, later run", storeDownBeforeConsume},
		{"I13", "the approver withdraws between load and consume: refused", withdrawnBeforeConsume},
		{"I14", "the authority is down at the re-check: pending, not no", authorityDown},
		{"I15", "two resolvers, and the provider's window: one holder, nothing sent after it", twoResolvers},
		{"I16", "a worker that lacks a version at the head of the outbox: others proceed", workerLacksVersion},
		{"I17", "no worker runs: whoever reads a row past its lease reaps it", nobodyWorks},
		{"I18", "digest key rotated: pending approvals verify, replays replay", keyRotated},
		{"I19", "process clocks an hour apart: leases and expiries as the stores say", clocksApart},
		{"I20", "two policy versions: the higher known one rules, the older dispatcher refuses writes", twoPolicies},
		{"I21", "U+0000 refused, 2^53+1 and 1E2 exact", exactNumbers},
		{"I22-cancelled", "p1 sends, p2 is cancelled, p3 is previewed: refused while p1 is open", otherCloses(idem.Cancelled)},
		{"I22-denied", "p1 sends, p2 is denied, p3 is previewed: refused while p1 is open", otherCloses(idem.Denied)},
		{"I22-expired", "p1 sends, p2 expires, p3 is previewed: refused while p1 is open", otherCloses(idem.Expired)},
		{"I23", "death between Consume and Claim: the next commit goes on, one effect", deathBeforeClaim},
		{"I24", "sent, lost, resent, cannot dial: unknown again, never pending", resentNotSent},
		{"I25", "a second commit while the first sends, and after it: the operation's own answer", secondCommit},
		{"I26", "another operation between the facts and the proposal: refused by sequence", operationBetween},
		{"I27", "queued, an outsider changes the target: denied, VERSION_CONFLICT", outsiderInQueue},
		{"I28", "not found asked, the request lands, Settle ends: stays unknown", notFoundTooEarly},
		{"I29", "claim, crash, expiry, purge: the row stays until it is terminal", purgeLeavesOpen},
		{"I30", "the body in the ledger is altered before the claim: nothing is sent", bodyAltered},
		{"I31", "NotSent until the attempts are used up: denied, UNAVAILABLE, effect none", attemptsUsedUp},
		{"I32", "admitted, cancelled before Consume, previewed again: a new proposal", cancelledThenPreviewed},
	}
}
