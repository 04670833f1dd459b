package main

import (
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// runQuery is the run that jobctl is asked about.
type runQuery struct {
	ProjectID string `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
	RunID     string `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
}

// jobRun is what jobctl show answers, all of it: a name more, and nothing of it is believed.
type jobRun struct {
	ProjectID  string    `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
	RunID      string    `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
	State      string    `json:"state" jsonschema:"enum=failed,enum=running,enum=succeeded,enum=cancelled"`
	Attempt    int       `json:"attempt" jsonschema:"minimum=1"`
	ObservedAt time.Time `json:"observed_at"`
}

// restart is what is asked for, and restarted what jobctl restart and jobctl lookup answer.
type restart struct {
	ProjectID string `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
	RunID     string `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
	Key       string `json:"key" jsonschema:"pattern=^[0-9a-z]{16\\,128}$"`
	Attempt   string `json:"if_attempt" jsonschema:"pattern=^[0-9]{1\\,9}$"`
}

type restarted struct {
	ProjectID  string    `json:"project_id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]{2\\,62}$"`
	RunID      string    `json:"run_id" jsonschema:"pattern=^run_[A-Za-z0-9]{12\\,48}$"`
	Attempt    int       `json:"attempt" jsonschema:"minimum=2"`
	Key        string    `json:"key" jsonschema:"pattern=^[0-9a-z]{16\\,128}$"`
	AcceptedAt time.Time `json:"accepted_at"`
}

// jobs are the three questions to jobctl.
type jobs struct {
	show    *upstream.Client[runQuery, jobRun]
	cached  *upstream.Cache[runQuery, jobRun]
	restart *upstream.Client[restart, restarted]
	lookup  *upstream.Client[restart, restarted]
}

// recent is how old an answer about a run may be: a restart that is decided on an older one restarts what nobody looked
// at.
const recent = 5 * time.Minute

func newJobs(runner upstream.Runner, host upstream.Host) (j jobs, err error) {
	j.show, err = upstream.NewCommand(upstream.Command[runQuery, jobRun]{
		Operation: upstream.Operation[runQuery, jobRun]{
			Name: "jobctl.show", Owner: "team builds", Version: "4", Host: host,
			Same: func(asked runQuery, got jobRun) error {
				if err := validate.Same("project_id", asked.ProjectID, got.ProjectID); err != nil {
					return err
				}
				return validate.Same("run_id", asked.RunID, got.RunID)
			},
			Fresh: func(now time.Time, got jobRun) error {
				return validate.Fresh("observed_at", got.ObservedAt, now, recent)
			},
		},
		Runner: runner,
		Args: func(q runQuery) ([]string, error) {
			return []string{"show", "--project=" + q.ProjectID, "--run=" + q.RunID}, nil
		},
		Exits: map[int]envelope.Code{4: envelope.NotFound},
	})
	if err != nil {
		return j, err
	}
	if j.cached, err = upstream.NewCache(j.show, upstream.CacheConfig{TTL: time.Hour}); err != nil {
		return j, err
	}
	if j.restart, err = newRestart("restart", runner, host); err != nil {
		return j, err
	}
	j.lookup, err = newRestart("lookup", runner, host)
	return j, err
}

// newRestart is for the two verbs that answer with a restart: the one that makes it and the one that says what a key
// did.
func newRestart(verb string, runner upstream.Runner, host upstream.Host) (*upstream.Client[restart, restarted], error) {
	return upstream.NewCommand(upstream.Command[restart, restarted]{
		Operation: upstream.Operation[restart, restarted]{
			Name: "jobctl." + verb, Owner: "team builds", Version: "4", Host: host,
			Same: func(asked restart, got restarted) error {
				if err := validate.Same("project_id", asked.ProjectID, got.ProjectID); err != nil {
					return err
				}
				if err := validate.Same("run_id", asked.RunID, got.RunID); err != nil {
					return err
				}
				return validate.Same("key", asked.Key, got.Key)
			},
		},
		Runner: runner,
		Args: func(q restart) ([]string, error) {
			return []string{verb, "--project=" + q.ProjectID, "--run=" + q.RunID, "--if-attempt=" + q.Attempt, "--key=" + q.Key}, nil
		},
		// 4: no such run, or key. 5: the attempt is not the one that was named; nothing was done.
		Exits: map[int]envelope.Code{4: envelope.NotFound, 5: envelope.VersionConflict},
	})
}
