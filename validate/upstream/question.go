package upstream

import (
	"encoding"
	"encoding/json/v2"
	"errors"
	"fmt"
	"reflect"
	"time"
)

var errQuestion = errors.New("two questions could look alike to a cache")

// distinct reports whether the canonical form of a question holds all of it: what the form leaves out would let one
// question be answered with another's answer. A type with a JSON form of its own is believed.
func distinct(t reflect.Type, at string, seen map[reflect.Type]bool) error {
	if seen[t] || ownForm(t) {
		return nil
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return distinct(t.Elem(), at, seen)
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return fmt.Errorf("%s: a %s: %w", at, t.Kind(), errQuestion)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			where := at + "." + f.Name
			if !f.IsExported() && !f.Anonymous || f.Tag.Get("json") == "-" {
				return fmt.Errorf("%s: is not written: %w", where, errQuestion)
			}
			if err := distinct(f.Type, where, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

func ownForm(t reflect.Type) bool {
	if t == reflect.TypeFor[time.Time]() {
		return true
	}
	for _, form := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.MarshalerTo](), reflect.TypeFor[encoding.TextMarshaler](),
	} {
		if t.Implements(form) {
			return true
		}
	}
	return false
}
