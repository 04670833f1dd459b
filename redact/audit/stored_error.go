package audit

import "fmt"

// StoredError is an error as a durable store returns it: what it said, and the Go types of the errors that it wrapped,
// the outermost first. It is for the operators alone, like the item that holds it.
type StoredError struct {
	Text  string   `json:"text"`
	Types []string `json:"types"`
}

// Error returns the text.
func (e *StoredError) Error() string { return e.Text }

// maxCause bounds a cause's text in a durable store, in bytes, and the number of its types.
const (
	maxCause      = 64 << 10
	maxCauseTypes = 64
)

// storedError describes an error so that it can be stored; nil for nil. One that was stored before stays what it is.
func storedError(err error) *StoredError {
	if err == nil {
		return nil
	}
	if e, ok := err.(*StoredError); ok { //nolint:errorlint // the error itself, not one that it wraps
		return e
	}
	text := err.Error()
	e := &StoredError{Text: text[:min(len(text), maxCause)]}
	e.collect(err)
	return e
}

func (e *StoredError) collect(err error) {
	if err == nil || len(e.Types) == maxCauseTypes {
		return
	}
	e.Types = append(e.Types, fmt.Sprintf("%T", err))
	switch w := err.(type) { //nolint:errorlint // a walk through what is wrapped
	case interface{ Unwrap() error }:
		e.collect(w.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range w.Unwrap() {
			e.collect(one)
		}
	}
}
