// Package turns remembers which tenant a ledger's handle served last, so that the next delivery goes to another.
package turns

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Most is of how many sets of tools something is remembered; a worker has one. Those beyond begin anew.
const Most = 64

// Turns knows, for each set of tools, who was served last: with one cursor for all, two workers of different tools would
// keep putting each other's back. Its zero has served nobody. It is safe for concurrent use.
type Turns struct {
	mu   sync.Mutex
	last map[string]string
}

// Last returns the tenant that was served last, empty for none.
func (t *Turns) Last(tools []string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last[Name(tools)]
}

// Served says that a tenant was.
func (t *Turns) Served(tools []string, tenant string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := Name(tools)
	if _, ok := t.last[name]; !ok && len(t.last) >= Most {
		t.last = nil
	}
	if t.last == nil {
		t.last = map[string]string{}
	}
	t.last[name] = tenant
}

// Compare orders tenants by their turns: by name from the one after last on, and then from the first to it.
func Compare(last, a, b string) int {
	if ahead := a > last; ahead != (b > last) {
		if ahead {
			return -1
		}
		return 1
	}
	return cmp.Compare(a, b)
}

// Name is the same for the same tools in any order; nil, which is any tool, has a name of its own.
func Name(tools []string) string {
	if tools == nil {
		return "\x00"
	}
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(tools))), "\x00")
}
