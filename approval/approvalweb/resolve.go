package approvalweb

import (
	"net/http"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
)

// The longest texts of a resolution, in characters.
const (
	maxResolveReason = 500
	maxEvidence      = 2000
)

// resolve takes an operator's word on an operation.
func (h *Handler) resolve(r *http.Request, by approval.Principal) answer {
	ctx := r.Context()
	op, no := h.loadOperation(ctx, by, r.PathValue("id"))
	if no != none {
		return h.refused(by, no)
	}
	s, no := read(r)
	if no != none {
		return h.refused(by, no)
	}
	res := idem.Resolution{State: idem.State(s.field("state")), By: by.Subject, Reason: s.text("reason"), Evidence: s.text("evidence")}
	if saidBefore(op, res) {
		return answer{to: h.operationPath(op.Command.Key.Operation)}
	}
	if no := h.doubt(by, op, res, s); no != none {
		return h.operation(ctx, by, op, no, s)
	}
	if _, err := h.cfg.Resolve(ctx, op.Command.Key, by, res); err != nil {
		why := h.unresolved(err)
		now, no := h.loadOperation(ctx, by, op.Command.Key.Operation)
		if no != none {
			return h.refused(by, why)
		}
		return h.operation(ctx, by, now, why, s)
	}
	return answer{to: h.operationPath(op.Command.Key.Operation)}
}

// saidBefore reports whether the operator has said the same before: the second click of two.
func saidBefore(op idem.Record, r idem.Resolution) bool {
	was := op.Resolution
	return was != nil && was.By == r.By && was.State == r.State && was.Reason == r.Reason && was.Evidence == r.Evidence
}

// doubt says why a resolution is not even handed on.
func (h *Handler) doubt(by approval.Principal, op idem.Record, r idem.Resolution, s sent) problem {
	switch {
	case op.State != idem.Unknown:
		return notUnknown
	case !h.signer.verify(s.field("token"), by, toResolve, op.Command.Key.Operation, s.field("known")):
		return wrongToken
	case s.field("known") != known(op):
		return moreIsKnown
	case r.State != idem.Succeeded && r.State != idem.Failed:
		return stateMissing
	case r.Reason == "" || !textual(r.Reason, maxResolveReason):
		return whyMissing
	case r.Evidence == "" || !textual(r.Evidence, maxEvidence):
		return evidenceMissing
	}
	return none
}
