package upstream

import (
	"bytes"
	"encoding/json/jsontext"
)

// eachMember calls f with each member of an object, in the order sent. The value is valid until f returns.
func eachMember(object jsontext.Value, f func(name string, value jsontext.Value) error) error {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := f(name, value); err != nil {
			return err
		}
	}
	return nil
}

// eachElement calls f with each element of an array.
func eachElement(array jsontext.Value, f func(i int, value jsontext.Value) error) error {
	dec := jsontext.NewDecoder(bytes.NewReader(array))
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for i := 0; dec.PeekKind() != ']'; i++ {
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := f(i, value); err != nil {
			return err
		}
	}
	return nil
}

// appendMember writes a member to an object that has been begun.
func appendMember(out []byte, name string, value jsontext.Value) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	quoted, err := jsontext.AppendQuote(out, name)
	if err != nil { // a name that the decoder has read is UTF-8
		return out
	}
	return append(append(quoted, ':'), value...)
}
