package upstream

import (
	"bytes"
	"encoding/json/jsontext"
)

// The functions of this file walk over JSON that has passed a strict parse: they look for where things end, not for what
// is wrong. What they return shares the document's bytes.

// eachMember calls f with each member of an object, in the order sent.
func eachMember(object jsontext.Value, f func(name string, value jsontext.Value) error) error {
	for i := space(object, 1); object[i] != '}'; {
		end := stringEnd(object, i)
		name, err := unquoted(object[i:end])
		if err != nil {
			return err
		}
		i = space(object, space(object, end)+1) // over the colon
		end = valueEnd(object, i)
		if err := f(name, object[i:end]); err != nil {
			return err
		}
		if i = space(object, end); object[i] == ',' {
			i = space(object, i+1)
		}
	}
	return nil
}

// eachElement calls f with each element of an array.
func eachElement(array jsontext.Value, f func(i int, value jsontext.Value) error) error {
	for n, i := 0, space(array, 1); array[i] != ']'; n++ {
		end := valueEnd(array, i)
		if err := f(n, array[i:end]); err != nil {
			return err
		}
		if i = space(array, end); array[i] == ',' {
			i = space(array, i+1)
		}
	}
	return nil
}

func space(doc []byte, i int) int {
	for doc[i] == ' ' || doc[i] == '\t' || doc[i] == '\n' || doc[i] == '\r' {
		i++
	}
	return i
}

// stringEnd returns where the string that begins at i ends.
func stringEnd(doc []byte, i int) int {
	for i++; doc[i] != '"'; i++ {
		if doc[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// valueEnd returns where the value that begins at i ends.
func valueEnd(doc []byte, i int) int {
	depth := 0
	for i < len(doc) {
		switch doc[i] {
		case '"':
			if i = stringEnd(doc, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 { // of what a number or a word stands in
				return i
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}

// unquoted reads a member name.
func unquoted(quoted []byte) (string, error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	name, err := jsontext.AppendUnquote(nil, quoted)
	return string(name), err
}

// appendMember writes a member to an object that has been begun.
func appendMember(out []byte, name string, value jsontext.Value) []byte {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	quoted, err := jsontext.AppendQuote(out, name)
	if err != nil { // a name that has been read is UTF-8
		return out
	}
	return append(append(quoted, ':'), value...)
}
