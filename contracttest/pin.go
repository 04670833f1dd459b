package contracttest

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// pinned is a golden file: one manifest a role, the schemas behind their digests, what the catalogue says of each tool,
// the rules of the policies, and the reason of each widening: of those to come in Widening, of those that were in Widened.
type pinned struct {
	Roles    []tool.Manifest           `json:"roles"`
	Schemas  map[string]jsontext.Value `json:"schemas"`
	Facts    map[string][]string       `json:"facts"`
	Policies map[string][][]pinnedRule `json:"policies,omitempty"`
	Widening map[string]string         `json:"widening"`
	Widened  []widenedOnce             `json:"widened,omitempty"`
}

// widenedOnce is a widening that had its reason, which serves no other.
type widenedOnce struct {
	Name   string `json:"name"`
	What   string `json:"what"`
	Reason string `json:"reason"`
}

// UpdateVariable is the environment variable that, set to 1, makes [Pin] rewrite its golden files. Where CI is set it is
// refused.
const UpdateVariable = "CONTRACTTEST_UPDATE"

// Pin compares what each role may call with a golden file: names, versions, classes, limits, retries, contracts, times,
// cancellation, titles, what [tool.Catalog.DataMap] says of them, the schemas themselves, and, of the policies that are
// given, the rules that can match each commit. Any difference fails. A difference that widens (a tool added to a role, a
// read become a write, a looser limit, schema or policy) fails even when the file is rewritten, until the file's
// "widening" gives a reason for it under the name that the failure shows. A reason serves once: rewriting moves it to
// "widened", with what it was for. The file is rewritten by CONTRACTTEST_UPDATE=1, never in CI.
func Pin(t *testing.T, c *tool.Catalog, roles []tool.Role, golden string, policies ...approval.Table) {
	t.Helper()
	update := os.Getenv(UpdateVariable) == "1" //nolint:forbidigo // the documented switch of a test
	ci := os.Getenv("CI") != ""                //nolint:forbidigo // see above
	if err := pin(c, roles, golden, update, ci, policies); err != nil {
		t.Error(err)
	}
}

// CheckPin is [Pin] without a test, and without rewriting.
func CheckPin(c *tool.Catalog, roles []tool.Role, golden string, policies ...approval.Table) error {
	return pin(c, roles, golden, false, false, policies)
}

// WritePin writes the golden file of the roles anew, and refuses what widens without a reason in the file that is there.
func WritePin(c *tool.Catalog, roles []tool.Role, golden string, policies ...approval.Table) error {
	return pin(c, roles, golden, true, false, policies)
}

func pin(c *tool.Catalog, roles []tool.Role, golden string, update, ci bool, policies []approval.Table) error {
	if update && ci {
		return fmt.Errorf("contracttest: %s is refused in CI: golden files are rewritten by people", UpdateVariable)
	}
	now, err := pinOf(c, roles, policies)
	if err != nil {
		return err
	}
	was, err := readPin(golden)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && update:
		was = now // the first pin widens nothing
	case missing:
		return fmt.Errorf("contracttest: there is no %s yet; make it with %s=1", golden, UpdateVariable)
	case err != nil:
		return fmt.Errorf("contracttest: %s: %w", golden, err)
	}
	differences, widenings := compare(was, now)
	var errs []error
	for _, name := range sortedKeys(widenings) {
		if strings.TrimSpace(was.Widening[name]) == "" {
			errs = append(errs, fmt.Errorf("contracttest: pin: %s: this widens: %s; give its reason in %s, \"widening\": {%q: \"…\"}", name, widenings[name], golden, name))
		}
	}
	if len(errs) == 0 && update {
		now.Widened = was.Widened
		for _, name := range sortedKeys(was.Widening) {
			now.Widened = append(now.Widened, widenedOnce{name, widenings[name], was.Widening[name]})
		}
		return writePin(golden, now)
	}
	for _, name := range sortedKeys(was.Widening) {
		if widenings[name] == "" {
			errs = append(errs, fmt.Errorf("contracttest: pin: %s has a reason in %s and does not widen: a reason serves the change that it came with", name, golden))
		}
	}
	if !update {
		for _, d := range differences {
			errs = append(errs, fmt.Errorf("contracttest: pin: %s; if it is meant, rewrite %s with %s=1", d, golden, UpdateVariable))
		}
	}
	return errors.Join(errs...)
}

func pinOf(c *tool.Catalog, roles []tool.Role, policies []approval.Table) (pinned, error) {
	out := pinned{Schemas: map[string]jsontext.Value{}, Facts: map[string][]string{}, Widening: map[string]string{}}
	rows, err := dataRows(c)
	if err != nil {
		return out, err
	}
	if len(roles) == 0 {
		return out, errors.New("contracttest: pin: no role")
	}
	for _, role := range roles {
		m := c.Manifest(role)
		if len(m.Tools) == 0 {
			return out, errors.New("contracttest: pin: a role without tools")
		}
		out.Roles = append(out.Roles, m)
		run, err := aside(c, role)
		if err != nil {
			return out, err
		}
		for i, p := range run.Tools() {
			out.Schemas[m.Tools[i].Input], out.Schemas[m.Tools[i].Output] = p.Input, p.Output
			out.Facts[p.Name] = []string{p.Title, fmt.Sprintf("open world: %t", p.OpenWorld), rows[p.Name]}
		}
	}
	out.Policies = policiesOf(out.Roles, policies)
	return out, nil
}

// dataRows is what the catalogue says of each tool beyond its manifest: purpose, owner, what is looked up, what never
// crosses.
func dataRows(c *tool.Catalog) (map[string]string, error) {
	var text strings.Builder
	if err := c.DataMap(&text); err != nil {
		return nil, err
	}
	rows := map[string]string{}
	for line := range strings.Lines(text.String()) {
		cells := strings.SplitN(line, "|", 3)
		if len(cells) == 3 {
			rows[strings.TrimSpace(cells[1])] = strings.TrimSpace(line)
		}
	}
	return rows, nil
}

func readPin(golden string) (pinned, error) {
	var p pinned
	doc, err := os.ReadFile(filepath.Clean(golden))
	if err != nil {
		return p, err
	}
	err = json.Unmarshal(doc, &p, json.RejectUnknownMembers(true))
	return p, err
}

func writePin(golden string, p pinned) error {
	doc, err := json.Marshal(p, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Clean(golden), append(bytes.TrimSpace(doc), '\n'), 0o600)
}

// compare lists what differs, and of it by name what widens.
func compare(was, now pinned) (differences []string, widenings map[string]string) {
	widenings = map[string]string{}
	for _, role := range now.Roles {
		i := slices.IndexFunc(was.Roles, func(m tool.Manifest) bool { return m.Role == role.Role })
		if i < 0 {
			differences = append(differences, fmt.Sprintf("role %s is new", role.Role))
			widenings[role.Role] = "a role is added"
			continue
		}
		differences = append(differences, compareRole(was, now, was.Roles[i], role, widenings)...)
	}
	for _, role := range was.Roles {
		if !slices.ContainsFunc(now.Roles, func(m tool.Manifest) bool { return m.Role == role.Role }) {
			differences = append(differences, fmt.Sprintf("role %s is gone", role.Role))
		}
	}
	for _, wire := range sortedKeysOf(was.Facts, now.Facts) {
		if old, is := was.Facts[wire], now.Facts[wire]; old != nil && is != nil && !slices.Equal(old, is) {
			differences = append(differences, wire+" is described otherwise: its title, purpose, owner, look-ups, what never crosses, or its world")
			if len(old) > 1 && len(is) > 1 && old[1] != is[1] && strings.HasSuffix(is[1], "true") {
				widenings["facts/"+wire] = "it may reach systems that are not the host's own"
			}
		}
	}
	return append(differences, comparePolicies(was.Policies, now.Policies, widenings)...), widenings
}

func compareRole(was, now pinned, before, after tool.Manifest, widenings map[string]string) (differences []string) {
	for _, t := range after.Tools {
		name := after.Role + "/" + t.Name
		i := slices.IndexFunc(before.Tools, func(o tool.ManifestTool) bool { return o.Name == t.Name })
		if i < 0 {
			differences = append(differences, name+" is new")
			widenings[name] = "a tool is added to the role"
			continue
		}
		old := before.Tools[i]
		a, errA := json.Marshal(old, json.Deterministic(true))
		b, errB := json.Marshal(t, json.Deterministic(true))
		if errA == nil && errB == nil && bytes.Equal(a, b) {
			continue
		}
		differences = append(differences, name+" differs: "+strings.Join(changed(a, b), ", "))
		if what := widened(was, now, old, t); len(what) > 0 {
			widenings[name] = strings.Join(what, ", ")
		}
	}
	for _, t := range before.Tools {
		if !slices.ContainsFunc(after.Tools, func(o tool.ManifestTool) bool { return o.Name == t.Name }) {
			differences = append(differences, before.Role+"/"+t.Name+" is gone")
		}
	}
	return differences
}

// changed names the members that differ.
func changed(a, b []byte) (names []string) {
	x, errX := parseValue(a)
	y, errY := parseValue(b)
	if errX != nil || errY != nil {
		return []string{"?"}
	}
	all := append(slices.Clone(x.names), y.names...)
	sort.Strings(all)
	for _, name := range slices.Compact(all) {
		u, v := x.member(name), y.member(name)
		if u == nil || v == nil || !bytes.Equal(u.bytes(), v.bytes()) {
			names = append(names, name)
		}
	}
	return names
}

// widened says in which ways a tool may do more than it might.
func widened(was, now pinned, old, t tool.ManifestTool) (what []string) {
	if rank(t.Class) > rank(old.Class) {
		what = append(what, "the class "+old.Class+" became "+t.Class)
	}
	if opens(was.Schemas[old.Input], now.Schemas[t.Input]) {
		what = append(what, "the input admits what it refused")
	}
	if opens(was.Schemas[old.Output], now.Schemas[t.Output]) {
		what = append(what, "the output admits what it refused")
	}
	if looser(filled(old.InputLimits), filled(t.InputLimits)) || looser(filled(old.OutputLimits), filled(t.OutputLimits)) {
		what = append(what, "a limit is higher")
	}
	if longer(old.Timeout, t.Timeout) || t.PerRun > old.PerRun && old.PerRun > 0 || old.PerRun > 0 && t.PerRun == 0 || old.PerTenant > 0 && (t.PerTenant == 0 || t.PerTenant > old.PerTenant) {
		what = append(what, "a time-out or a bound of parallel calls is higher")
	}
	if t.Retry != nil && (old.Retry == nil || t.Retry.Attempts > old.Retry.Attempts) {
		what = append(what, "it is tried more often")
	}
	return append(what, widenedWrite(old.Write, t.Write)...)
}

func widenedWrite(old, w *tool.ManifestWrite) (what []string) {
	if old == nil || w == nil {
		return nil
	}
	if w.Contract != old.Contract && w.Contract != "none" {
		what = append(what, "the provider is said to promise "+w.Contract)
	}
	if w.Attempts > old.Attempts || outlives(old.Lifetime, w.Lifetime) || longer(old.DedupFor, w.DedupFor) || longer(old.RunFor, w.RunFor) {
		what = append(what, "it may run longer or more often")
	}
	if w.Unversioned && !old.Unversioned {
		what = append(what, "the target has no version any more")
	}
	if old.Cancellable && !w.Cancellable {
		what = append(what, "it can no longer be cancelled")
	}
	return what
}

func rank(class string) int {
	return slices.Index([]string{"read", "preview", "reversible", "irreversible"}, class)
}

// opens reports whether the schema admits more than it did: then going back would break somebody.
func opens(before, after jsontext.Value) bool {
	if before == nil || after == nil || bytes.Equal(before, after) {
		return false
	}
	b, errB := validate.Compile(before)
	a, errA := validate.Compile(after)
	if errA != nil || errB != nil {
		return true
	}
	return len(validate.Compatible(a, b)) > 0
}

func looser(old, l validate.Limits) bool {
	return l.Bytes > old.Bytes || l.Depth > old.Depth || l.Members > old.Members || l.Items > old.Items ||
		l.StringBytes > old.StringBytes || l.NumberDigits > old.NumberDigits || l.Exponent > old.Exponent
}

func longer(old, d string) bool {
	x, errX := time.ParseDuration(old)
	y, errY := time.ParseDuration(d)
	return errX == nil && errY == nil && y > x
}

// outlives reports whether a proposal may live longer. A lifetime of the policy's and one of the write's cannot be
// compared here: the one become the other is taken for longer.
func outlives(old, d string) bool {
	_, errX := time.ParseDuration(old)
	_, errY := time.ParseDuration(d)
	return longer(old, d) || old != d && (errX != nil || errY != nil)
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
