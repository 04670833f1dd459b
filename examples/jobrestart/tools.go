package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

func asking(by tool.Caller) upstream.Caller {
	return upstream.Caller{Tenant: by.Principal.Tenant, Tool: by.Tool, RequestID: by.RequestID}
}

func (j jobs) getRun() tool.Tool[runQuery, jobRun] {
	return tool.Tool[runQuery, jobRun]{
		Spec: tool.Spec{
			Name: "get_job_run", Version: 1, Owner: "team builds", Timeout: 10 * time.Second,
			Description: "Read the state and the attempt of one run of a project.",
			Purpose:     "Finding out what became of a build.",
		},
		Handle: func(ctx context.Context, by tool.Caller, in runQuery) (jobRun, error) {
			return j.cached.Ask(ctx, asking(by), in)
		},
	}
}

// restartPlan is what is shown, approved and run.
type restartPlan struct {
	ProjectID string `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
	RunID     string `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
}

type jobRestarted struct {
	tool.Evidence
	ProjectID string `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
	RunID     string `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
	Attempt   int    `json:"attempt" jsonschema:"minimum=2"`
}

func (j jobs) jobRestart() tool.Write[runQuery, restartPlan, jobRestarted] {
	return tool.Write[runQuery, restartPlan, jobRestarted]{
		Spec: tool.Spec{
			Name: "job_restart", Version: 1, Owner: "team builds", Timeout: 20 * time.Second,
			Description: "Restart a failed run of a project.",
			Purpose:     "Getting a build through that failed for a reason which has passed.",
			Failures: []envelope.Failure{
				{Code: envelope.PreconditionFailed, Message: "only a failed run can be restarted; read it again"},
			},
			Lookups: []string{"the run's state and attempt"},
		},
		Class:    tool.Irreversible, // what a run publishes cannot be taken back
		Contract: idem.StatusQueryable,
		Preview:  j.previewRestart,
		Current: func(ctx context.Context, by tool.Caller, t approval.Target) (string, error) {
			var q runQuery
			if _, err := fmt.Sscanf(t.ID, "%s %s", &q.ProjectID, &q.RunID); err != nil {
				return "", err
			}
			run, err := j.show.Ask(ctx, asking(by), q)
			return strconv.Itoa(run.Attempt), err
		},
		Commit: func(ctx context.Context, cmd tool.Approved[restartPlan]) (jobRestarted, error) {
			done, err := j.restart.Ask(ctx, asking(cmd.By), asked(cmd))
			// Nothing began: not sent. Exit 4 or 5: jobctl's final no. All else, however it looks: nobody here knows.
			return evident(cmd, done), upstream.Proof(err, 4, 5)
		},
		Status: func(ctx context.Context, cmd tool.Approved[restartPlan], _ string) (jobRestarted, error) {
			done, err := j.lookup.Ask(ctx, asking(cmd.By), asked(cmd))
			return evident(cmd, done), err
		},
		Verify: func(_ context.Context, cmd tool.Approved[restartPlan], out jobRestarted) error {
			return errors.Join(
				validate.Same("run_id", cmd.Plan.RunID, out.RunID),
				validate.Same("previous_version", cmd.Target.Version, strconv.Itoa(out.Attempt-1)))
		},
	}
}

// previewRestart decides on an answer of this moment, not on a kept one.
func (j jobs) previewRestart(ctx context.Context, by tool.Caller, in runQuery) (tool.Draft[restartPlan], error) {
	run, err := j.show.Ask(ctx, asking(by), in)
	if err != nil {
		return tool.Draft[restartPlan]{}, err
	}
	if run.State != "failed" {
		return tool.Draft[restartPlan]{}, envelope.New(envelope.PreconditionFailed).At("run_id")
	}
	return tool.Draft[restartPlan]{
		Plan:        restartPlan(in),
		Target:      approval.Target{Type: "job_run", ID: in.ProjectID + " " + in.RunID, Version: strconv.Itoa(run.Attempt)},
		Summary:     fmt.Sprintf("Restart run %s of %s, which failed at its attempt %d", in.RunID, in.ProjectID, run.Attempt),
		Diffs:       []approval.Diff{{Field: "attempt", Before: strconv.Itoa(run.Attempt), After: strconv.Itoa(run.Attempt + 1)}},
		Consequence: approval.Consequence{Environment: "production", Records: new(1)},
	}, nil
}

func asked(cmd tool.Approved[restartPlan]) restart {
	return restart{ProjectID: cmd.Plan.ProjectID, RunID: cmd.Plan.RunID, Key: cmd.ProviderKey, Attempt: cmd.Target.Version}
}

func evident(cmd tool.Approved[restartPlan], done restarted) jobRestarted {
	return jobRestarted{
		Evidence: tool.Evidence{
			PreviousVersion: cmd.Target.Version, NewVersion: strconv.Itoa(done.Attempt), CommittedAt: done.AcceptedAt,
		},
		ProjectID: done.ProjectID, RunID: done.RunID, Attempt: done.Attempt,
	}
}
