package redact

import (
	"errors"
	"fmt"
	"reflect"
)

// Class says who may see a field and how far its text is to be believed. It is declared by the struct tag redact, as in
//
//	Email string `json:"email" redact:"personal"`
//
// The zero value, ClassUnset, is a field without the tag: it may cross, and where it is free text it counts as
// untrusted.
type Class uint8

// The classes.
const (
	ClassUnset     Class = iota
	ClassSecret          // credentials, tokens: never in an output; every Secret[T] is one without a tag
	ClassInternal        // of the host's own: never in an output
	ClassPersonal        // of a person: may cross where the contract says so, digested with the tenant's key alone
	ClassUntrusted       // text from outside: may cross, must not be obeyed
	ClassTrusted         // free text that the contract's author vouches for
)

// ErrClass is wrapped by the errors of a tag that names no class, or contradicts the field's type.
var ErrClass = errors.New("redact: field class")

// String returns the class as the tag spells it; "" for ClassUnset.
func (c Class) String() string {
	switch c {
	case ClassUnset:
		return ""
	case ClassSecret:
		return "secret"
	case ClassInternal:
		return "internal"
	case ClassPersonal:
		return "personal"
	case ClassUntrusted:
		return "untrusted"
	case ClassTrusted:
		return "trusted"
	}
	return "invalid"
}

// Crosses reports whether an output may have a field of the class at all. Secret and internal fields, and what is no
// class, may not.
func (c Class) Crosses() bool {
	switch c {
	case ClassUnset, ClassPersonal, ClassUntrusted, ClassTrusted:
		return true
	case ClassSecret, ClassInternal:
		return false
	}
	return false
}

// ParseClass returns the class that the text names, spelt exactly; the error wraps [ErrClass].
func ParseClass(text string) (Class, error) {
	for c := ClassSecret; c <= ClassTrusted; c++ {
		if c.String() == text {
			return c, nil
		}
	}
	return ClassUnset, fmt.Errorf("%w: not one of secret, internal, personal, untrusted, trusted", ErrClass)
}

// ClassOf returns the class of a struct's field by its tag and type: a field that is a [Secret], or a pointer to one or
// a slice, array or map of them, is ClassSecret. A tag that names no class, an empty one, or another class on a Secret
// is an error that wraps [ErrClass]: a misspelt class must not pass for none.
func ClassOf(f reflect.StructField) (Class, error) {
	declared, err := ClassUnset, error(nil)
	if tag, ok := f.Tag.Lookup("redact"); ok {
		if declared, err = ParseClass(tag); err != nil {
			return ClassUnset, err
		}
	}
	t := f.Type
	met := map[reflect.Type]bool{} // a list may hold itself
	for _, secret := SecretType(t); !secret; _, secret = SecretType(t) {
		if met[t] {
			return declared, nil
		}
		met[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return declared, nil
		}
	}
	if declared != ClassUnset && declared != ClassSecret {
		return ClassUnset, fmt.Errorf("%w: a Secret is declared %s", ErrClass, declared)
	}
	return ClassSecret, nil
}

// SecretType returns T where t is Secret[T], otherwise false.
func SecretType(t reflect.Type) (of reflect.Type, ok bool) {
	if t.Kind() != reflect.Struct {
		return nil, false
	}
	s, ok := reflect.Zero(t).Interface().(concealed)
	if !ok {
		return nil, false
	}
	return s.concealedType(), true
}
