package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
)

type customerIn struct {
	CustomerID string `json:"customer_id" jsonschema:"pattern=^cus_[0-9]{4}$"`
}

type customerOut struct {
	CustomerID string `json:"customer_id" jsonschema:"maxLength=8" redact:"trusted"`
	Version    int64  `json:"version"`
	Address    string `json:"address" jsonschema:"maxLength=200"`
	Note       string `json:"note" jsonschema:"maxLength=500"`
}

type parcelIn struct {
	ParcelID string `json:"parcel_id" jsonschema:"pattern=^par_[0-9]{2}$"`
}

type parcelOut struct {
	ParcelID    string `json:"parcel_id" jsonschema:"maxLength=6" redact:"trusted"`
	Version     int64  `json:"version"`
	Destination string `json:"destination" jsonschema:"maxLength=200"`
}

type addressIn struct {
	CustomerID string `json:"customer_id" jsonschema:"pattern=^cus_[0-9]{4}$"`
	Address    string `json:"address" jsonschema:"minLength=1,maxLength=200"`
}

type noteIn struct {
	CustomerID string `json:"customer_id" jsonschema:"pattern=^cus_[0-9]{4}$"`
	Note       string `json:"note" jsonschema:"maxLength=500"`
}

type rerouteIn struct {
	ParcelID    string `json:"parcel_id" jsonschema:"pattern=^par_[0-9]{2}$"`
	Destination string `json:"destination" jsonschema:"minLength=1,maxLength=200"`
}

// plan is what is shown, approved and run, of each of the writes.
type plan struct {
	ID   string `json:"id" jsonschema:"maxLength=16"`
	Text string `json:"text" jsonschema:"maxLength=500"`
}

type changed struct{ tool.Evidence }

// carrier is how long a reroute takes, once it is under way.
const carrier = 2 * time.Second

func (d *desk) catalogue() (*tool.Catalog, error) {
	return tool.NewCatalog(
		d.getCustomer(),
		tool.Tool[parcelIn, parcelOut]{
			Spec: spec("get_parcel", "Read a parcel", "Read where a parcel goes."),
			Handle: func(ctx context.Context, by tool.Caller, in parcelIn) (parcelOut, error) {
				to, version, err := d.read(ctx, by.Principal.Tenant, "parcel", in.ParcelID)
				return parcelOut{in.ParcelID, version, to}, failure(err, "parcel_id")
			},
		},
		d.addressChange(),
		write[noteIn]{
			desk: d, kind: "note", field: "customer_id", class: tool.Reversible, summary: "Change the note on customer ",
			spec: spec("customer_note", "Write a note", "Replace the desk's own note on a customer."),
			plan: func(in noteIn) plan { return plan{in.CustomerID, in.Note} },
		}.definition(),
		write[rerouteIn]{
			desk: d, kind: "parcel", field: "parcel_id", class: tool.Irreversible, summary: "Reroute parcel ", takes: carrier,
			spec: spec("parcel_reroute", "Reroute a parcel", "Send a parcel to another destination. The carrier takes its time; ask for the operation."),
			plan: func(in rerouteIn) plan { return plan{in.ParcelID, in.Destination} },
		}.definition(),
	)
}

func (d *desk) addressChange() tool.Definition {
	return write[addressIn]{
		desk: d, kind: "customer", field: "customer_id", class: tool.Reversible, summary: "Change the address of customer ",
		spec: spec("address_change", "Change an address", "Replace a customer's address."),
		plan: func(in addressIn) plan { return plan{in.CustomerID, in.Address} },
	}.definition()
}

func (d *desk) getCustomer() tool.Tool[customerIn, customerOut] {
	return tool.Tool[customerIn, customerOut]{
		Spec: spec("get_customer", "Read a customer", "Read a customer's address and note."),
		Handle: func(ctx context.Context, by tool.Caller, in customerIn) (customerOut, error) {
			address, version, err := d.read(ctx, by.Principal.Tenant, "customer", in.CustomerID)
			if err != nil {
				return customerOut{}, failure(err, "customer_id")
			}
			note, _, err := d.read(ctx, by.Principal.Tenant, "note", in.CustomerID)
			return customerOut{in.CustomerID, version, address, note}, failure(err, "customer_id")
		},
	}
}

func spec(name, title, description string) tool.Spec {
	return tool.Spec{Name: name, Version: 1, Title: title, Description: description, Owner: "support", Timeout: 5 * time.Second, ClosedWorld: true}
}

// failure is what crosses of the desk's errors.
func failure(err error, field string) error {
	if errors.Is(err, errNoRecord) {
		return envelope.New(envelope.NotFound).At(field)
	}
	return err
}

// write is what the three writes differ in.
type write[In any] struct {
	desk                 *desk
	kind, field, summary string
	class                tool.Class
	spec                 tool.Spec
	takes                time.Duration
	plan                 func(In) plan
}

func (w write[In]) definition() tool.Definition {
	return tool.Write[In, plan, changed]{
		Spec: w.spec, Class: w.class, Contract: idem.StatusQueryable, RunFor: time.Hour,
		Preview: w.preview, Current: w.current, Commit: w.commit, Status: w.status,
	}
}

func (w write[In]) preview(ctx context.Context, by tool.Caller, in In) (tool.Draft[plan], error) {
	p := w.plan(in)
	before, version, err := w.desk.read(ctx, by.Principal.Tenant, w.kind, p.ID)
	if err != nil {
		return tool.Draft[plan]{}, failure(err, w.field)
	}
	return tool.Draft[plan]{
		Plan: p, Target: approval.Target{Type: w.kind, ID: p.ID, Version: strconv.FormatInt(version, 10)},
		Summary: w.summary + p.ID, Diffs: []approval.Diff{{Field: w.kind, Before: before, After: p.Text}},
	}, nil
}

func (w write[In]) current(ctx context.Context, by tool.Caller, t approval.Target) (string, error) {
	_, version, err := w.desk.read(ctx, by.Principal.Tenant, w.kind, t.ID)
	return strconv.FormatInt(version, 10), failure(err, "")
}

// commit sends the approved plan. What the desk finally refused is Refused; what it took and works on is Running; of anything else
// nobody knows.
func (w write[In]) commit(ctx context.Context, cmd tool.Approved[plan]) (changed, error) {
	version, err := strconv.ParseInt(cmd.Target.Version, 10, 64)
	if err != nil {
		return changed{}, envelope.NotSent(err)
	}
	envelope.Sent(ctx) // from here on the request may have arrived
	done, err := w.desk.change(ctx, edit{
		Tenant: cmd.By.Principal.Tenant, Kind: w.kind, ID: cmd.Plan.ID, Text: cmd.Plan.Text, Version: version, Key: cmd.ProviderKey, Takes: w.takes,
	})
	switch {
	case errors.Is(err, errStale):
		return changed{}, envelope.Refused(envelope.New(envelope.VersionConflict))
	case errors.Is(err, errNoRecord):
		return changed{}, envelope.Refused(envelope.New(envelope.NotFound))
	case err != nil:
		return changed{}, err
	}
	return w.evidence(done, cmd.ProviderKey)
}

// status asks what the operation's key did. That it did nothing so far proves nothing: the request may still be under way.
func (w write[In]) status(ctx context.Context, cmd tool.Approved[plan], _ string) (changed, error) {
	done, err := w.desk.byKey(ctx, cmd.By.Principal.Tenant, cmd.ProviderKey)
	if errors.Is(err, errNoRecord) {
		return changed{}, idem.ErrNotFound
	}
	if err != nil {
		return changed{}, err
	}
	return w.evidence(done, cmd.ProviderKey)
}

func (w write[In]) evidence(done effect, receipt string) (changed, error) {
	if w.desk.now().Before(done.At) {
		return changed{}, envelope.Running(receipt)
	}
	return changed{tool.Evidence{
		PreviousVersion: strconv.FormatInt(done.From, 10), NewVersion: strconv.FormatInt(done.To, 10), CommittedAt: done.At.UTC(),
	}}, nil
}
