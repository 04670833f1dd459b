package mcptool

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
)

// fault is why a message does not reach the SDK. Its words are fixed: nothing of the message is in them.
type fault struct {
	code    int // of JSON-RPC
	message string
}

func (f *fault) Error() string { return "mcptool: message: " + f.message }

// The codes of JSON-RPC 2.0 section 5.1.
const (
	codeParse         = -32700
	codeRequest       = -32600
	codeInvalidParams = -32602
)

var (
	errNotJSON    = &fault{codeParse, "the message is not one JSON text"}
	errTooLarge   = &fault{codeRequest, "the message is too large"}
	errTooDeep    = &fault{codeRequest, "the message is nested too deeply"}
	errTwice      = &fault{codeRequest, "a member of the message stands twice"}
	errForm       = &fault{codeRequest, "the message is not a JSON-RPC message of this protocol"}
	errCallParams = &fault{codeInvalidParams, "the parameters of the call do not have the form that the protocol gives them"}
)

// maxNesting is less than the SDK's bound, over which it drops the connection, and more than any tool's.
const maxNesting = 512

// maxBatch bounds a batch of JSON-RPC, which the protocols before 2025-06-18 have.
const maxBatch = 64

// checkFrame reads the message around a call's arguments strictly, since the SDK takes the last of two members that stand twice
// and quotes parameters that it cannot decode. The arguments are the boundary's to check: of them only the grammar is looked at.
// It returns the id to answer to, if the message is one call that has one.
func checkFrame(doc []byte) (id jsontext.Value, err error) {
	if nesting(doc) > maxNesting {
		return nil, errTooDeep
	}
	dec := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := dec.ReadValue()
	if err != nil {
		return nil, errNotJSON
	}
	v = v.Clone() // the decoder writes over what it has read
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	if v.Kind() != '[' {
		return checkMessage(v)
	}
	messages, err := elements(v)
	if err != nil || len(messages) == 0 || len(messages) > maxBatch {
		return nil, errForm
	}
	for _, m := range messages {
		if _, err := checkMessage(m); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func checkMessage(doc jsontext.Value) (id jsontext.Value, err error) {
	message, err := members(doc)
	if err != nil {
		return nil, err
	}
	// What has no method is an answer of the client's, whose id is not one of its own questions.
	if v := message["id"]; message["method"] != nil && (v.Kind() == '"' || v.Kind() == '0') {
		id = v
	}
	for name, v := range message {
		if name != "params" && !strictlyValid(v) {
			return id, errTwice
		}
	}
	params, has := message["params"]
	if !has {
		return id, nil
	}
	call := string(message["method"]) == `"tools/call"`
	if params.Kind() != '{' {
		if call {
			return id, errCallParams
		}
		return id, errForm
	}
	fields, err := members(params)
	if err != nil {
		return id, err
	}
	for name, v := range fields {
		if name != "arguments" && !strictlyValid(v) {
			return id, errTwice
		}
	}
	if call && !callForm(fields) {
		return id, errCallParams
	}
	return id, nil
}

// callForm reports whether the SDK can decode what stands beside a call's arguments.
func callForm(fields map[string]jsontext.Value) bool {
	is := func(kind jsontext.Kind, v jsontext.Value, has bool) bool { return !has || v.Kind() == kind }
	name, named := fields["name"]
	meta, hasMeta := fields["_meta"]
	state, hasState := fields["requestState"]
	if !named || name.Kind() != '"' || !is('{', meta, hasMeta) || !is('"', state, hasState) {
		return false
	}
	responses, has := fields["inputResponses"]
	if !has {
		return true
	}
	answers, err := members(responses)
	if err != nil {
		return false
	}
	for _, answer := range answers {
		a, err := members(answer)
		content, hasContent := a["content"]
		meta, hasMeta := a["_meta"]
		if err != nil || a["action"].Kind() != '"' || !is('{', content, hasContent) || !is('{', meta, hasMeta) {
			return false
		}
	}
	return true
}

// strictlyValid reports whether v is valid UTF-8 without a member that stands twice.
func strictlyValid(v jsontext.Value) bool { return v.IsValid() }

// members returns the members of an object as they stand. Names are compared after unescaping (RFC 8259 section 4).
func members(doc jsontext.Value) (map[string]jsontext.Value, error) {
	if doc.Kind() != '{' {
		return nil, errForm
	}
	dec := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, errNotJSON
	}
	m := map[string]jsontext.Value{}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, errNotJSON
		}
		key := name.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, errNotJSON
		}
		if _, twice := m[key]; twice {
			return nil, errTwice
		}
		m[key] = v.Clone()
	}
	return m, nil
}

func elements(doc jsontext.Value) ([]jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return nil, errNotJSON
	}
	var vs []jsontext.Value
	for k := dec.PeekKind(); k != ']' && k != 0; k = dec.PeekKind() {
		v, err := dec.ReadValue()
		if err != nil {
			return nil, errNotJSON
		}
		vs = append(vs, v.Clone())
	}
	return vs, nil
}

// nesting counts how deep arrays and objects stand in each other, in a text that need not be JSON.
func nesting(doc []byte) int {
	deepest, depth, quoted, escaped := 0, 0, false, false
	for _, b := range doc {
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = b == '\\', b != '"'
		case b == '"':
			quoted = true
		case b == '{' || b == '[':
			depth++
			deepest = max(deepest, depth)
		case b == '}' || b == ']':
			depth--
		}
	}
	return deepest
}
