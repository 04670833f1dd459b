package tool

import (
	"encoding/json/v2"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/validate"
)

// Manifest is what a pin pins of a role: for each tool its name, version, class, limits, retry, contract, time-out,
// cancellation and the digests of its schemas. It encodes as JSON with sorted tools and fixed members, the same each time.
type Manifest struct {
	Role  string         `json:"role"`
	Tools []ManifestTool `json:"tools"`
}

// ManifestTool is one tool of a Manifest. Times are texts of time.Duration.
type ManifestTool struct {
	Name         string          `json:"name"`
	Version      int             `json:"version"`
	Class        string          `json:"class"`
	Description  string          `json:"description"`
	Input        string          `json:"input"`
	Output       string          `json:"output"`
	InputLimits  validate.Limits `json:"input_limits"`
	OutputLimits validate.Limits `json:"output_limits"`
	Timeout      string          `json:"timeout"`
	PerRun       int             `json:"per_run,omitzero"`
	PerTenant    int             `json:"per_tenant,omitzero"`
	Tags         []string        `json:"tags,omitempty"`
	Failures     []string        `json:"failures,omitempty"`
	Retry        *ManifestRetry  `json:"retry,omitzero"`
	Write        *ManifestWrite  `json:"write,omitzero"`
}

// ManifestRetry is a read's declared retry.
type ManifestRetry struct {
	Attempts int      `json:"attempts"`
	Within   string   `json:"within"`
	On       []string `json:"on"`
}

// ManifestWrite is what a write declares beyond a read.
type ManifestWrite struct {
	Plan        string `json:"plan"`
	Contract    string `json:"contract"`
	Attempts    int    `json:"attempts"`
	DedupFor    string `json:"dedup_for"`
	Settle      string `json:"settle"`
	RunFor      string `json:"run_for"`
	Lifetime    string `json:"lifetime"`
	Unversioned bool   `json:"unversioned"`
	Queued      bool   `json:"queued"`
	Cancellable bool   `json:"cancellable"`
	Compensates string `json:"compensates,omitzero"`
}

// Manifest returns the role's manifest; of the zero Role an empty one.
func (c *Catalog) Manifest(r Role) Manifest {
	m := Manifest{Role: r.name}
	for _, name := range r.names {
		m.Tools = append(m.Tools, r.tools[name].manifest())
	}
	return m
}

func (t *callable) manifest() ManifestTool {
	s := t.def.spec
	m := ManifestTool{
		Name: t.wire, Version: s.Version, Class: t.class.String(), Description: s.Description,
		Input: t.input.Digest(), Output: t.output.Digest(), InputLimits: s.Input, OutputLimits: s.Output,
		Timeout: s.Timeout.String(), PerRun: s.PerRun, PerTenant: s.PerTenant, Tags: slices.Sorted(slices.Values(s.Tags)),
	}
	for _, f := range s.Failures {
		m.Failures = append(m.Failures, string(f.Code))
	}
	slices.Sort(m.Failures)
	if r := t.def.retry; r.Attempts > 1 {
		m.Retry = &ManifestRetry{Attempts: r.Attempts, Within: r.Within.String()}
		for _, code := range r.On {
			m.Retry.On = append(m.Retry.On, string(code))
		}
		slices.Sort(m.Retry.On)
	}
	if w := t.def.write; w != nil {
		m.Write = w.manifest()
	}
	return m
}

func (w *writeOps) manifest() *ManifestWrite {
	return &ManifestWrite{
		Plan: w.plan.Digest(), Contract: string(w.contract), Attempts: w.attempts, DedupFor: w.dedupFor.String(),
		Settle: w.settle.String(), RunFor: w.runFor.String(), Lifetime: lifetimeText(w.lifetime), Unversioned: w.unversioned,
		Queued: w.queued, Cancellable: w.cancel != nil, Compensates: w.compensates,
	}
}

func lifetimeText(d time.Duration) string {
	if d == 0 {
		return "the policy's"
	}
	return d.String()
}

// MarshalJSON writes the manifest, deterministically.
func (m Manifest) MarshalJSON() ([]byte, error) {
	type plain Manifest
	return json.Marshal(plain(m), json.Deterministic(true))
}

// DataMap writes the table of actions, in Markdown: what each tool is for, which facts come in, which are looked up
// behind the boundary, which go out, what never crosses, what the action does to the world, and who must approve it: what
// the tables' rules for it ask, whatever its consequence. Without a table that column is empty.
func (c *Catalog) DataMap(w io.Writer, policies ...approval.Table) error {
	var b strings.Builder
	b.WriteString("| tool | purpose | owner | in | looked up behind the boundary | out | never crosses | class | policy |\n" +
		"|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range c.names {
		t := c.tools[name]
		s := t.def.spec
		row := []string{
			name, s.Purpose, s.Owner, strings.Join(places(t.input), ", "), strings.Join(s.Lookups, ", "),
			strings.Join(places(t.output), ", "), strings.Join(s.NeverCrosses, ", "), t.class.String(),
			strings.Join(t.policy(policies), ", or "),
		}
		for i := range row {
			row[i] = cell(row[i])
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// policy says what the rules that can match a commit ask for.
func (t *callable) policy(policies []approval.Table) (words []string) {
	if !t.commits() {
		return nil
	}
	for _, p := range policies {
		rules := p.Possible(t.def.facts(approval.Consequence{}))
		for _, r := range rules {
			if word := required(r.Require); !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
		if len(rules) == 0 {
			words = append(words, approval.Deny.String())
		}
	}
	return words
}

func required(r approval.Requirement) string {
	word := r.Level.String()
	if r.Role != "" {
		word += " with the role " + r.Role
	}
	if r.Group != "" {
		word += " of the group " + r.Group
	}
	return word
}

// cell makes text fit a cell of a Markdown table, where it shows as it is: neither a border nor HTML.
func cell(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "&", "&amp;", "<", "&lt;", "\r", " ", "\n", " ", "\t", " ").Replace(s)
}

// places are the declared places of a schema, in its order.
func places(s *validate.Schema) []string {
	fields := s.Fields()
	paths := make([]string, 0, len(fields))
	for _, f := range fields {
		paths = append(paths, f.Path)
	}
	return paths
}
