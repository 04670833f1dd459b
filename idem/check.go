package idem

import (
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/internal/said"
	"github.com/toolcontract/toolcontract/internal/storable"
)

func invalid(what string) error { return fmt.Errorf("%w: %s", ErrInvalid, what) }

// Validate reports every fault of a command that Admit refuses, by the field's name; they are ErrInvalid.
func (c Command) Validate() error {
	var errs []error
	for _, f := range [...]struct{ name, text string }{
		{"tenant", c.Key.Tenant}, {"operation", c.Key.Operation}, {"request hash", c.RequestHash}, {"resource", c.Resource},
	} {
		if f.text == "" {
			errs = append(errs, invalid("command: "+f.name+" is empty"))
		}
	}
	for _, f := range [...]struct{ name, text string }{
		{"tenant", c.Key.Tenant},
		{"operation", c.Key.Operation},
		{"request hash", c.RequestHash},
		{"resource", c.Resource},
		{"tool", c.Tool},
		{"proposal", c.Proposal},
		{"run", c.Run},
		{"provider key", c.ProviderKey},
	} {
		if !storable.Text(f.text) {
			errs = append(errs, invalid("command: "+f.name+" is no text"))
		}
	}
	for k, v := range c.Meta {
		if !storable.Text(k, v) {
			errs = append(errs, invalid("command: meta is no text"))
			break
		}
	}
	for _, f := range [...]struct {
		name string
		n    int64
	}{
		{"sequence", c.Seq},
		{"attempts", int64(c.Attempts)},
		{"available in", int64(c.AvailableIn)},
		{"expires in", int64(c.ExpiresIn)},
		{"dedup for", int64(c.DedupFor)},
		{"run for", int64(c.RunFor)},
		{"settle", int64(c.Settle)},
	} {
		if f.n < 0 {
			errs = append(errs, invalid("command: "+f.name+" is negative"))
		}
	}
	switch c.Contract {
	case "", ReplaySafe, StatusQueryable, NotFoundIsFinal, None:
	default:
		errs = append(errs, invalid("command: contract"))
	}
	return errors.Join(errs...)
}

func (c Command) attempts() int {
	if c.Attempts == 0 {
		return DefaultAttempts
	}
	return c.Attempts
}

func (c Command) runFor() time.Duration { return orDefault(c.RunFor, DefaultRunFor) }
func (c Command) settle() time.Duration { return orDefault(c.Settle, DefaultSettle) }

func orDefault(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

func checkLease(token, worker string, lease time.Duration) error {
	switch {
	case lease <= 0:
		return invalid("lease")
	case token == "":
		return invalid("token is empty")
	case !storable.Text(worker):
		return invalid("worker is no text")
	}
	return nil
}

// Validate reports the fault of an outcome that Finish refuses whatever the claim; it is ErrInvalid.
func (o Outcome) Validate() error {
	switch {
	case !o.State.valid():
		return invalid("outcome: state")
	case !storable.Text(o.Receipt):
		return invalid("outcome: receipt is no text")
	case o.RetryAfter < 0:
		return invalid("outcome: retry time is negative")
	case o.State != Succeeded && o.Result != nil && o.State.Terminal():
		return invalid("outcome: a result without success")
	case o.Result != nil && o.Failure != nil && o.State.Terminal():
		return invalid("outcome: result and failure")
	}
	return checkResult("outcome", o.Result)
}

// Validate reports the fault of a resolution that Resolve refuses whatever the operation; it is ErrInvalid.
func (r Resolution) Validate() error {
	switch {
	case r.By == "" || !said.Something(r.Reason) || !said.Something(r.Evidence):
		return invalid("resolution: by, reason and evidence must be said")
	case !storable.Text(r.By, r.Reason, r.Evidence):
		return invalid("resolution: no text")
	case r.State != Succeeded && r.State != Failed:
		return invalid("resolution: state")
	case r.State == Succeeded && r.Failure != nil || r.State == Failed && r.Result != nil:
		return invalid("resolution: result or failure of the other state")
	}
	return checkResult("resolution", r.Result)
}

func checkResult(of string, v jsontext.Value) error {
	if v != nil && !v.IsValid() {
		return invalid(of + ": the result is no JSON value")
	}
	return nil
}
