package validate

import (
	"cmp"
	"encoding/json"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"uuid"

	"github.com/invopop/jsonschema"
)

// Bounds that are published where a type gives none of its own.
const (
	defaultText    = 1024 // code points of a string
	defaultMoment  = 64   // of a string with the format date-time or time
	defaultItems   = 100  // of an array
	defaultMembers = 64   // of a map
)

// deriver makes the schema document of a Go type. Every named composite type becomes a definition of its own, so that
// a recursive type ends and two packages may use one name; definitions that are used once are put in place again.
type deriver struct {
	root   reflect.Type            // referred to as "#"
	names  map[reflect.Type]string // of definitions, under $defs; the root's is empty
	taken  map[string]bool
	defs   map[string]*jsonschema.Schema
	first  map[string]string     // where a definition was met first
	met    map[reflect.Type]bool // structs whose fields were looked at for their faults alone
	order  []reflect.Type
	faults []error
}

// derive returns the document for t, or every fault of the type and its tags, each with its field.
func derive(t reflect.Type) (jsontext.Value, error) {
	d := &deriver{root: t, names: map[reflect.Type]string{}, taken: map[string]bool{}, defs: map[string]*jsonschema.Schema{}, first: map[string]string{}, met: map[reflect.Type]bool{}}
	root := d.whole(t, "")
	for i := 0; i < len(d.order); i++ { // making one definition may ask for more
		name := d.names[d.order[i]]
		d.defs[name] = d.whole(d.order[i], d.first[name])
	}
	if err := errors.Join(d.faults...); err != nil {
		return nil, err
	}
	d.place(root)
	doc, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	return arrange(doc)
}

func (d *deriver) fail(where, format string, args ...any) {
	err := fmt.Errorf(format, args...)
	if where != "" {
		err = fmt.Errorf("%s: %w", where, err)
	}
	d.faults = append(d.faults, err)
}

// whole makes the schema of one type; named composite types within it become references.
func (d *deriver) whole(t reflect.Type, where string) *jsonschema.Schema {
	if why := cmp.Or(endless(t), refused(t)); why != "" {
		d.fail(where, "%s", why)
		return &jsonschema.Schema{}
	}
	if u, ok := reflect.Zero(t).Interface().(unionType); ok {
		return d.union(t, u, where)
	}
	if known(t) == nil && !hooked(t) && t.Kind() == reflect.Struct {
		return d.structure(t, where)
	}
	s := d.reflect(t)
	d.complete(t, s, where)
	return s
}

// reflect lets invopop/jsonschema derive one type.
func (d *deriver) reflect(t reflect.Type) *jsonschema.Schema {
	first := true
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, Mapper: func(in reflect.Type) *jsonschema.Schema {
		if first {
			first = false
			return fixed(in)
		}
		return d.within(in)
	}}
	s := r.ReflectFromType(t)
	s.Version = ""
	return s
}

// within maps a type met inside another; nil leaves it to the reflector.
func (d *deriver) within(t reflect.Type) *jsonschema.Schema {
	if s := fixed(t); s != nil {
		return s
	}
	if refused(t) != "" {
		return &jsonschema.Schema{} // reported by the walk over the fields, which knows the path
	}
	if t.Name() == "" || !composite(t) {
		return nil
	}
	if t == d.root {
		return &jsonschema.Schema{Ref: "#"}
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + d.name(t)}
}

func composite(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
		return true
	}
	return false
}

// name returns the name of a type's definition, one that no other type has.
func (d *deriver) name(t reflect.Type) string {
	if name, ok := d.names[t]; ok {
		return name
	}
	base := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' {
			return r
		}
		return -1
	}, shortName(t.Name()))
	name := base
	for i := 2; d.taken[name]; i++ {
		name = base + "_" + strconv.Itoa(i)
	}
	d.names[t] = name
	d.taken[name] = true
	d.order = append(d.order, t)
	return name
}

// shortName cuts the package paths out of a type argument: Page[example.com/x.Order] is PageOrder.
func shortName(name string) string {
	base, args, generic := strings.Cut(name, "[")
	if !generic {
		return name
	}
	for arg := range strings.SplitSeq(strings.TrimSuffix(args, "]"), ",") {
		base += arg[strings.LastIndexAny(arg, "./")+1:]
	}
	return base
}

// fixed returns the schema of a type that says its own, a copy: the reflector writes into what it is given.
func fixed(t reflect.Type) *jsonschema.Schema {
	if s := known(t); s != nil {
		return s
	}
	if promotes(t) != nil {
		return &jsonschema.Schema{} // refused, and not asked: what it embeds may be nil
	}
	h, ok := reflect.Zero(t).Interface().(hooker)
	if !ok {
		return nil
	}
	s := h.JSONSchema()
	if s == nil {
		return &jsonschema.Schema{} // says nothing: refused as open
	}
	c := *s
	return &c
}

// known returns the schema of the types whose text form is fixed: of the standard library, of this package's vocabulary,
// and enumerations that list their values.
func known(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time", MaxLength: ptr(uint64(momentLength))}
	case reflect.TypeFor[uuid.UUID]():
		return &jsonschema.Schema{Type: "string", Format: "uuid"}
	case reflect.TypeFor[Date]():
		return &jsonschema.Schema{Type: "string", Format: "date"}
	case reflect.TypeFor[Reference]():
		return &jsonschema.Schema{Type: "string", Pattern: referencePattern, MaxLength: ptr(uint64(referenceLength))}
	}
	if e, ok := reflect.Zero(t).Interface().(Enumerated); ok && t.Kind() == reflect.String && !special(t) {
		s := &jsonschema.Schema{Type: "string"}
		for _, v := range e.Values() {
			s.Enum = append(s.Enum, v)
		}
		return s
	}
	return nil
}

// misplacedValues says why the values that t lists would be passed over, "" where they would not.
func misplacedValues(t reflect.Type) string {
	lists := reflect.TypeFor[Enumerated]()
	switch {
	case composite(t) || t.Kind() == reflect.Interface || t.Kind() == reflect.Pointer:
	case !t.Implements(lists) && reflect.PointerTo(t).Implements(lists):
		return t.String() + " has Values on its pointer, where it is not seen; give it a value receiver"
	case t.Implements(lists) && t.Kind() != reflect.String:
		return t.String() + " lists values and is no string type; an enumeration is one"
	}
	return ""
}

// values refuses an enumeration without values, which would admit nothing, or all, as the reader likes, and values that
// no document can hold.
func (d *deriver) values(t reflect.Type, s *jsonschema.Schema, where string) {
	e, ok := reflect.Zero(t).Interface().(Enumerated)
	if !ok {
		return
	}
	if len(s.Enum) == 0 {
		d.fail(where, "%s lists no values", t)
	}
	if slices.ContainsFunc(e.Values(), func(v string) bool { return !utf8.ValidString(v) }) {
		d.fail(where, "%s lists a value that is not UTF-8", t)
	}
}

// structure lints the fields of a struct, lets the reflector derive it, and completes what that made of them.
func (d *deriver) structure(t reflect.Type, where string) *jsonschema.Schema {
	d.met[t] = true
	before := len(d.faults)
	list := d.fields(t, where)
	if len(d.faults) > before {
		d.missed(list)
		return &jsonschema.Schema{}
	}
	s := d.reflect(t)
	if s.Properties == nil || s.Properties.Len() != len(list) {
		d.fail(where, "%s: its members cannot be derived as encoding/json writes them", t)
		return s
	}
	for _, f := range list {
		p, ok := s.Properties.Get(f.name)
		if !ok {
			d.fail(f.where, "not derived as encoding/json writes it")
			continue
		}
		inner := d.beneath(f, p)
		if own := fixed(bare(f.typ)); own != nil && inner.Description == "" {
			inner.Description = own.Description // the reflector lets the tag's silence overwrite it
		}
		d.complete(f.typ, inner, f.where)
		d.objectTags(f, p)
	}
	return s
}

// missed reports the types that cannot stand among fields which are not derived for another fault.
func (d *deriver) missed(list []field) {
	for _, f := range list {
		t := bare(f.typ)
		at := f.where
		for ; refused(t) == "" && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map); t = t.Elem() {
			if at += "[]"; t.Kind() == reflect.Map {
				at = strings.TrimSuffix(at, "[]") + "{}"
			}
		}
		switch why := refused(t); {
		case why != "":
			d.fail(at, "%s", why)
		case t.Kind() == reflect.Struct && known(t) == nil && !hooked(t) && !d.met[t]:
			d.met[t] = true
			if _, union := reflect.Zero(t).Interface().(unionType); !union {
				d.missed(d.fields(t, at))
			}
		}
	}
}

// beneath returns the schema of the value itself where a nullable field wraps it.
func (d *deriver) beneath(f field, p *jsonschema.Schema) *jsonschema.Schema {
	if f.tag.nullable && len(p.OneOf) == 2 {
		p.AnyOf, p.OneOf = p.OneOf, nil
		return p.AnyOf[0]
	}
	return p
}

// objectTags applies the keywords for maps, which the reflector does not read.
func (d *deriver) objectTags(f field, p *jsonschema.Schema) {
	if f.typ.Kind() != reflect.Map || f.typ.Name() != "" {
		return
	}
	if v, ok := f.tag.number("maxProperties"); ok {
		p.MaxProperties = &v
	}
	if v, ok := f.tag.number("minProperties"); ok {
		p.MinProperties = &v
	}
}

// complete adds the bounds that the Go type, or this package, gives.
func (d *deriver) complete(t reflect.Type, s *jsonschema.Schema, where string) {
	t = bare(t)
	if why := refused(t); why != "" {
		d.fail(where, "%s", why)
		return
	}
	if t.Kind() == reflect.Struct && t.Name() == "" && t.NumField() > 0 {
		d.fail(where, "a struct type without a name is not looked into; give the type a name")
		return
	}
	if name, ok := definition(s); ok {
		if _, met := d.first[name]; !met {
			d.first[name] = where
		}
		return
	}
	if s.Ref != "" || known(t) != nil || hooked(t) {
		d.values(t, s, where)
		return
	}
	switch t.Kind() {
	case reflect.String:
		if s.MaxLength == nil && len(s.Enum) == 0 && !bounded(s) {
			s.MaxLength = ptr(uint64(defaultText))
			if f, ok := formatNamed(s.Format); ok && (f == dateTimeFormat || f == timeFormat) {
				s.MaxLength = ptr(uint64(defaultMoment))
			}
		}
	case reflect.Float32:
		if s.Minimum == "" && s.ExclusiveMinimum == "" {
			s.Minimum = "-3.4028235e38"
		}
		if s.Maximum == "" && s.ExclusiveMaximum == "" {
			s.Maximum = "3.4028235e38"
		}
	case reflect.Slice, reflect.Array:
		if s.MaxItems == nil {
			s.MaxItems = ptr(uint64(defaultItems))
		}
		d.element(t.Elem(), s.Items, where+"[]")
	case reflect.Map:
		if s.MaxProperties == nil {
			s.MaxProperties = ptr(uint64(defaultMembers))
		}
		s.PropertyNames = d.keys(t.Key(), where+"{}")
		d.element(t.Elem(), s.AdditionalProperties, where+"{}")
	default:
		if low, high, ok := integerBounds(t.Kind()); ok {
			integer(s, low, high)
		}
	}
}

// keys returns the schema of the names of a map whose keys are of a type that says more than "a string"; nil for others.
func (d *deriver) keys(t reflect.Type, where string) *jsonschema.Schema {
	s := fixed(t)
	if s != nil {
		d.values(t, s, where)
	}
	return s
}

// element completes what is in an array or a map.
func (d *deriver) element(t reflect.Type, s *jsonschema.Schema, where string) {
	if t.Kind() == reflect.Pointer {
		d.fail(where, "a pointer here is written as null when it is nil")
		return
	}
	d.complete(t, s, where)
}

func bounded(s *jsonschema.Schema) bool {
	if f, ok := formatNamed(s.Format); ok && f.bounded() {
		return true
	}
	p, err := compilePattern(s.Pattern)
	return err == nil && p.max >= 0
}

func ptr[T any](v T) *T { return &v }

// integerBounds returns what an integer of the kind can hold; int and uint are taken as 64 bits wide.
func integerBounds(k reflect.Kind) (low, high string, ok bool) {
	switch k {
	case reflect.Int8:
		return "-128", "127", true
	case reflect.Int16:
		return "-32768", "32767", true
	case reflect.Int32:
		return "-2147483648", "2147483647", true
	case reflect.Int, reflect.Int64:
		return "-9223372036854775808", "9223372036854775807", true
	case reflect.Uint8:
		return "0", "255", true
	case reflect.Uint16:
		return "0", "65535", true
	case reflect.Uint32:
		return "0", "4294967295", true
	case reflect.Uint, reflect.Uint64:
		return "0", "18446744073709551615", true
	}
	return "", "", false
}

// integer gives an integer the bounds of its kind where the tags give none.
func integer(s *jsonschema.Schema, low, high string) {
	if s.Minimum == "" && s.ExclusiveMinimum == "" {
		s.Minimum = json.Number(low)
	}
	if s.Maximum == "" && s.ExclusiveMaximum == "" {
		s.Maximum = json.Number(high)
	}
}

// union makes the oneOf of a [OneOf]: each variant a closed object that begins with its kind.
func (d *deriver) union(t reflect.Type, u unionType, where string) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	kinds := map[string]bool{}
	seen := map[reflect.Type]bool{}
	for _, v := range u.variants() {
		if v.typ == nil {
			d.fail(where, "a case that Of did not make")
			continue
		}
		at := where + "<" + v.kind + ">"
		switch {
		case v.kind == "" || len(v.kind) > 64:
			d.fail(at, "a kind holds 1 to 64 bytes")
		case kinds[v.kind]:
			d.fail(at, "two variants have this kind")
		case seen[v.typ]:
			d.fail(at, "%s stands for two kinds; a value of it could be either", v.typ)
		case v.typ.Kind() != reflect.Struct || v.typ.Name() == "":
			d.fail(at, "a variant is a named struct, %s is none", v.typ)
		case !v.typ.Implements(v.of):
			d.fail(at, "%s does not implement %s", v.typ, v.of)
		case special(v.typ):
			d.fail(at, "a variant with a JSON form of its own cannot carry a kind")
		default:
			s.OneOf = append(s.OneOf, d.variant(v, at))
		}
		kinds[v.kind], seen[v.typ] = true, true
	}
	if len(u.variants()) == 0 {
		d.fail(where, "%s has no cases", t)
	}
	return s
}

func (d *deriver) variant(v variant, where string) *jsonschema.Schema {
	s := d.structure(v.typ, where)
	own := s.Properties
	if own != nil {
		if _, ok := own.Get(discriminator); ok {
			d.fail(where, "a variant has no member %q of its own; the union writes it", discriminator)
		}
	}
	s.Properties = jsonschema.NewProperties()
	s.Properties.Set(discriminator, &jsonschema.Schema{Type: "string", Const: v.kind})
	if own != nil {
		for p := own.Oldest(); p != nil; p = p.Next() {
			s.Properties.Set(p.Key, p.Value)
		}
	}
	s.Required = append([]string{discriminator}, s.Required...)
	return s
}
