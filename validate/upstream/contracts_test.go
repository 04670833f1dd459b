package upstream_test

import (
	"time"

	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// The three contracts of the recorded responses.
type (
	reviewQuery struct {
		ChangeID string `json:"change_id" jsonschema:"pattern=^CR-[0-9]{1\\,10}$"`
	}
	reviewStatus struct {
		ChangeID   string `json:"change_id" jsonschema:"pattern=^CR-[0-9]{1\\,10}$"`
		Decision   string `json:"decision" jsonschema:"enum=approved,enum=rejected,enum=pending"`
		ReviewedBy string `json:"reviewed_by" jsonschema:"minLength=1,maxLength=128"`
	}
	jobQuery struct {
		ProjectID string `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
		RunID     string `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
	}
	jobRun struct {
		ProjectID  string `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
		RunID      string `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
		State      string `json:"state" jsonschema:"enum=failed,enum=running,enum=succeeded,enum=cancelled"`
		ObservedAt string `json:"observed_at" jsonschema:"format=date-time"`
	}
	shipmentQuery struct {
		Limit  int    `json:"limit,omitzero" jsonschema:"minimum=1,maximum=100"`
		Cursor string `json:"cursor,omitzero" jsonschema:"maxLength=200"`
	}
	shipment struct {
		ShipmentRef string `json:"shipment_ref" jsonschema:"pattern=^ship_[A-Z0-9]{8}$"`
		Status      string `json:"status" jsonschema:"enum=created,enum=in_transit,enum=delivered"`
		Version     int64  `json:"version"`
	}
	shipments struct {
		Items      []shipment `json:"items" jsonschema:"maxItems=100"`
		NextCursor *string    `json:"next_cursor,omitzero" jsonschema:"maxLength=200"`
	}
)

// recordedAt is when the recorded responses came.
var recordedAt = time.Date(2026, 8, 14, 16, 25, 0, 0, time.UTC)

func reviewOperation() upstream.Operation[reviewQuery, reviewStatus] {
	return upstream.Operation[reviewQuery, reviewStatus]{
		Name: "reviews.status", Owner: "team reviews", Version: "3",
		Same: func(asked reviewQuery, got reviewStatus) error {
			return validate.Same("change_id", asked.ChangeID, got.ChangeID)
		},
	}
}

func jobOperation() upstream.Operation[jobQuery, jobRun] {
	return upstream.Operation[jobQuery, jobRun]{
		Name: "ci.job_run", Owner: "team builds", Version: "3",
		Same: func(asked jobQuery, got jobRun) error {
			if err := validate.Same("project_id", asked.ProjectID, got.ProjectID); err != nil {
				return err
			}
			return validate.Same("run_id", asked.RunID, got.RunID)
		},
		Fresh: func(now time.Time, got jobRun) error {
			return upstream.FreshText("observed_at", got.ObservedAt, now, 5*time.Minute)
		},
	}
}

func shipmentOperation() upstream.Operation[shipmentQuery, shipments] {
	return upstream.Operation[shipmentQuery, shipments]{
		Name: "depot.shipments", Owner: "team depot", Version: "3",
		Check: func(asked shipmentQuery, got shipments) error {
			if got.NextCursor == nil {
				return nil
			}
			return upstream.Advances("next_cursor", asked.Cursor, *got.NextCursor)
		},
	}
}
