package approvalweb

import (
	"errors"
	"net/http"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// problem is why something was not done. The zero value is none.
type problem uint8

const (
	none problem = iota
	notSignedIn
	anotherSite
	badForm
	badPage
	notFound
	notYours
	notAsked
	wrongToken
	wrongDigest
	ownProposal
	stale
	notChecked
	reasonMissing
	reasonFaulty
	targetWrong
	tooLate
	decided
	consumed
	lost
	stateMissing
	whyMissing
	evidenceMissing
	moreIsKnown
	notUnknown
	tooEarly
	notOperator
	forgotten
)

// saying is a problem in words for a person. No word of it comes from a cause or an input.
type saying struct {
	Status         int
	Heading, Words string
	Field          string // the field of the form that must be mended; empty: none
}

func (p problem) say() saying {
	return [...]saying{
		none: {Status: http.StatusOK},
		notSignedIn: {
			http.StatusUnauthorized, "You are not signed in",
			"Sign in first, then open this page again.", "",
		},
		anotherSite: {
			http.StatusForbidden, "This came from another site",
			"Nothing was done. Decide on the page itself.", "",
		},
		badForm: {
			http.StatusBadRequest, "The form could not be read",
			"Nothing was done. Open the page again.", "",
		},
		badPage: {
			http.StatusBadRequest, "There is no such page of the list",
			"Go back to its beginning.", "",
		},
		notFound: {
			http.StatusNotFound, "There is nothing here",
			"It does not exist, or it is not yours to see.", "",
		},
		notYours: {
			http.StatusForbidden, "You may not decide about this",
			"It needs a role or a group that you do not have. Nothing was done.", "",
		},
		notAsked: {
			http.StatusServiceUnavailable, "It cannot be shown now",
			"A system that this page depends on did not answer. Nothing was done; try again soon.", "",
		},
		wrongToken: {
			http.StatusForbidden, "This form is not valid here",
			"It was made for somebody else, or for something else, or too long ago. Nothing was done; read it again and decide anew.", "",
		},
		wrongDigest: {
			http.StatusConflict, "This is not what was shown",
			"What is stored is not what you were shown. Nothing was done; tell whoever runs this system.", "",
		},
		ownProposal: {
			http.StatusForbidden, "You asked for this yourself",
			"Nobody approves what they have asked for. Somebody else must decide. Nothing was done.", "",
		},
		stale: {
			http.StatusConflict, "It has changed since it was proposed",
			"Your approval was not stored, and nothing was written. A new proposal is needed.", "",
		},
		notChecked: {
			http.StatusServiceUnavailable, "It could not be checked",
			"Whether this has changed since it was proposed could not be found out, so your approval was not stored. Try again soon.", "",
		},
		reasonMissing: {
			http.StatusUnprocessableEntity, "Say why you turn it down",
			"The agent reads your reason. Nothing was stored yet.", "reason",
		},
		reasonFaulty: {
			http.StatusUnprocessableEntity, "This reason cannot be taken",
			"It must be text of at most 500 characters. Nothing was stored yet.", "reason",
		},
		targetWrong: {
			http.StatusUnprocessableEntity, "That is not its name",
			"Type the name exactly as it is shown: this cannot be taken back. Nothing was stored yet.", "target",
		},
		tooLate: {
			http.StatusConflict, "Its time is over",
			"Nothing was stored, and nothing will be written. A new proposal is needed.", "",
		},
		decided: {
			http.StatusConflict, "It is decided already",
			"Nothing was added: your answer came later, or is another than the one that you gave before.", "",
		},
		consumed: {
			http.StatusConflict, "It is being carried out already",
			"Nothing was added: the approval has been used.", "",
		},
		lost: {
			http.StatusServiceUnavailable, "It is not known whether that was stored",
			"A system that this page depends on did not answer. Look below at how it stands, and try again: saying the same twice does no harm.", "",
		},
		stateMissing: {
			http.StatusUnprocessableEntity, "Say what became of it",
			"Choose one of the two. Nothing was stored yet.", "state",
		},
		whyMissing: {
			http.StatusUnprocessableEntity, "Say why you are sure",
			"Give your reason, of at most 500 characters. Nothing was stored yet.", "reason",
		},
		evidenceMissing: {
			http.StatusUnprocessableEntity, "Say what proves it",
			"Name what you have seen, in at most 2,000 characters. Nothing was stored yet.", "evidence",
		},
		moreIsKnown: {
			http.StatusConflict, "More is known than you were shown",
			"Something was learnt about it after this form was made. Nothing was stored; read it again.", "",
		},
		notUnknown: {
			http.StatusConflict, "It is no longer unknown",
			"What became of it has been found out otherwise. Nothing was stored.", "",
		},
		tooEarly: {
			http.StatusConflict, "It is too early to say that it failed",
			"A request may still be on its way to the provider and have its effect. Nothing was stored; try again when the time below has passed.", "state",
		},
		notOperator: {
			http.StatusForbidden, "You may not resolve this",
			"It needs a right that you do not have. Nothing was done.", "",
		},
		forgotten: {
			http.StatusGone, "It is no longer kept",
			"The operation ended long ago, and only its end is remembered.", "",
		},
	}[p]
}

// refusalPage is a page that has nothing to show but why.
type refusalPage struct {
	frame
	Problem saying
}

func (h *Handler) refused(by approval.Principal, p problem) answer {
	s := p.say()
	return answer{status: s.Status, page: "refusal", data: refusalPage{h.frame(by, s.Heading), s}}
}

// undecided puts what Decide answered into words.
func (h *Handler) undecided(err error) problem {
	switch {
	case errors.Is(err, approval.ErrNotFound):
		return notFound
	case errors.Is(err, approval.ErrSelf):
		return ownProposal
	case errors.Is(err, approval.ErrNotAllowed):
		return notYours
	case errors.Is(err, approval.ErrDigest):
		return wrongDigest
	case errors.Is(err, approval.ErrExpired):
		return tooLate
	case errors.Is(err, approval.ErrConsumed):
		return consumed
	case errors.Is(err, approval.ErrDecided):
		return decided
	case errors.Is(err, approval.ErrReason):
		return reasonFaulty
	}
	h.failed("decide", err)
	return lost
}

// unresolved puts what Resolve answered into words.
func (h *Handler) unresolved(err error) problem {
	switch {
	case errors.Is(err, idem.ErrNotFound):
		return notFound
	case errors.Is(err, idem.ErrGone):
		return forgotten
	case errors.Is(err, approval.ErrNotAllowed):
		return notOperator
	case errors.Is(err, idem.ErrBusy):
		return tooEarly
	case errors.Is(err, idem.ErrState):
		return notUnknown
	}
	h.failed("resolve", err)
	return lost
}

// freshness is what a check of the target came to. The zero value: it could not be found out.
type freshness string

const (
	isFresh freshness = "fresh"
	isStale freshness = "stale"
)

func judged(err error) freshness {
	if err == nil {
		return isFresh
	}
	if e, ok := errors.AsType[*envelope.Error](err); ok && e.Code == envelope.VersionConflict {
		return isStale
	}
	return ""
}
