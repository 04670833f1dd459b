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
	codeMethod        = -32601
	codeInvalidParams = -32602
)

var (
	errNotJSON    = &fault{codeParse, "the message is not one JSON text"}
	errTooLarge   = &fault{codeRequest, "the message is too large"}
	errTooDeep    = &fault{codeRequest, "the message is nested too deeply"}
	errTwice      = &fault{codeRequest, "a member of the message stands twice"}
	errText       = &fault{codeRequest, "a text of the message is not valid Unicode"}
	errForm       = &fault{codeRequest, "the message is not a JSON-RPC message of this protocol"}
	errVersion    = &fault{codeRequest, "the member jsonrpc must be \"2.0\""}
	errMethodForm = &fault{codeRequest, "the method must be a text"}
	errParamsForm = &fault{codeRequest, "the params must be an object"}
	errID         = &fault{codeRequest, "the id must be a text, or an integer from -(2^53-1) to 2^53-1 without a fraction or an exponent"}
	errIDText     = &fault{codeRequest, "the id is not valid Unicode"}
	errNoID       = &fault{codeRequest, "a request must have an id"}
	errIDTwice    = &fault{codeRequest, "the id is that of another request that has no answer so far"}
	errCancelled  = &fault{codeRequest, "the requestId must be a text, or an integer from -(2^53-1) to 2^53-1 without a fraction or an exponent"}
	errAnswer     = &fault{codeRequest, "an answer must have either a result, which is an object, or an error with an integer code and a message"}
	errNoBatch    = &fault{codeRequest, "the protocol of this session has no batches"}
	errBatch      = &fault{codeRequest, "a batch must hold 1 to 64 messages, and none that initializes"}
	errMethod     = &fault{codeMethod, "the server does not have this method"}
	errParams     = &fault{codeInvalidParams, "the parameters do not have the form that the protocol gives them"}
	errCallParams = &fault{codeInvalidParams, "the parameters of the call do not have the form that the protocol gives them"}

	// errNotice is a notification that the server does not have. JSON-RPC gives it no answer.
	errNotice = &fault{codeMethod, "the server does not have this notification"}
)

// maxNesting is less than the SDK's bound, over which it drops the connection, and more than any tool's.
const maxNesting = 512

// maxBatch bounds a batch of JSON-RPC, which the protocols before 2025-06-18 have.
const maxBatch = 64

// hasBatches reports whether a version of the protocol has batches of JSON-RPC.
func hasBatches(version string) bool { return version == "2024-11-05" || version == "2025-03-26" }

// frame is what arrived as one text: a message, or a batch of them.
type frame struct {
	messages []message
	batch    bool
}

// checkFrame reads the message around a call's arguments strictly, since the SDK takes the last of two members that stand twice,
// rounds numbers, quotes what it cannot decode, and ends the connection over what is not JSON-RPC. The arguments are the boundary's
// to check: of them only the grammar is looked at. With an error it returns the id to answer to, if the message is one call that
// has one.
func checkFrame(doc []byte, batches bool) (frame, jsontext.Value, error) {
	if nesting(doc) > maxNesting {
		return frame{}, nil, errTooDeep
	}
	dec := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	v, err := dec.ReadValue()
	if err != nil {
		return frame{}, nil, errNotJSON
	}
	v = v.Clone() // the decoder writes over what it has read
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return frame{}, nil, errNotJSON
	}
	if v.Kind() == '[' {
		f, err := checkBatch(v, batches)
		return f, nil, err
	}
	m, err := checkMessage(v)
	if err != nil {
		return frame{}, m.id, err
	}
	return frame{messages: []message{m}}, nil, nil
}

func checkBatch(v jsontext.Value, batches bool) (frame, error) {
	if !batches {
		return frame{}, errNoBatch
	}
	texts, err := elements(v)
	if err != nil {
		return frame{}, err
	}
	if len(texts) == 0 || len(texts) > maxBatch {
		return frame{}, errBatch
	}
	f := frame{batch: true}
	asked := map[string]bool{}
	for _, text := range texts {
		m, err := checkMessage(text)
		switch {
		case errors.Is(err, errNotice):
			continue
		case err != nil:
			return frame{}, err
		case m.method == methodInitialize:
			return frame{}, errBatch
		case m.key != "" && asked[m.key]:
			return frame{}, errIDTwice
		}
		asked[m.key] = true
		f.messages = append(f.messages, m)
	}
	if len(f.messages) == 0 {
		return frame{}, errNotice
	}
	return f, nil
}

// strict says why v is not valid Unicode without a member that stands twice, nil when it is.
func strict(v jsontext.Value) error {
	switch {
	case v.IsValid():
		return nil
	case v.IsValid(jsontext.AllowDuplicateNames(true)):
		return errTwice
	}
	return errText
}

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
