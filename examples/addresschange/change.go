package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/addresschange/internal/crm"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// addressChange is what a model may ask for: whose address, and where to.
type addressChange struct {
	CustomerID  string                                    `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
	Destination validate.OneOf[destination, destinations] `json:"destination"`
}

// destination is a saved address or a new one; "kind" says which.
type destination interface{ isDestination() }

type saved struct {
	AddressID string `json:"address_id"`
}

type fresh address

func (saved) isDestination() {}
func (fresh) isDestination() {}

type destinations struct{}

// Cases implements validate.Cases.
func (destinations) Cases() []validate.Case[destination] {
	return []validate.Case[destination]{
		validate.Of[destination, saved]("saved"),
		validate.Of[destination, fresh]("new"),
	}
}

// addressPlan is what is shown, approved and run: nothing in it is left to be looked up.
type addressPlan struct {
	CustomerID string  `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
	Address    address `json:"address"`
}

type addressChanged struct {
	tool.Evidence
	CustomerID string  `json:"customer_id" jsonschema:"minLength=1,maxLength=64" redact:"trusted"`
	Address    address `json:"address"`
}

const addressUnchanged envelope.Code = "ADDRESS_UNCHANGED"

func (d desk) addressChange() tool.Write[addressChange, addressPlan, addressChanged] {
	return tool.Write[addressChange, addressPlan, addressChanged]{
		Spec: tool.Spec{
			Name: "address_change", Version: 2, Owner: "support", Timeout: 10 * time.Second,
			Description: "Replace a customer's shipping address by one of the address book or by a new one.",
			Purpose:     "Sending parcels to where the customer lives now.",
			Failures: []envelope.Failure{
				{Code: envelope.NotFound, Message: "no customer, or no saved address, of this id; read the customer for the ids that exist"},
				{Code: addressUnchanged, Message: "the customer has this address already; nothing needs to change"},
			},
			Lookups:      []string{"the saved address behind address_id", "how many orders are still to be shipped"},
			NeverCrosses: []string{"the service's idempotency key"},
		},
		Class:    tool.Reversible,
		Contract: idem.StatusQueryable, // the service can be asked what a key did, and never forgets
		Preview:  d.previewChange,
		Current:  d.currentVersion,
		Commit:   d.commitChange,
		Status:   d.changeStatus,
		Verify: func(_ context.Context, cmd tool.Approved[addressPlan], out addressChanged) error {
			return errors.Join(
				validate.Same("customer_id", cmd.Plan.CustomerID, out.CustomerID),
				validate.Same("address", cmd.Plan.Address, out.Address))
		},
	}
}

// previewChange resolves everything that the change depends on, and shows it.
func (d desk) previewChange(ctx context.Context, by tool.Caller, in addressChange) (tool.Draft[addressPlan], error) {
	var none tool.Draft[addressPlan]
	conn, err := d.dial(ctx)
	if err != nil {
		return none, failure(err, "")
	}
	c, err := conn.Customer(ctx, by.Principal.Tenant, in.CustomerID)
	if err != nil {
		return none, failure(err, "customer_id")
	}
	to, err := resolve(c, in.Destination.Value)
	if err != nil {
		return none, err
	}
	diffs := difference(address(c.Address), to)
	if len(diffs) == 0 {
		return none, envelope.New(addressUnchanged)
	}
	open, err := conn.OpenOrders(ctx, by.Principal.Tenant, in.CustomerID)
	if err != nil {
		return none, failure(err, "")
	}
	return tool.Draft[addressPlan]{
		Plan:        addressPlan{in.CustomerID, to},
		Target:      approval.Target{Type: "customer", ID: c.ID, Version: strconv.FormatInt(c.Version, 10)},
		Summary:     fmt.Sprintf("Replace the shipping address of customer %s; orders still to be shipped there: %d", c.ID, open),
		Diffs:       diffs,
		Consequence: approval.Consequence{Environment: "production", Records: new(1)},
	}, nil
}

func resolve(c crm.Customer, to destination) (address, error) {
	switch to := to.(type) {
	case fresh:
		return address(to), nil
	case saved:
		for _, s := range c.Book {
			if s.ID == to.AddressID {
				return address(s.Address), nil
			}
		}
	}
	return address{}, envelope.New(envelope.NotFound).At("destination.address_id")
}

func difference(from, to address) []approval.Diff {
	var diffs []approval.Diff
	for _, f := range []approval.Diff{
		{Field: "line1", Before: from.Line1, After: to.Line1},
		{Field: "line2", Before: from.Line2, After: to.Line2},
		{Field: "city", Before: from.City, After: to.City},
		{Field: "country", Before: from.Country, After: to.Country},
	} {
		if f.Before != f.After {
			diffs = append(diffs, f)
		}
	}
	return diffs
}

func (d desk) currentVersion(ctx context.Context, by tool.Caller, t approval.Target) (string, error) {
	conn, err := d.dial(ctx)
	if err != nil {
		return "", failure(err, "")
	}
	c, err := conn.Customer(ctx, by.Principal.Tenant, t.ID)
	if err != nil {
		return "", failure(err, "")
	}
	return strconv.FormatInt(c.Version, 10), nil
}

// commitChange sends the approved plan, on the condition that the version is still the one that was shown.
//
// Its errors follow the one rule: nothing sent is NotSent, the service's own final no is Refused, and everything else is
// returned as it is, because then nobody here knows.
func (d desk) commitChange(ctx context.Context, cmd tool.Approved[addressPlan]) (addressChanged, error) {
	version, err := strconv.ParseInt(cmd.Target.Version, 10, 64)
	if err != nil {
		return addressChanged{}, envelope.NotSent(err)
	}
	conn, err := d.dial(ctx)
	if err != nil {
		return addressChanged{}, envelope.NotSent(err)
	}
	envelope.Sent(ctx) // from here on the request may have arrived
	ch, err := conn.ReplaceAddress(ctx, crm.Replacement{
		Tenant: cmd.By.Principal.Tenant, CustomerID: cmd.Plan.CustomerID, Version: version,
		Address: crm.Address(cmd.Plan.Address), Key: cmd.ProviderKey, By: cmd.By.Principal.Subject,
	})
	switch {
	case errors.Is(err, crm.ErrVersion):
		return outdated(ctx, conn, cmd)
	case errors.Is(err, crm.ErrNotFound):
		return addressChanged{}, envelope.Refused(envelope.New(envelope.NotFound))
	case err != nil:
		return addressChanged{}, err
	}
	return changed(ch), nil
}

// outdated looks closer at "stale version". The change itself makes the version stale: a request that the network delivers
// twice succeeds and is then refused, and the refusal is what arrives. The key tells whose version it is.
func outdated(ctx context.Context, conn network, cmd tool.Approved[addressPlan]) (addressChanged, error) {
	ch, err := conn.ChangeByKey(ctx, cmd.By.Principal.Tenant, cmd.ProviderKey)
	switch {
	case errors.Is(err, crm.ErrNotFound):
		return addressChanged{}, envelope.Refused(envelope.New(envelope.VersionConflict))
	case err != nil:
		return addressChanged{}, err
	}
	return changed(ch), nil
}

// changeStatus asks what the operation's key did. "Not found" would prove nothing: the request may still be under way.
func (d desk) changeStatus(ctx context.Context, cmd tool.Approved[addressPlan], _ string) (addressChanged, error) {
	conn, err := d.dial(ctx)
	if err != nil {
		return addressChanged{}, err
	}
	ch, err := conn.ChangeByKey(ctx, cmd.By.Principal.Tenant, cmd.ProviderKey)
	if errors.Is(err, crm.ErrNotFound) {
		return addressChanged{}, idem.ErrNotFound
	}
	if err != nil {
		return addressChanged{}, err
	}
	return changed(ch), nil
}

func changed(ch crm.Change) addressChanged {
	return addressChanged{
		Evidence: tool.Evidence{
			PreviousVersion: strconv.FormatInt(ch.FromVersion, 10),
			NewVersion:      strconv.FormatInt(ch.ToVersion, 10),
			CommittedAt:     ch.At,
		},
		CustomerID: ch.CustomerID,
		Address:    address(ch.Address),
	}
}
