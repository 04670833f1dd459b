package tool_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
	"github.com/toolcontract/toolcontract/tool"
)

func TestNewCatalogNamesEveryFault(t *testing.T) {
	t.Parallel()
	type bad struct {
		Amount int           `json:"amount" jsonschema:"minimun=1"`
		Any    any           `json:"any"`
		Fn     func()        `json:"fn"`
		Wait   time.Duration `json:"wait"`
	}
	good := newWorld(t)
	pointer := tool.Write[limitIn, limitPlan, pointerOut]{Spec: good.write.Spec, Class: tool.Reversible, Unversioned: true}
	broken := good.write
	broken.Spec.Name, broken.Class, broken.Current, broken.Commit, broken.Contract = "limit_change_v2", 0, nil, nil, idem.StatusQueryable
	broken.Compensates = "commit_nothing_v1"
	named := good.read
	named.Spec = tool.Spec{Name: "Get Account", Failures: []envelope.Failure{
		{Code: "lower", Message: "x"}, {Code: "DOMAIN_FULL"}, {Code: envelope.OutcomeUnknown, Message: "x"}, {Code: "A_B", Message: "x"}, {Code: "A_B", Message: "x"},
	}, Tags: []string{"Tag"}}
	named.Handle, named.Retry = nil, tool.Retry{Attempts: 3, On: nil}

	_, err := tool.NewCatalog(
		tool.Tool[bad, accountOut]{Spec: good.read.Spec, Handle: func(context.Context, tool.Caller, bad) (accountOut, error) { return accountOut{}, nil }},
		broken, named, pointer, nil,
	)
	require.Error(t, err)
	for _, want := range []string{
		`tool "get_account_v1": input: amount`, `tool "get_account_v1": input: any`, `tool "get_account_v1": input: fn`, `tool "get_account_v1": input: wait`,
		`tool "commit_limit_change_v2_v2": name:`, `tool "commit_limit_change_v2_v2": class:`, `tool "commit_limit_change_v2_v2": current:`,
		`tool "commit_limit_change_v2_v2": commit:`, `tool "commit_limit_change_v2_v2": status:`,
		`tool "Get Account_v0": name:`, `tool "Get Account_v0": version:`, `tool "Get Account_v0": timeout:`, `tool "Get Account_v0": description:`,
		`tool "Get Account_v0": handle:`, `tool "Get Account_v0": retry.on:`, `tool "Get Account_v0": tags:`,
		`tool "Get Account_v0": failures[0]:`, `tool "Get Account_v0": failures[1]:`, `tool "Get Account_v0": failures[2]:`, `tool "Get Account_v0": failures[4]:`,
		`tool "commit_limit_change_v2": output: Evidence: must be a struct that embeds tool.Evidence by value`,
		`tool "commit_limit_change_v2": preview:`, `definition 4 is nil`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestNegativeNumbersAreNamed(t *testing.T) {
	t.Parallel()
	for field, spoil := range map[string]func(*world){
		"attempts":  func(w *world) { w.write.Attempts = -1 },
		"dedup_for": func(w *world) { w.write.DedupFor = -1 },
		"settle":    func(w *world) { w.write.Settle = -1 },
		"run_for":   func(w *world) { w.write.RunFor = -1 },
		"lifetime":  func(w *world) { w.write.Lifetime = -1 },
	} {
		w := newWorld(t)
		spoil(w)
		_, err := tool.NewCatalog(w.read, w.write)
		require.EqualError(t, err, `tool "commit_limit_change_v2": `+field+": must not be negative")
	}
}

type pointerOut struct{ *tool.Evidence }

func TestNewCatalogRefusesTakenNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine := w.read
	mine.Spec.Name = "get_operation"
	_, err := tool.NewCatalog(w.read, w.read, w.write, mine)
	require.ErrorContains(t, err, `tool "get_account_v1": name: is taken`)
	require.ErrorContains(t, err, `tool "get_operation_v1": name: is taken`)
	_, err = tool.NewCatalog()
	require.Error(t, err, "an empty catalogue serves nothing")
	second := w.write
	second.Spec.Name, second.Compensates = "limit_restore", "commit_limit_change_v2"
	_, err = tool.NewCatalog(w.write, second)
	require.NoError(t, err)
	second.Compensates = "commit_limit_restore_v2"
	_, err = tool.NewCatalog(w.write, second)
	require.ErrorContains(t, err, "compensates", "not itself")
}

func TestNewDispatcherNamesEveryFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, err := tool.NewCatalog(w.read, w.write)
	require.NoError(t, err)
	_, err = tool.NewDispatcher(c, tool.Config{Lease: -1, Middleware: []tool.Middleware{nil}})
	for _, want := range []string{"approvals:", "authority:", "ledger:", "digester:", "audit:", "policy:", "lease", "middleware[0]"} {
		require.ErrorContains(t, err, want)
	}
	cfg := w.config
	cfg.Policy = approval.Table{Version: 1, Rules: []approval.Rule{{When: approval.Match{Classes: []string{"irreversible"}}, Require: approval.Requirement{Level: approval.One, Role: "lead"}}}}
	_, err = tool.NewDispatcher(c, cfg)
	require.ErrorContains(t, err, "commit_limit_change_v2", "a write without a policy")
	cfg.Policy = approval.Table{Version: 1, Rules: []approval.Rule{{When: approval.Match{Tools: []string{"commit_limit_chang_v2"}}, Require: approval.Requirement{Level: approval.One, Role: "lead"}}}}
	_, err = tool.NewDispatcher(c, cfg)
	require.ErrorContains(t, err, "commit_limit_chang_v2", "a misspelt tool in the policy")

	reads, err := tool.NewCatalog(w.read)
	require.NoError(t, err)
	_, err = tool.NewDispatcher(reads, tool.Config{})
	require.NoError(t, err, "reads need nothing")
	_, err = tool.NewDispatcher(nil, tool.Config{})
	require.Error(t, err)

	dev := tool.Development(w.config.Policy)
	_, err = tool.NewDispatcher(c, dev)
	require.NoError(t, err)
	dev.Ledger = &hookedLedger{Ledger: w.ledger}
	_, err = tool.NewDispatcher(c, dev)
	require.ErrorContains(t, err, "Development")
}

func TestStartNamesEveryFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.dispatcher()
	_, err := d.Start(tool.RunConfig{})
	for _, want := range []string{"principal", "role", "budget", "deadline"} {
		require.ErrorContains(t, err, want)
	}
	role, err := d.Catalog().Role("support", readTool)
	require.NoError(t, err)
	ok := tool.RunConfig{ID: "r", Principal: agent, Role: role, Budget: tool.Budget{Calls: 1}, Deadline: epoch.Add(time.Hour)}
	for name, change := range map[string]func(*tool.RunConfig){
		"empty tenant":         func(c *tool.RunConfig) { c.Principal.Tenant = "" },
		"empty subject":        func(c *tool.RunConfig) { c.Principal.Subject = "" },
		"no kind":              func(c *tool.RunConfig) { c.Principal.Kind = 0 },
		"the policy is no one": func(c *tool.RunConfig) { c.Principal.Kind = approval.PolicyDecision },
		"past":                 func(c *tool.RunConfig) { c.Deadline = epoch },
		"zero calls":           func(c *tool.RunConfig) { c.Budget.Calls = 0 },
		"another catalogue":    func(c *tool.RunConfig) { c.Role = foreignRole(t, w) },
	} {
		rc := ok
		change(&rc)
		_, err := d.Start(rc)
		require.Error(t, err, name)
	}
	_, err = d.Start(ok)
	require.NoError(t, err)
	_, err = d.Start(ok)
	require.NoError(t, err, "the same ID resumes")
	other := ok
	other.Principal.Subject = "eve"
	_, err = d.Start(other)
	require.Error(t, err, "not for somebody else")
	other.Principal.Tenant = "t2"
	_, err = d.Start(other)
	require.NoError(t, err, "another tenant's run may have the same ID")
}

func foreignRole(t *testing.T, w *world) tool.Role {
	t.Helper()
	c, err := tool.NewCatalog(w.read)
	require.NoError(t, err)
	r, err := c.Role("support", readTool)
	require.NoError(t, err)
	return r
}

func TestRoles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.read
	old.Spec.Name, old.Spec.Retired = "old_account", true
	c, err := tool.NewCatalog(w.read, w.write, old)
	require.NoError(t, err)
	_, err = c.Role("Bad Name", "nothing_v1", "old_account_v1", readTool, readTool)
	for _, want := range []string{"name must match", `"nothing_v1" is not in the catalogue`, `"old_account_v1" is retired`, `"get_account_v1" stands twice`} {
		require.ErrorContains(t, err, want)
	}
	_, err = c.Role("empty")
	require.Error(t, err)

	d, err := tool.NewDispatcher(c, w.config)
	require.NoError(t, err)
	previews, err := c.Role("previews", previewTool)
	require.NoError(t, err)
	run, err := d.Start(tool.RunConfig{Principal: agent, Role: previews, Budget: tool.Budget{Calls: 9}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	s := &session{w, d, run}
	require.Len(t, run.Tools(), 1, "a role shows its tools and no others")
	id := s.preview(250).ProposalID
	refuses(t, s.commit(id), envelope.NotPermitted, "a preview without its commit")
	refuses(t, s.call(readTool, `{"account_id":"a1"}`), envelope.NotPermitted, "")
	refuses(t, s.call("old_account_v1", `{}`), envelope.UnsupportedVersion, "retired")
	r := s.call("no_such_tool_v1", `{}`)
	refuses(t, r, envelope.UnknownTool, "")
	require.Empty(t, r.Tool, "the sender's text is no tool's name")

	full, err := c.Role("full", commitTool)
	require.NoError(t, err)
	run, err = d.Start(tool.RunConfig{Principal: agent, Role: full, Budget: tool.Budget{Calls: 9}, Deadline: epoch.Add(time.Hour)})
	require.NoError(t, err)
	names := make([]string, 0, 3)
	for _, p := range run.Tools() {
		names = append(names, p.Name+" "+p.Class)
		require.NotEmpty(t, p.Input)
		require.NotEmpty(t, p.Output)
	}
	require.Equal(t, []string{"cancel_operation_v1 reversible", "commit_limit_change_v2 reversible", "get_operation_v1 read"}, names)
}

// A plan is shown to approvers, digested and stored: a secret in it would be neither shown nor kept secret.
func TestAPlanHoldsNoSecret(t *testing.T) {
	t.Parallel()
	type plan struct {
		AccountID string                  `json:"account_id" jsonschema:"maxLength=64"`
		Keys      []redact.Secret[string] `json:"keys"`
	}
	w := newWorld(t)
	_, err := tool.NewCatalog(tool.Write[limitIn, plan, limitOut]{
		Spec: w.write.Spec, Class: w.write.Class, Current: w.write.Current,
		Preview: func(context.Context, tool.Caller, limitIn) (tool.Draft[plan], error) { return tool.Draft[plan]{}, nil },
		Commit:  func(context.Context, tool.Approved[plan]) (limitOut, error) { return limitOut{}, nil },
	})
	require.ErrorContains(t, err, `tool "commit_limit_change_v2": plan: keys`)
	require.ErrorContains(t, err, "secret")
}

func TestManifestAndDataMap(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write.Spec.Purpose, w.write.Spec.NeverCrosses = "Limits | of accounts\n<b>over & above</b>", []string{"card number"}
	c, err := tool.NewCatalog(w.read, w.write)
	require.NoError(t, err)
	role, err := c.Role("support", commitTool, readTool)
	require.NoError(t, err)
	one, err := c.Manifest(role).MarshalJSON()
	require.NoError(t, err)
	two, err := c.Manifest(role).MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, string(one), string(two))
	require.Contains(t, string(one), `"class":"reversible"`)
	require.Contains(t, string(one), `"input":"sha256:`)
	w.write.Attempts = 3
	changed, err := tool.NewCatalog(w.read, w.write)
	require.NoError(t, err)
	role, err = changed.Role("support", commitTool, readTool)
	require.NoError(t, err)
	three, err := changed.Manifest(role).MarshalJSON()
	require.NoError(t, err)
	require.NotEqual(t, string(one), string(three), "a changed declaration is a changed manifest")

	var b strings.Builder
	require.NoError(t, c.DataMap(&b))
	require.Contains(t, b.String(), `| Limits \| of accounts &lt;b>over &amp; above&lt;/b> |`)
	require.Contains(t, b.String(), "card number")
	require.Contains(t, b.String(), "account_id, limit, note")
	require.Contains(t, b.String(), "| reversible |  |", "without a table nobody is said to approve")

	b.Reset()
	require.NoError(t, c.DataMap(&b, approval.Table{Version: 1, Rules: []approval.Rule{
		{When: approval.Match{AmountUpTo: new(int64)}, Require: approval.Requirement{Level: approval.One, Role: "lead"}},
		{When: approval.Match{Classes: []string{"reversible"}}, Require: approval.Requirement{Level: approval.Two, Role: "board"}},
		{When: approval.Match{Classes: []string{"irreversible"}}, Require: approval.Requirement{Level: approval.Deny}},
	}}))
	require.Regexp(t, `commit_limit_change_v2 .*\| reversible \| one with the role lead, or two with the role board \|`, b.String())
	require.Regexp(t, `preview_limit_change_v2 .*\| preview \|  \|`, b.String())
	b.Reset()
	require.NoError(t, c.DataMap(&b, approval.Table{Version: 1}))
	require.Contains(t, b.String(), "| reversible | deny |", "no rule can match it")
	require.Empty(t, c.General())
}
