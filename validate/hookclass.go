package validate

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
)

// hookClasses returns what an output must not carry within types that say their own schema: what such a type writes is
// its author's word, and the tags of its fields are all that can be looked at.
func hookClasses(t reflect.Type) error {
	w := hookWalk{seen: map[hookPlace]bool{}}
	w.walk(t, "", false)
	return errors.Join(w.faults...)
}

type hookWalk struct {
	seen   map[hookPlace]bool
	faults []error
}

type hookPlace struct {
	typ    reflect.Type
	hooked bool
}

// walk looks into t; within says that a type around it speaks for it.
func (w *hookWalk) walk(t reflect.Type, path string, within bool) {
	if t == nil { // a union's case that Of did not make
		return
	}
	within = within || hooked(t) || hooked(reflect.PointerTo(t))
	at := hookPlace{t, within}
	if w.seen[at] || known(t) != nil {
		return
	}
	w.seen[at] = true
	if u, ok := reflect.Zero(t).Interface().(unionType); ok && t.Kind() == reflect.Struct { // not a nil pointer to one
		for _, v := range u.variants() {
			w.walk(v.typ, path, within)
		}
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		w.walk(t.Elem(), path, within)
	case reflect.Struct:
		for f := range t.Fields() {
			w.field(f, path, within)
		}
	}
}

func (w *hookWalk) field(f reflect.StructField, path string, within bool) {
	if f.Tag.Get("json") == "-" {
		return
	}
	path = envelope.Member(path, f.Name)
	if class, err := redact.ClassOf(f); within && (err != nil || !class.Crosses()) {
		if err == nil {
			err = fmt.Errorf("the class %s does not cross the boundary, and the type says its own schema; leave the field out of the output's type", class)
		}
		w.faults = append(w.faults, fmt.Errorf("%s: %w", path, err))
		return
	}
	w.walk(f.Type, path, within)
}
