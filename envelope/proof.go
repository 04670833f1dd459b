package envelope

import (
	"context"
	"errors"

	"github.com/toolcontract/toolcontract/internal/claimctx"
)

// Proof says what an error returned by a write's Commit, Status or Cancel proves. The zero value proves nothing:
// the outcome is unknown.
type Proof uint8

// What an error can prove.
const (
	ProofNothing Proof = iota // the request may have had its effect
	ProofRefused              // the provider read the request and finally refused it
	ProofNotSent              // no byte of the request left
	ProofRunning              // the provider took the request and works on it
)

func (p Proof) String() string {
	switch p {
	case ProofNothing:
		return "nothing"
	case ProofRefused:
		return "refused"
	case ProofNotSent:
		return "not sent"
	case ProofRunning:
		return "running"
	}
	return "invalid"
}

type proven struct {
	proof   Proof
	refusal *Error
	receipt string
	cause   error
}

func (p *proven) Error() string {
	if p.refusal != nil {
		return "refused: " + p.refusal.Error()
	}
	return p.proof.String()
}

func (p *proven) Unwrap() error {
	if p.refusal != nil {
		return p.refusal
	}
	return p.cause
}

// Refused says that the provider read the whole request and finally refused it with e: the operation failed, effect none.
// Refused(nil) proves nothing.
func Refused(e *Error) error {
	if e == nil {
		return &proven{proof: ProofNothing}
	}
	return &proven{proof: ProofRefused, refusal: e}
}

// NotSent says that no byte of the request left this process; err is the cause, for the operators, and may be nil.
// It is believed only when [Sent] was not called for the claim.
func NotSent(err error) error { return &proven{proof: ProofNotSent, cause: err} }

// Running says that the provider accepted the request, works on it, and can be asked by receipt.
func Running(receipt string) error { return &proven{proof: ProofRunning, receipt: receipt} }

// Sent says that bytes of the claim that ctx belongs to may have left. Call it before the first byte.
// Outside a write's Commit it does nothing.
func Sent(ctx context.Context) { claimctx.Set(ctx) }

// Proven returns what err proves, with Refused's error or Running's receipt. A proof wrapped with %w counts; beside
// another error in a join it does not, for then the two may say different things.
func Proven(err error) (p Proof, refusal *Error, receipt string) {
	for err != nil {
		if v, ok := err.(*proven); ok { //nolint:errorlint // a walk that must not enter joins
			return v.proof, v.refusal, v.receipt
		}
		err = errors.Unwrap(err)
	}
	return ProofNothing, nil, ""
}
