package validate

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
)

// hookClasses returns what no type that says its own schema may hold: a field that is secret or internal. What such a type
// writes is its author's word, and the schema knows nothing of the tags of its fields: an output would carry past the
// boundary, and a recording would keep, what they say does not cross. A field around it that is itself of the class, or
// secret, stands for all that is within.
func hookClasses(t reflect.Type) error {
	w := hookWalk{seen: map[hookPlace]bool{}}
	w.walk(t, hookPlace{}, "")
	return errors.Join(w.faults...)
}

type hookWalk struct {
	seen   map[hookPlace]bool
	faults []error
}

type hookPlace struct {
	typ    reflect.Type
	within bool         // a type around it speaks for it
	cover  redact.Class // of the fields around it, where it is secret or internal
}

// walk looks into t, below at.
func (w *hookWalk) walk(t reflect.Type, at hookPlace, path string) {
	if t == nil { // a union's case that Of did not make
		return
	}
	at = hookPlace{t, at.within || hooked(t) || hooked(reflect.PointerTo(t)), at.cover}
	if w.seen[at] || known(t) != nil {
		return
	}
	w.seen[at] = true
	if u, ok := reflect.Zero(t).Interface().(unionType); ok && t.Kind() == reflect.Struct { // not a nil pointer to one
		for _, v := range u.variants() {
			w.walk(v.typ, at, path)
		}
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		w.walk(t.Elem(), at, path)
	case reflect.Slice, reflect.Array:
		w.walk(t.Elem(), at, path+"[]")
	case reflect.Map:
		w.walk(t.Key(), at, path)
		w.walk(t.Elem(), at, path+"{}")
	case reflect.Struct:
		for f := range t.Fields() {
			w.field(f, at, path)
		}
	}
}

func (w *hookWalk) field(f reflect.StructField, at hookPlace, path string) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case f.Tag.Get("json") == "-":
		return
	case name != "":
		path = envelope.Member(path, name)
	case !f.Anonymous:
		path = envelope.Member(path, f.Name)
	}
	class, err := redact.ClassOf(f)
	if at.within && (err != nil || !class.Crosses() && !covers(at.cover, class)) {
		if err == nil {
			err = fmt.Errorf("the class %s does not cross the boundary, and a type around the field says its own schema, which knows no class; leave the field out, or give the class to the field that holds that type", class)
		}
		w.faults = append(w.faults, fmt.Errorf("%s: %w", path, err))
		return
	}
	if err == nil && !class.Crosses() && !covers(at.cover, class) {
		at.cover = class
	}
	w.walk(f.Type, at, path)
}

// covers reports whether what is kept of the outer class is kept of the inner one too.
func covers(outer, inner redact.Class) bool {
	return outer == redact.ClassSecret || outer == redact.ClassInternal && inner == redact.ClassInternal
}
