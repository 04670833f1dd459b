package validate

import (
	"cmp"
	"encoding/json/v2"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// prove encodes values of t with something everywhere, as many as it takes for each variant of its unions to be met, and
// holds the documents to the shape of t's own schema: which members there are and of which types. It decodes them again.
// So a type whose encoding promises another form than its schema is found when the schema is made, whatever the reason.
// Of a type with a JSON form of its own the values are its author's to know: its place alone is passed over.
func prove(root *node, t reflect.Type) error {
	f := filler{rounds: 1}
	for ; f.round < f.rounds; f.round++ {
		f.own, f.said = nil, nil
		full := reflect.New(t).Elem()
		f.fill(full, "", 0)
		doc, err := json.Marshal(full.Addr().Interface(), json.Deterministic(true))
		if err != nil {
			if len(f.own) > 0 {
				return nil // a value that its author would not have made
			}
			return fmt.Errorf("%s cannot be encoded: %w", t, err)
		}
		if err := f.shaped(root, t, doc); err != nil {
			return err
		}
		if len(f.own) > 0 {
			continue
		}
		again := reflect.New(t)
		if err := json.Unmarshal(doc, again.Interface(), json.RejectUnknownMembers(true)); err != nil {
			return fmt.Errorf("%s does not read what it writes: %w", t, err)
		}
	}
	return nil
}

// shaped looks at the members and types of a document, not at the values.
func (f *filler) shaped(root *node, t reflect.Type, doc []byte) error {
	v, fault := read(doc, schemaLimits())
	if fault != nil {
		if len(f.own) > 0 {
			return nil
		}
		return fmt.Errorf("%s is encoded to a document that is refused: %w", t, fault)
	}
	j := newJudge(1 << 10)
	j.value(root, &v)
	for _, found := range j.found {
		chosen := found.rule == "anyOf" || found.rule == "oneOf"
		within := func(place string) bool { return below(found.field, place) }
		if slices.ContainsFunc(f.own, within) || chosen && slices.ContainsFunc(f.said, within) { // which of them is a matter of values
			continue
		}
		if chosen || found.unknown || found.rule == "type" || found.rule == "required" {
			return fmt.Errorf("%s: %s is encoded to a document that its own schema refuses: %s", found.field, t, found.rule)
		}
	}
	return nil
}

// maxFill is how deep a recursive type is filled.
const maxFill = 4

// filler puts something into every place of a value. Of a union it takes another variant each round.
type filler struct {
	round, rounds int
	own           []string // places of types with a JSON form of their own, left as they were
	said          []string // places of types that say their schema and leave their form to encoding/json
}

func (f *filler) fill(v reflect.Value, path string, depth int) {
	t := v.Type()
	if u, ok := v.Interface().(unionType); ok && t.Kind() == reflect.Struct {
		f.union(v, u, path, depth)
		return
	}
	switch of := v.Addr().Interface().(type) {
	case *time.Time:
		*of = time.Unix(0, 0).UTC()
		return
	case *Date:
		*of = Date{1970, 1, 1}
		return
	}
	switch {
	case known(t) != nil:
		return
	case special(t):
		f.own = append(f.own, path)
		return
	case hooked(t):
		f.said = append(f.said, path)
	}
	switch t.Kind() {
	case reflect.Pointer:
		if depth < maxFill {
			v.Set(reflect.New(t.Elem()))
			f.fill(v.Elem(), path, depth+1)
		}
	case reflect.Struct:
		f.structure(v, path, depth)
	case reflect.Slice:
		if depth < maxFill {
			v.Set(reflect.MakeSlice(t, 1, 1))
			f.fill(v.Index(0), path+"[0]", depth+1)
		}
	case reflect.Array:
		for i := range t.Len() {
			f.fill(v.Index(i), fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case reflect.Map:
		if depth < maxFill {
			elem := reflect.New(t.Elem()).Elem()
			f.fill(elem, path, depth+1) // a key is no declared place
			v.Set(reflect.MakeMap(t))
			v.SetMapIndex(reflect.ValueOf(aKey(t.Key())).Convert(t.Key()), elem)
		}
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
	default: // nothing is known to put there, and nil has no form
		f.own = append(f.own, path)
	}
}

// aKey returns a name that a map with keys of the type may have, one of its values where it lists them.
func aKey(t reflect.Type) string {
	if e, ok := reflect.Zero(t).Interface().(Enumerated); ok {
		return e.Values()[0]
	}
	return "k"
}

func (f *filler) structure(v reflect.Value, path string, depth int) {
	for i := range v.NumField() {
		of := v.Type().Field(i)
		name, _, _ := strings.Cut(of.Tag.Get("json"), ",")
		switch {
		case of.Tag.Get("json") == "-":
		case of.Anonymous && name == "": // its members stand among those of v; one that is not exported is no place of its own
			if of.Type.Kind() == reflect.Struct {
				f.structure(v.Field(i), path, depth)
			}
		case of.IsExported():
			f.fill(v.Field(i), envelope.Member(path, cmp.Or(name, of.Name)), depth)
		}
	}
}

func (f *filler) union(v reflect.Value, u unionType, path string, depth int) {
	list := u.variants()
	if depth >= maxFill || len(list) == 0 {
		f.own = append(f.own, path)
		return
	}
	f.rounds = max(f.rounds, len(list))
	variant := reflect.New(list[f.round%len(list)].typ).Elem()
	f.fill(variant, path, depth+1)
	v.FieldByName("Value").Set(variant)
}
