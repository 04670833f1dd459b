package validate

import (
	"encoding/json/v2"
	"fmt"
	"reflect"
	"time"
)

// prove encodes two values of t, the smallest and one with something everywhere, and holds the documents to the shape
// of t's own schema: which members there are and of which types. It decodes the fuller one again. So a type whose
// encoding promises another form than its schema is found when the schema is made, whatever the reason.
func prove(root *node, t reflect.Type) error {
	full := reflect.New(t).Elem()
	if !fill(full, 0) {
		return nil // a type with a form of its own, which knows alone what its values are
	}
	doc, err := json.Marshal(full.Addr().Interface(), json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("%s cannot be encoded: %w", t, err)
	}
	if err := shaped(root, t, doc); err != nil {
		return err
	}
	again := reflect.New(t)
	if err := json.Unmarshal(doc, again.Interface(), json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%s does not read what it writes: %w", t, err)
	}
	return nil
}

// shaped looks at the members and types of a document, not at the values.
func shaped(root *node, t reflect.Type, doc []byte) error {
	v, fault := read(doc, schemaLimits())
	if fault != nil {
		return fmt.Errorf("%s is encoded to a document that is refused: %w", t, fault)
	}
	j := newJudge(1 << 10)
	j.value(root, &v)
	for _, f := range j.found {
		if f.unknown || f.rule == "type" || f.rule == "required" || f.rule == "anyOf" || f.rule == "oneOf" {
			return fmt.Errorf("%s: %s is encoded to a document that its own schema refuses: %s", f.field, t, f.rule)
		}
	}
	return nil
}

// maxFill is how deep a recursive type is filled.
const maxFill = 4

// fill puts something into every place of v; false where a type keeps its form to itself.
func fill(v reflect.Value, depth int) bool {
	t := v.Type()
	if u, ok := v.Interface().(unionType); ok && t.Kind() == reflect.Struct {
		return fillUnion(v, u, depth)
	}
	switch of := v.Addr().Interface().(type) {
	case *time.Time:
		*of = time.Unix(0, 0).UTC()
		return true
	case *Date:
		*of = Date{1970, 1, 1}
		return true
	}
	if known(t) != nil {
		return true
	}
	if hooked(t) || special(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer:
		if depth >= maxFill {
			return true
		}
		v.Set(reflect.New(t.Elem()))
		return fill(v.Elem(), depth+1)
	case reflect.Struct:
		return fillStruct(v, depth)
	case reflect.Slice:
		if depth >= maxFill {
			return true
		}
		v.Set(reflect.MakeSlice(t, 1, 1))
		return fill(v.Index(0), depth+1)
	case reflect.Array:
		for i := range t.Len() {
			if !fill(v.Index(i), depth+1) {
				return false
			}
		}
	case reflect.Map:
		elem := reflect.New(t.Elem()).Elem()
		if depth >= maxFill {
			return true
		}
		v.Set(reflect.MakeMap(t))
		ok := fill(elem, depth+1)
		v.SetMapIndex(reflect.ValueOf(aKey(t.Key())).Convert(t.Key()), elem)
		return ok
	case reflect.String:
		v.SetString("a")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1)
	}
	return true
}

// aKey returns a name that a map with keys of the type may have, one of its values where it lists them.
func aKey(t reflect.Type) string {
	if e, ok := reflect.Zero(t).Interface().(Enumerated); ok {
		return e.Values()[0]
	}
	return "k"
}

func fillStruct(v reflect.Value, depth int) bool {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("json") == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if !v.Field(i).CanSet() { // an embedded struct that is not exported: its fields can be set one by one
			if f.Type.Kind() != reflect.Struct || !fillStruct(v.Field(i), depth) {
				return false
			}
			continue
		}
		if !fill(v.Field(i), depth) {
			return false
		}
	}
	return true
}

// fillUnion puts the first variant in.
func fillUnion(v reflect.Value, u unionType, depth int) bool {
	list := u.variants()
	if depth >= maxFill || len(list) == 0 {
		return false
	}
	variant := reflect.New(list[0].typ).Elem()
	if !fill(variant, depth+1) {
		return false
	}
	v.FieldByName("Value").Set(variant)
	return true
}
