package contracttest

import (
	"bytes"
	"encoding/json/v2"
	"fmt"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
)

// pinnedRule is one rule of a policy that can match a commit.
type pinnedRule struct {
	When     approval.Match `json:"when"`
	Level    string         `json:"level"`
	Role     string         `json:"role,omitzero"`
	Group    string         `json:"group,omitzero"`
	Self     bool           `json:"self,omitzero"`
	Lifetime string         `json:"lifetime"`
}

// policiesOf are the rules that can match each commit of the roles, one list a table. No rule is a denial.
func policiesOf(roles []tool.Manifest, policies []approval.Table) map[string][][]pinnedRule {
	out := map[string][][]pinnedRule{}
	for _, role := range roles {
		for _, t := range role.Tools {
			if t.Write == nil || rank(t.Class) < rank("reversible") || len(policies) == 0 {
				continue
			}
			lists := make([][]pinnedRule, len(policies))
			for i, p := range policies {
				for _, r := range p.Possible(approval.Facts{Tool: t.Name, Class: t.Class, Tags: t.Tags}) {
					lists[i] = append(lists[i], pinnedRule{r.When, r.Require.Level.String(), r.Require.Role, r.Require.Group, r.Require.Self, r.Require.Lifetime.String()})
				}
			}
			out[t.Name] = lists
		}
	}
	return out
}

// comparePolicies lists the commits for which another policy is pinned, and of them by name those whose policy asks for
// less: as the strictest rule wins, a rule that came never does, but one that went or asks for less may.
func comparePolicies(was, now map[string][][]pinnedRule, widenings map[string]string) (differences []string) {
	for _, wire := range sortedKeysOf(was, now) {
		old, lists := was[wire], now[wire]
		if sameJSON(old, lists) {
			continue
		}
		name := "policy/" + wire
		differences = append(differences, name+" differs")
		if what := laxer(old, lists); what != "" {
			widenings[name] = what
		}
	}
	return differences
}

func laxer(old, lists [][]pinnedRule) string {
	switch {
	case len(old) > 0 && len(lists) < len(old):
		return "a policy is no longer pinned"
	case len(old) == 0:
		return ""
	}
	for i, rules := range old {
		if len(rules) == 0 && len(lists[i]) > 0 {
			return "what was denied may be approved"
		}
		for _, r := range rules {
			kept := slices.ContainsFunc(lists[i], func(n pinnedRule) bool { return sameJSON(r.When, n.When) && n.asks(r) })
			if !kept && len(lists[i]) > 0 {
				return fmt.Sprintf("a rule that asks for %s is gone, or asks for less", r.Level)
			}
		}
	}
	return ""
}

// asks reports whether the rule asks for as much as the other did.
func (r pinnedRule) asks(other pinnedRule) bool {
	levels := []string{approval.None.String(), approval.One.String(), approval.Two.String(), approval.Deny.String()}
	switch {
	case slices.Index(levels, r.Level) < slices.Index(levels, other.Level),
		r.Role != other.Role && other.Role != "", r.Group != other.Group && other.Group != "", r.Self && !other.Self:
		return false
	}
	life, errA := time.ParseDuration(r.Lifetime)
	before, errB := time.ParseDuration(other.Lifetime)
	return errA == nil && errB == nil && (life == before || life > 0 && (before == 0 || life < before))
}

func sortedKeysOf[V any](maps ...map[string]V) (keys []string) {
	for _, m := range maps {
		for k := range m {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a, json.Deterministic(true))
	y, errY := json.Marshal(b, json.Deterministic(true))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
