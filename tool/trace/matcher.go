package trace

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// idForm is what the library's own fresh ids look like, which are other ones in each run: of proposals, runs, requests and
// decisions, 16 bytes (ids.Encode); of operations, 32 bytes (idem.OperationID); and the references of package redact, which
// begin with their version and the length of their key's id. The last sign of 16 or 32 bytes has bits to spare.
var idForm = regexp.MustCompile(`^(?:(?:p|run|req|d)_[0-9a-hjkmnp-tv-z]{25}[048cgmrw]|op_[0-9a-hjkmnp-tv-z]{51}[0g]|ref_04[0-9a-hjkmnp-tv-z]{125,584})$`)

// matcher compares documents of two runs, in which the ids differ. Safe for concurrent use.
type matcher struct {
	tenantThen, tenantNow string

	anyTime bool // times are not compared

	mu   sync.Mutex
	then map[string]string // recorded id to the present one
	back map[string]string
	undo []func()      // what was bound in a comparison, to be unbound where it fails
	late time.Duration // by how much two times may differ
}

func newMatcher(then, now string, anyTime bool) *matcher {
	return &matcher{tenantThen: then, tenantNow: now, anyTime: anyTime, then: map[string]string{}, back: map[string]string{}}
}

// took says how long a recorded step took: by so much a time may differ from here on.
func (m *matcher) took(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late = max(m.late, d)
}

// bind takes two ids for one.
func (m *matcher) bind(recorded, present string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bound(recorded, present)
}

// bindGiven takes a recorded word of the host's for the present one: the requester's subject, the run's id.
func (m *matcher) bindGiven(recorded, present string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(recorded, present)
}

// bound takes two ids for one; false where either is another's already, or they are not of one kind.
func (m *matcher) bound(recorded, present string) bool {
	if recorded == "" || present == "" {
		return recorded == present
	}
	now, known := m.then[recorded]
	if known {
		return now == present
	}
	if _, taken := m.back[present]; taken {
		return false
	}
	if recorded != present && (!idForm.MatchString(recorded) || !idForm.MatchString(present) || kindOf(recorded) != kindOf(present)) {
		return false
	}
	m.set(recorded, present)
	if kindOf(recorded) == "p" { // what the library makes of a proposal's id follows
		a, b := m.operationOf(recorded), idem.OperationID(m.tenantNow, present)
		m.set(a, b)
		m.set(strings.TrimPrefix(a, "op_"), strings.TrimPrefix(b, "op_"))
	}
	return true
}

func (m *matcher) set(recorded, present string) {
	was, known := m.then[recorded]
	whose, taken := m.back[present]
	m.undo = append(m.undo, func() {
		if delete(m.then, recorded); known {
			m.then[recorded] = was
		}
		if delete(m.back, present); taken {
			m.back[present] = whose
		}
	})
	m.then[recorded], m.back[present] = present, recorded
}

func (m *matcher) operationOf(proposal string) string {
	return idem.OperationID(m.tenantThen, proposal)
}

func kindOf(id string) string {
	kind, _, _ := strings.Cut(id, "_")
	return kind
}

// now is what a recorded id is called in this run.
func (m *matcher) now(id string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if present, ok := m.then[id]; ok {
		return present
	}
	return id
}

// inDocument puts the present ids in the place of the recorded ones; what is no document stays as it is.
func (m *matcher) inDocument(doc []byte) []byte {
	out, err := rewrite(doc, listed(nil), func(l leaf) jsontext.Value {
		if l.value.Kind() != '"' {
			return l.value
		}
		if id := text(l.value); m.now(id) != id {
			return quoted(m.now(id))
		}
		return l.value
	})
	if err != nil {
		return doc
	}
	return out
}

// asks reports whether a recorded question is the one that is asked now, as far as it was kept. Another one binds no id.
func (m *matcher) asks(e exchange, asked jsontext.Value, hidden []string) bool {
	if e.Asked == nil || asked == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.undo = nil
	_, same := m.values(e.Asked, asked, listed(append(slices.Clone(hidden), e.AskedHidden...)), "", false)
	if !same {
		for _, undo := range slices.Backward(m.undo) {
			undo()
		}
	}
	m.undo = nil
	return same
}

// documents compares two documents and binds the ids that stand in the same places, behind a difference too. Of hidden
// places the kind counts alone. It returns the first place that differs.
func (m *matcher) documents(recorded, present []byte, p places) (at string, same bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at, same = m.values(recorded, present, p, "", p == nil)
	m.undo = nil
	return at, same
}

func (m *matcher) values(a, b jsontext.Value, p places, path string, hidden bool) (string, bool) {
	if a.Kind() != b.Kind() {
		return path, hidden && boolean(a) && boolean(b)
	}
	switch a.Kind() {
	case '{':
		return m.objects(a, b, p, path, hidden)
	case '[':
		var as, bs []jsontext.Value
		if json.Unmarshal(a, &as) != nil || json.Unmarshal(b, &bs) != nil || len(as) != len(bs) {
			return path, false
		}
		var d differing
		for i := range as {
			_, secret, _ := p.child(plain(path), "[]", "[]")
			d.add(m.values(as[i], bs[i], p, envelope.Index(path, i), hidden || secret))
		}
		return d.at, !d.found
	case '"':
		return path, hidden || text(a) == text(b) || m.bound(text(a), text(b)) || m.sameTime(text(a), text(b))
	case '0':
		return path, hidden || path == "retry_after_ms" || sameNumber(a, b)
	}
	return path, true // true, false, null: the kind says it all
}

// differing is the first place that differs.
type differing struct {
	at    string
	found bool
}

func (d *differing) add(at string, same bool) {
	if !same && !d.found {
		d.at, d.found = at, true
	}
}

// sameTime reports whether two texts are times that are near enough.
func (m *matcher) sameTime(a, b string) bool {
	then, err := time.Parse(time.RFC3339, a)
	if err != nil {
		return false
	}
	now, err := time.Parse(time.RFC3339, b)
	return err == nil && (m.anyTime || then.Sub(now).Abs() <= m.late)
}

func boolean(v jsontext.Value) bool { return v.Kind() == 't' || v.Kind() == 'f' }

func (m *matcher) objects(a, b jsontext.Value, p places, path string, hidden bool) (string, bool) {
	var as, bs map[string]jsontext.Value
	if json.Unmarshal(a, &as) != nil || json.Unmarshal(b, &bs) != nil {
		return path, false
	}
	var d differing
	for _, name := range slices.Sorted(maps.Keys(bs)) {
		if _, ok := as[name]; !ok && name != "retry_after_ms" {
			d.add(envelope.Member(path, name), false)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(as)) {
		v, ok := bs[name]
		if !ok {
			d.add(envelope.Member(path, name), name == "retry_after_ms")
			continue
		}
		_, secret, _ := p.child(plain(path), "."+name, "{}")
		d.add(m.values(as[name], v, p, envelope.Member(path, name), hidden || secret))
	}
	return d.at, !d.found
}

func sameNumber(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, errX := redact.Canonical(jsontext.Value(a))
	y, errY := redact.Canonical(jsontext.Value(b))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
