package mcptool

import (
	"encoding/json/jsontext"
	"strconv"
	"strings"
)

// message is one message of JSON-RPC that may reach the SDK.
type message struct {
	text   jsontext.Value
	id     jsontext.Value // of a request; nil for a notification and for an answer
	key    string         // the id's value, however it is spelled; empty without an id
	method string         // empty for an answer
	opens  string         // the version of the protocol that an initialize asks for
}

// maxID is the largest integer that every reader of JSON keeps (RFC 8259 section 6); the SDK reads an id as a float64.
const maxID = 1<<53 - 1

// checkMessage checks the form that JSON-RPC 2.0 gives a message, and then that of the method's parameters. With an error, id is
// set if it can be answered to.
func checkMessage(doc jsontext.Value) (m message, err error) {
	fields, err := members(doc)
	if err != nil {
		return m, err
	}
	m.text = doc
	method, asks := fields["method"]
	id, hasID := fields["id"]
	var key string
	if hasID {
		if key, err = idKey(id); err != nil {
			return m, err
		}
	}
	if asks && hasID { // what has no method is an answer of the client's, whose id is not one of its own questions
		m.id, m.key = id, key
	}
	for name, v := range fields {
		if name == "params" {
			continue
		}
		if err := strict(v); err != nil {
			return m, err
		}
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return m, errVersion
	}
	if !asks {
		return m, checkAnswer(fields)
	}
	if method.Kind() != '"' {
		return m, errMethodForm
	}
	m.method = text(method)
	return m, m.checkParams(fields["params"])
}

// idKey returns one text for each value that an id may have, however it is spelled.
func idKey(id jsontext.Value) (string, error) {
	if len(id) == 0 {
		return "", errID
	}
	switch id.Kind() {
	case '"':
		if strict(id) != nil {
			return "", errIDText
		}
		return `"` + text(id), nil
	case '0':
		n, err := strconv.ParseInt(string(id), 10, 64)
		if err != nil || n < -maxID || n > maxID {
			return "", errID
		}
		return strconv.FormatInt(n, 10), nil
	}
	return "", errID
}

// text is the value of a JSON string.
func text(v jsontext.Value) string {
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(b)
}

func checkAnswer(fields map[string]jsontext.Value) error {
	if _, has := fields["id"]; !has {
		return errForm
	}
	result, hasResult := fields["result"]
	fault, hasFault := fields["error"]
	if hasResult == hasFault || (hasResult && result.Kind() != '{') {
		return errAnswer
	}
	if !hasFault {
		return nil
	}
	v, err := members(fault)
	if err != nil || v["message"].Kind() != '"' || strings.ContainsAny(string(v["code"]), ".eE") {
		return errAnswer
	}
	if _, err := strconv.ParseInt(string(v["code"]), 10, 32); err != nil {
		return errAnswer
	}
	return nil
}
