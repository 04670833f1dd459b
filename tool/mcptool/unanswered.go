package mcptool

import (
	"bytes"
	"encoding/json/jsontext"
	"sync"
)

// unanswered are the requests of one connection that have no answer so far. The SDK ends a connection over an id that stands twice
// among them.
type unanswered struct {
	mu  sync.Mutex
	ids map[string]bool
}

// ask takes the requests in, all of them or, when one has the id of another, none.
func (u *unanswered) ask(messages []message) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range messages {
		if u.ids[m.key] {
			return false
		}
	}
	for _, m := range messages {
		if m.key != "" {
			u.ids[m.key] = true
		}
	}
	return true
}

// open reports whether a request with that id has no answer so far.
func (u *unanswered) open(id jsontext.Value) bool {
	key, err := idKey(id)
	u.mu.Lock()
	defer u.mu.Unlock()
	return err == nil && u.ids[key]
}

// answered lets go of the requests that a line of the server's answers.
func (u *unanswered) answered(line []byte) {
	texts := []jsontext.Value{jsontext.Value(bytes.TrimSpace(line))}
	if texts[0].Kind() == '[' {
		texts, _ = elements(texts[0]) // of our own making
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, text := range texts {
		delete(u.ids, answeredKey(text))
	}
}

// answeredKey is the key of the request that a message of the server's answers, empty when it is no answer. It reads no further
// than it must.
func answeredKey(text jsontext.Value) string {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return ""
	}
	key := ""
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return ""
		}
		switch name.String() {
		case "result", "error":
			return key
		case "method":
			return ""
		}
		id := name.String() == "id"
		v, err := dec.ReadValue()
		if err != nil {
			return ""
		}
		if id {
			key, _ = idKey(v) // null: the answer to what has no id
		}
	}
	return ""
}
