package validate

import (
	"encoding"
	"encoding/json"
	jsonv2 "encoding/json/v2"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
)

// field is a struct field as encoding/json writes it.
type field struct {
	name  string
	where string
	typ   reflect.Type
	index []int
	tag   tags
}

// fields lists the members of a struct in the order in which encoding/json writes them, embedded structs in their
// place, and lints every tag.
func (d *deriver) fields(t reflect.Type, where string) []field {
	var list []field
	d.walk(t, where, nil, &list, map[reflect.Type]bool{t: true})
	at := map[string]int{}
	for i, f := range list {
		if k, ok := at[f.name]; ok {
			d.fail(f.where, "two fields have this name (%s and %s); encoding/json would leave one of them out",
				t.FieldByIndex(list[k].index).Name, t.FieldByIndex(f.index).Name)
		}
		at[f.name] = i
	}
	return list
}

func (d *deriver) walk(t reflect.Type, where string, index []int, list *[]field, open map[reflect.Type]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(slices.Clone(index), i)
		switch {
		case f.Tag.Get("json") == "-":
			d.tagKeys(f.Tag, envelope.Member(where, f.Name))
		case f.Anonymous && name == "":
			d.embedded(f, where, at, list, open)
		case !f.IsExported():
			if f.Tag.Get("json") != "" {
				d.fail(envelope.Member(where, f.Name), "an unexported field has no json tag; encoding/json refuses it")
			}
		default:
			d.field(f, name, opts, where, at, list)
		}
	}
}

// embedded inlines an embedded struct, as encoding/json does.
func (d *deriver) embedded(f reflect.StructField, where string, at []int, list *[]field, open map[reflect.Type]bool) {
	path := envelope.Member(where, f.Name)
	d.tagKeys(f.Tag, path)
	if _, ok := f.Tag.Lookup("redact"); ok {
		d.fail(path, "an embedded field has no redact tag: it would bind none of its members; give each its own, or name the field in a json tag")
	}
	for _, key := range [...]string{"jsonschema", "lint"} {
		if _, ok := f.Tag.Lookup(key); ok {
			d.fail(path, "the tag %q of an embedded struct would be passed over; its fields have tags of their own", key)
		}
	}
	switch {
	case f.Type.Kind() == reflect.Pointer:
		d.fail(path, "an embedded pointer: when it is nil, its members are missing from the document")
	case f.Type.Kind() != reflect.Struct:
		d.fail(path, "an embedded field that is no struct needs a name in its json tag")
	case special(f.Type):
		d.fail(path, "an embedded struct with a JSON form of its own needs a name in its json tag")
	case open[f.Type]:
		d.fail(path, "a struct that embeds itself")
	default:
		if !f.IsExported() && f.Tag.Get("json") != "" {
			d.fail(path, "an unexported field has no json tag; encoding/json refuses it")
			return
		}
		open[f.Type] = true
		d.walk(f.Type, where, at, list, open)
		delete(open, f.Type)
	}
}

func (d *deriver) field(f reflect.StructField, name, opts, where string, at []int, list *[]field) {
	if name == "" {
		name = f.Name
	}
	path := envelope.Member(where, name)
	if !envelope.Showable(name) {
		d.fail(envelope.Member(where, f.Name), "a member name must match ^[A-Za-z_][A-Za-z0-9_-]{0,63}$, since places are shown")
	}
	if why := endless(f.Type); why != "" {
		d.fail(path, "%s", why)
		return
	}
	out := field{name: name, where: path, typ: f.Type, index: at}
	optional := d.options(opts, path)
	out.tag = d.tags(f, path)
	switch {
	case f.Tag.Get("jsonschema") == "-":
		d.fail(path, `jsonschema:"-" hides a member that encoding/json still writes; use json:"-"`)
	case optional && out.tag.required:
		d.fail(path, "required, and left out when it is empty: the two contradict each other")
	case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Pointer:
		d.fail(path, "a pointer to a pointer")
	case f.Type.Kind() == reflect.Pointer && !optional && !out.tag.nullable:
		d.fail(path, "a pointer is written as null when it is nil; give omitzero, or the nullable tag")
	case f.Type.Kind() != reflect.Pointer && out.tag.nullable:
		d.fail(path, "nullable needs a pointer; null would become the zero value")
	case out.tag.nullable && optional:
		d.fail(path, "nullable and left out when it is nil: null could not be written")
	}
	*list = append(*list, out)
}

// options reads the options of a json tag and reports whether the member may be missing.
func (d *deriver) options(opts, path string) (optional bool) {
	if opts == "" {
		return false
	}
	for opt := range strings.SplitSeq(opts, ",") {
		switch opt {
		case "omitzero", "omitempty":
			optional = true
		case "case:strict":
		default:
			d.fail(path, "the json option %q is not understood here", opt)
		}
	}
	return optional
}

// refused says why a type cannot stand in a contract, "" where it can. Types whose own encoding breaks the schema that
// would be derived from them are the danger: the schema would promise one form and the wire carry another.
func refused(t reflect.Type) string {
	if _, ok := redact.SecretType(t); ok {
		if embeds(t) {
			return t.String() + " embeds a redact.Secret, which would be all that is written of it; give the secret a field of its own"
		}
		return refused(bare(t))
	}
	if known(t) != nil {
		return ""
	}
	if _, ok := reflect.Zero(t).Interface().(unionType); ok && t.Kind() == reflect.Struct {
		if t.NumField() != 1 || t.Field(0).Anonymous {
			return t.String() + " embeds a union, whose form would be all that is written of it; give the union a field of its own"
		}
		return ""
	}
	hook := reflect.TypeFor[hooker]()
	if why := misplacedValues(t); why != "" {
		return why
	}
	switch {
	case promotes(t) != nil:
		return t.String() + " embeds " + promotes(t).String() + ", whose JSONSchema would be all that is said of it; give that a field of its own"
	case t.Kind() == reflect.Pointer:
		return "a pointer here would be written as null when it is nil"
	case !t.Implements(hook) && reflect.PointerTo(t).Implements(hook):
		return t.String() + " has JSONSchema on its pointer, where it is not seen; give it a value receiver"
	case t.Implements(hook):
		return ""
	case implements(t, "JSONSchemaAlias", "JSONSchemaExtend", "JSONSchemaProperty"):
		return t.String() + " changes the derived schema by a method that is not understood here; give it JSONSchema"
	case special(t):
		return t.String() + " has a JSON form of its own; give it a JSONSchema method that says which, or use a plain type"
	}
	return refusedKind(t)
}

// endless says that a type, or what its lists and maps hold, points to itself, "" where none does: a walk that follows
// pointers would not come back.
func endless(t reflect.Type) string {
	for met := map[reflect.Type]bool{}; !met[t]; t = t.Elem() {
		met[t] = true
		switch t = bare(t); t.Kind() {
		case reflect.Pointer:
			return t.String() + " points to itself"
		case reflect.Slice, reflect.Array, reflect.Map:
		default:
			return ""
		}
	}
	return ""
}

// embeds reports whether a struct embeds anything: its methods may be another type's.
func embeds(t reflect.Type) bool {
	for f := range t.Fields() {
		if f.Anonymous {
			return true
		}
	}
	return false
}

// promotes returns the embedded type whose JSONSchema is, or may be, the one that a struct has: reflection does not tell a
// method that is promoted from one that is written. It is nil where there is none.
func promotes(t reflect.Type) reflect.Type {
	if t.Kind() != reflect.Struct {
		return nil
	}
	hook := reflect.TypeFor[hooker]()
	for f := range t.Fields() {
		if f.Anonymous && (f.Type.Implements(hook) || reflect.PointerTo(f.Type).Implements(hook)) {
			return f.Type
		}
	}
	return nil
}

func implements(t reflect.Type, methods ...string) bool {
	for _, m := range methods {
		if _, ok := reflect.PointerTo(t).MethodByName(m); ok {
			return true
		}
	}
	return false
}

// maxPointers is how many pointers and secrets stand around a type before they are followed no more: a type may point to
// itself.
const maxPointers = 32

// bare returns the type whose form is written: through a pointer, and what a redact.Secret hides. Of a type that points to
// itself it returns a pointer, which is refused.
func bare(t reflect.Type) reflect.Type {
	for n := 0; ; n++ {
		if of, ok := redact.SecretType(t); ok && !embeds(t) {
			t = of
			continue
		}
		if t.Kind() != reflect.Pointer || n >= maxPointers {
			return t
		}
		t = t.Elem()
	}
}

func refusedKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Interface:
		return "an interface admits anything; use OneOf for a choice"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return t.String() + " is written as base64 or as numbers, depending; use string"
		}
	case reflect.Map:
		k := t.Key()
		if k.Kind() != reflect.String || special(k) {
			return "a map needs keys of a string type without a form of its own"
		}
		return refused(k)
	case reflect.Int64:
		if t.PkgPath() == "time" {
			return "time.Duration has no form of its own in JSON; use an integer with its unit in the name"
		}
	case reflect.Uintptr, reflect.Complex64, reflect.Complex128, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return t.String() + " has no form in JSON"
	case reflect.Struct:
		if t.PkgPath() == "net/url" {
			return "url.URL is written as an object of its parts; use a string with format=uri"
		}
	}
	return ""
}

// special reports whether a type, or its pointer, has an encoding of its own.
func special(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	for _, i := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[jsonv2.MarshalerTo](),
		reflect.TypeFor[jsonv2.UnmarshalerFrom](), reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
		reflect.TypeFor[encoding.TextAppender](),
	} {
		if p.Implements(i) {
			return true
		}
	}
	return false
}
