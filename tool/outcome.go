package tool

import (
	"context"
	"time"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
)

// maxReceipt is the longest receipt of a provider, in bytes.
const maxReceipt = 4096

// pollEvery is when a running operation is next asked for.
const pollEvery = 5 * time.Second

// outcome says what a Commit came to, by what it returned and by whether bytes may have left.
func (d *Dispatcher) outcome(ctx context.Context, s dispatch, cmd command, p product, err error, sent bool) idem.Outcome {
	if err == nil {
		return d.produced(ctx, s, cmd, p)
	}
	e := examine(err)
	switch {
	case e.proof == envelope.ProofRefused:
		return refused(s.def.write.commit, e.refusal)
	case e.proof == envelope.ProofNotSent && !sent:
		return idem.Outcome{State: idem.Pending, RetryAfter: backOff(s.attempt)}
	case e.proof == envelope.ProofRunning && validReceipt(e.receipt):
		return idem.Outcome{State: idem.Running, Receipt: e.receipt, RetryAfter: pollEvery}
	}
	return d.doubted(ctx, s, cmd, err)
}

func refused(t *callable, refusal *envelope.Error) idem.Outcome {
	e := declaredFailure(t, refusal)
	e.Effect = envelope.EffectNone
	return idem.Outcome{State: idem.Failed, Failure: e}
}

func validReceipt(r string) bool { return r != "" && len(r) <= maxReceipt && utf8.ValidString(r) }

// produced believes a value as far as it proves itself: its evidence, its schema, Verify.
func (d *Dispatcher) produced(ctx context.Context, s dispatch, cmd command, p product) idem.Outcome {
	w := s.def.write
	p.complete(expected(cmd.Operation, cmd.Target, s.proposal.Diffs))
	if err := d.evidence(ctx, s, cmd, p); err != nil {
		return d.doubted(ctx, s, cmd, err)
	}
	data, err := p.encode()
	if err != nil {
		e := envelope.New(envelope.OutputInvalid).WithCause(err)
		e.Effect = envelope.EffectDone
		d.quarantine(ctx, w.commit, cmd.By, e, p.raw())
		d.meter.broken(ctx, w.commit, err)
		return idem.Outcome{State: idem.Succeeded, Failure: e.Bare()}
	}
	if _, err := guarded(ctx, nil, s.def.spec.Timeout, func(ctx context.Context) (struct{}, error) { return struct{}{}, p.verify(ctx) }); err != nil {
		return d.doubted(ctx, s, cmd, err)
	}
	return idem.Outcome{State: idem.Succeeded, Result: data}
}

// evidence checks that the value speaks of this operation and names the version that it made. A target that is gone has
// none.
func (d *Dispatcher) evidence(ctx context.Context, s dispatch, cmd command, p product) error {
	e := p.evidence()
	if err := e.bound(cmd.Operation, cmd.Target); err != nil {
		return err
	}
	w := s.def.write
	if e.NewVersion != "" || w.unversioned {
		return nil
	}
	_, err := guarded(ctx, nil, s.def.spec.Timeout, func(ctx context.Context) (string, error) { return w.current(ctx, cmd.By, cmd.Target) })
	if err != nil && crossing(ctx, w.commit, err).Code == envelope.NotFound {
		return nil
	}
	return errNoVersion
}

// doubted is the outcome that nobody can prove; the cause goes to the operators.
func (d *Dispatcher) doubted(ctx context.Context, s dispatch, cmd command, cause error) idem.Outcome {
	if cause == nil {
		cause = errNoProof
	}
	d.log("outcome_unknown", cmd.By.RequestID, cause)
	d.quarantine(ctx, s.def.write.commit, cmd.By, envelope.New(envelope.OutcomeUnknown).WithCause(cause), nil)
	return idem.Outcome{State: idem.Unknown, RetryAfter: backOff(s.attempt)}
}
