package approvalweb

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// fate is what became of a proposal so far.
type fate struct {
	Tone           string // "good", "bad", "doubt" or "wait": said in words too
	Heading, Words string
	Settled        bool // nothing will change any more
	Live           bool // the script looks for news of it
	Facts          []fact
	Given          []given
	Address        string // of the operation in the operator's queue, for those who may resolve it
}

// given is a decision as it is shown.
type given struct {
	Approved, Policy bool
	By, At, Reason   string
}

func (h *Handler) fate(ctx context.Context, v view) fate {
	f := standing(v)
	now := storeNow(v.rec)
	for _, d := range v.rec.Decisions {
		f.Given = append(f.Given, given{d.Approved, d.By.Kind == approval.PolicyDecision, d.By.Subject, at(d.At, now), d.Reason})
	}
	if v.rec.State != approval.Approved && v.rec.State != approval.Consumed {
		return f
	}
	k := idem.Key{Tenant: v.rec.Proposal.Tenant, Operation: idem.OperationID(v.rec.Proposal.Tenant, v.rec.Proposal.ID)}
	op, err := h.cfg.Ledger.Find(ctx, k)
	switch {
	case errors.Is(err, idem.ErrNotFound):
		return f
	case errors.Is(err, idem.ErrGone): // the state alone is left
		op.Result, op.Failure = nil, nil
	case errors.Is(err, idem.ErrSealed): // its state is known
		h.failed("ledger", err)
	case err != nil:
		h.failed("ledger", err)
		f.Words += " What became of it could not be read just now."
		return f
	}
	became := outcome(op)
	became.Given = f.Given
	became.Facts = append([]fact{{"Operation", []string{k.Operation}}}, became.Facts...)
	if op.State == idem.Unknown && h.cfg.Resolve != nil && h.cfg.Authority.MayResolve(ctx, v.by, k.Tenant, k.Operation) == nil {
		became.Address = h.operationPath(k.Operation)
	}
	return became
}

// standing says how a proposal stands by what was decided.
func standing(v view) fate {
	switch v.rec.State {
	case approval.Pending:
		return waiting(v)
	case approval.Approved:
		return fate{
			Tone: "wait", Heading: "Approved, not yet carried out",
			Words: "It is written when the agent commits it, by " + at(v.rec.Proposal.ExpiresAt, storeNow(v.rec)) + " at the latest. If it changes first, nothing is written.",
		}
	case approval.Rejected:
		return fate{Tone: "bad", Heading: "Turned down", Words: "Nothing was written. The agent reads the reason.", Settled: true}
	case approval.Withdrawn:
		return fate{Tone: "bad", Heading: "An approval was taken back", Words: "Nothing was written.", Settled: true}
	case approval.Expired:
		return fate{
			Tone: "bad", Heading: "Its time is over", Settled: true,
			Words: "It was not carried out by " + at(v.rec.Proposal.ExpiresAt, v.rec.Proposal.CreatedAt) + ", and nothing was written. A new proposal is needed.",
		}
	case approval.Consumed:
		return fate{Tone: "doubt", Heading: "The approval has been used", Words: "The record of what became of it is not there. Do not repeat it before you know."}
	}
	return fate{Tone: "doubt", Heading: "It is not known how this stands", Words: "Do not repeat it before you know."}
}

func waiting(v view) fate {
	d, has := v.mine()
	switch {
	case has && d.Approved:
		return fate{Tone: "wait", Heading: "You have approved it", Words: "Another approver must agree before anything is written."}
	case v.barred():
		return fate{Tone: "wait", Heading: "You asked for this yourself", Words: "Somebody else must decide about it."}
	case !v.may:
		return fate{Tone: "wait", Heading: "It waits for a decision", Words: "You may see it because you asked for it; deciding needs a role or a group that you do not have."}
	}
	return fate{}
}

// outcome says what an operation came to.
func outcome(op idem.Record) fate {
	var f fate
	switch op.State {
	case idem.Pending, idem.Dispatching, idem.Running:
		f = fate{Tone: "wait", Heading: "It is being carried out", Words: "This page says so when it is done."}
	case idem.Succeeded:
		f = fate{Tone: "good", Heading: "Carried out", Words: "What was approved has been written.", Settled: true}
		if op.Failure != nil {
			f.Words += " Its report was faulty and is kept for the operators."
		}
	case idem.Failed:
		f = fate{Tone: "bad", Heading: "Not carried out", Words: "The change was finally refused. Nothing was written.", Settled: true}
	case idem.Denied:
		f = fate{Tone: "bad", Heading: "Not carried out", Words: "It was refused before anything was sent. Nothing was written.", Settled: true}
	case idem.Expired:
		f = fate{Tone: "bad", Heading: "Not carried out", Words: "Its time was over before anything was sent. Nothing was written.", Settled: true}
	case idem.Cancelled:
		f = fate{Tone: "bad", Heading: "Stopped", Words: "It was cancelled before it had its effect.", Settled: true}
	case idem.Unknown:
		f = fate{
			Tone: "doubt", Heading: "Nobody knows yet whether it was carried out",
			Words: "It was sent, and the answer was lost: it may have had its effect. Do not repeat it by other means. It is resolved by evidence, or by an operator.",
		}
	}
	if op.Sealed != nil {
		f.Words += " Parts of its record do not open: they were altered, or their key is not there. What is shown here is the rest."
	}
	f.Facts = outcomeFacts(op)
	return f
}

func outcomeFacts(op idem.Record) []fact {
	var fs []fact
	if op.Failure != nil {
		fs = append(fs, fact{"Code", []string{codeWords(op.Failure)}})
	}
	if e, ok := evidence(op.Result); ok {
		fs = append(fs, fact{"Written at", []string{when(e.CommittedAt)}})
		if e.NewVersion != "" {
			fs = append(fs, fact{"New version", []string{e.NewVersion}})
		}
		if len(e.ChangedFields) > 0 {
			fs = append(fs, fact{"Changed", e.ChangedFields})
		}
	}
	if r := op.Resolution; r != nil {
		fs = append(fs, fact{"Resolved by", []string{r.By}}, fact{"Reason", []string{r.Reason}}, fact{"Evidence", []string{r.Evidence}})
	}
	return fs
}

func codeWords(e *envelope.Error) string {
	if e.Message == "" {
		return string(e.Code)
	}
	return string(e.Code) + ": " + e.Message
}

// proof is what a write's result says of itself, whatever else is in it.
type proof struct {
	NewVersion    string    `json:"new_version"`
	ChangedFields []string  `json:"changed_fields"`
	CommittedAt   time.Time `json:"committed_at"`
}

func evidence(result jsontext.Value) (proof, bool) {
	var p proof
	if len(result) == 0 || json.Unmarshal(result, &p) != nil || p.CommittedAt.IsZero() {
		return proof{}, false
	}
	return p, true
}
