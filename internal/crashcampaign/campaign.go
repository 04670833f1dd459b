package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/toolcontract/toolcontract/internal/crashpoint"
)

// campaign is a series of processes, each of which commits one proposal and is killed at one step.
type campaign struct {
	ledger, contract string
	kills            int
	verbose          bool

	dir, child string
	env        []string
	provider   *provider
	plays      []play
}

// play is one proposal: which account it changes, and how it was killed.
type play struct {
	account, point, proposal string
	state                    string // of its operation, as the last process told it
}

// report is what a campaign came to.
type report struct {
	contract                                         string
	kills, effects, unknown, duplicates, lost, stuck int
}

func (r report) String() string {
	unknown := ""
	if r.contract != "replay_safe" {
		unknown = fmt.Sprintf(" unknown %d", r.unknown)
	}
	return fmt.Sprintf("kills %d effects %d%s duplicates %d lost %d stuck %d", r.kills, r.effects, unknown, r.duplicates, r.lost, r.stuck)
}

// clean: nothing ran twice, nothing is lost, nothing hangs. Where a request may be repeated everything ran, and nothing is
// unknown; elsewhere what did not run is.
func (r report) clean() bool {
	all := r.effects+r.unknown >= r.kills
	if r.contract == "replay_safe" {
		all = r.effects == r.kills && r.unknown == 0
	}
	return all && r.duplicates == 0 && r.lost == 0 && r.stuck == 0
}

// points are the steps to die at. The last two need an operation whose answer was lost.
var points = []string{ //nolint:gochecknoglobals // a constant list
	crashpoint.BeforeAdmit, crashpoint.InAdmit, crashpoint.AfterAdmit, crashpoint.AfterConsume, crashpoint.AfterClaim,
	crashpoint.AfterEffect, crashpoint.BeforeFinish, crashpoint.AfterFinish, crashpoint.ResolverHolds, crashpoint.BeforeResend,
}

const (
	childTime = 30 * time.Second // for one process until it dies
	drainTime = 3 * time.Minute  // for the last one until nothing is open
	resumed   = 4                // how many earlier proposals each process commits again
)

func (c *campaign) run(ctx context.Context) (report, error) {
	dir, err := os.MkdirTemp("", "crashcampaign")
	if err != nil {
		return report{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	c.dir = dir
	if err := c.build(ctx); err != nil {
		return report{}, err
	}
	stores, err := openStores(ctx, c.ledger)
	if err != nil {
		return report{}, err
	}
	defer stores.drop()
	c.env = append(os.Environ(), stores.env...)
	if c.provider, err = startProvider(ctx, c.contract == "replay_safe"); err != nil {
		return report{}, err
	}
	defer c.provider.server.Close() //nolint:errcheck // ends with the command
	if err := c.killAll(ctx); err != nil {
		return report{}, err
	}
	if err := c.drain(ctx); err != nil {
		return report{}, err
	}
	return c.count(), nil
}

// build makes the child with its crash points switched on.
func (c *campaign) build(ctx context.Context) error {
	c.child = filepath.Join(c.dir, "child")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "crashpoint", "-o", c.child, //nolint:gosec // our own package
		"github.com/toolcontract/toolcontract/internal/crashcampaign/child")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the child: %w: %s", err, out)
	}
	return nil
}

func (c *campaign) killAll(ctx context.Context) error {
	misses := 0
	for n := 0; len(c.plays) < c.kills; n++ {
		if n > 4*c.kills+40 {
			return fmt.Errorf("after %d processes only %d proposals were killed", n, len(c.plays))
		}
		point := points[n%len(points)]
		if c.contract != "replay_safe" && point == crashpoint.BeforeResend {
			continue // nothing is sent again
		}
		if c.ledger == "postgres" && point == crashpoint.InAdmit {
			continue // one statement: it is there or it is not
		}
		p := play{account: "account-" + strconv.Itoa(n), point: point}
		killed, err := c.start(ctx, &p)
		if err != nil {
			return err
		}
		c.note("%-14s %-16s %s", p.account, p.point, map[bool]string{true: "killed", false: "survived"}[killed])
		switch {
		case killed && p.proposal != "":
			c.plays = append(c.plays, p)
			continue
		case killed: // over an earlier proposal, before it made one
			continue
		}
		if misses++; misses > c.kills/5+5 {
			return fmt.Errorf("%d processes survived their crash point, the last %s", misses, point)
		}
	}
	return nil
}

// start runs one process until it dies, or has done all that it was asked to.
func (c *campaign) start(ctx context.Context, p *play) (killed bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, childTime)
	defer cancel()
	args := []string{"-account", p.account}
	if p.point == crashpoint.ResolverHolds || p.point == crashpoint.BeforeResend {
		args = append(args, "-lose")
	}
	lines, err := c.child1(ctx, append(args, "-commit", strings.Join(c.unfinished(), ",")), p.point)
	for _, line := range lines {
		if id, ok := strings.CutPrefix(line, "proposal "); ok {
			p.proposal = id
		}
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() && ws.Signal() == syscall.SIGKILL && ctx.Err() == nil {
			return true, nil
		}
	}
	if p.proposal == "" && err == nil {
		err = fmt.Errorf("%s made no proposal: %q", p.account, lines)
	}
	return false, err
}

// unfinished are the last proposals, to be committed again as a client would that got no answer.
func (c *campaign) unfinished() []string {
	ids := make([]string, 0, resumed)
	for _, p := range c.plays[max(0, len(c.plays)-resumed):] {
		ids = append(ids, p.proposal)
	}
	return ids
}

func (c *campaign) child1(ctx context.Context, args []string, point string) ([]string, error) {
	args = append(args, "-ledger", c.ledger, "-dir", c.dir, "-provider", c.provider.address, "-contract", c.contract)
	cmd := exec.CommandContext(ctx, c.child, args...) //nolint:gosec // built above
	cmd.Env = append(slices.Clone(c.env), "TOOLCONTRACT_CRASHPOINT="+point)
	if c.verbose {
		cmd.Stderr = os.Stderr
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var lines []string
	for s := bufio.NewScanner(out); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines, cmd.Wait()
}

// drain runs one process that nobody kills until nothing is open, and reads from it what became of each proposal.
func (c *campaign) drain(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, drainTime+childTime)
	defer cancel()
	ids := make([]string, 0, len(c.plays))
	for _, p := range c.plays {
		ids = append(ids, p.proposal)
	}
	file := filepath.Join(c.dir, "proposals")
	if err := os.WriteFile(file, []byte(strings.Join(ids, "\n")), 0o600); err != nil {
		return err
	}
	lines, err := c.child1(ctx, []string{"-drain", file, "-for", drainTime.String()}, "")
	if err != nil {
		return fmt.Errorf("the last process: %w", err)
	}
	states := map[string]string{}
	for _, line := range lines {
		if id, state, ok := strings.Cut(line, " is "); ok {
			states[id] = state
		}
	}
	for i := range c.plays {
		c.plays[i].state = states[c.plays[i].proposal]
	}
	return nil
}

// count holds what the ledger says against what the provider did.
func (c *campaign) count() report {
	r := report{contract: c.contract, kills: len(c.plays)}
	c.provider.mu.Lock()
	defer c.provider.mu.Unlock()
	for _, p := range c.plays {
		effects := c.provider.effects[p.account]
		r.effects += min(effects, 1)
		r.duplicates += max(effects-1, 0)
		if p.state == "unknown" {
			r.unknown++
		}
		complaint := ""
		switch {
		case p.state == "succeeded" && effects == 0, p.state != "succeeded" && p.state != "unknown" && effects > 0:
			r.lost++
			complaint = "lost"
		case p.state == "succeeded", p.state == "unknown" && c.mayStayUnknown(effects):
		default:
			r.stuck++
			complaint = "stuck"
		}
		if complaint != "" || effects > 1 {
			c.note("%-14s killed %-16s is %q with %d effects %s", p.account, p.point, p.state, effects, complaint)
		}
	}
	return r
}

// mayStayUnknown: nobody can be asked, or the provider that was asked does not know the request.
func (c *campaign) mayStayUnknown(effects int) bool {
	return c.contract == "none" || c.contract == "status_queryable" && effects == 0
}

func (c *campaign) note(format string, args ...any) {
	if c.verbose {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}
