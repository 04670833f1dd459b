package validate

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"github.com/toolcontract/toolcontract/redact"
)

// hooker is a type that says its own schema, as invopop/jsonschema asks for it.
type hooker interface{ JSONSchema() *jsonschema.Schema }

func hooked(t reflect.Type) bool { return t.Implements(reflect.TypeFor[hooker]()) }

// tags are the jsonschema, redact and lint tags of one field, linted.
type tags struct {
	required, nullable bool
	words              []keyword
	class              redact.Class
	lint               string
}

type keyword struct{ name, value string }

func (t tags) number(name string) (uint64, bool) {
	for _, w := range t.words {
		if w.name == name {
			v, err := strconv.ParseUint(w.value, 10, 32)
			return v, err == nil
		}
	}
	return 0, false
}

// tags reads what the reflector would read, and refuses what it would skip in silence: a misspelt keyword is a rule
// that the author believes in and nobody checks.
func (d *deriver) tags(f reflect.StructField, path string) tags {
	d.tagKeys(f.Tag, path)
	t := d.fieldClass(f, path)
	if _, ok := f.Tag.Lookup("jsonschema_extras"); ok {
		d.fail(path, "the tag jsonschema_extras adds keywords that nobody checks")
	}
	raw, ok := f.Tag.Lookup("jsonschema")
	if !ok || raw == "-" {
		return t
	}
	if !utf8.ValidString(raw) {
		d.fail(path, "the jsonschema tag is not UTF-8")
		return t
	}
	allowed := keywordsFor(f.Type)
	for _, word := range splitTag(raw) {
		name, text, pair := strings.Cut(word, "=")
		switch {
		case !pair && name == "required":
			t.required = true
		case !pair && name == "nullable":
			t.nullable = true
		case !pair:
			d.fail(path, "the word %q of the jsonschema tag is not understood (a comma inside a pattern is written \\\\,)", word)
		case name == "title" || name == "description":
		case bare(f.Type).Kind() == reflect.Array && (name == "minItems" || name == "maxItems"):
			d.fail(path, "the keyword %q: an array has the length of its type", name)
		case name == "default":
			d.fail(path, "a default would be published and never filled in; say in the description what an absent member means")
		case !slices.Contains(allowed, name):
			d.fail(path, "the keyword %q of the jsonschema tag is not understood for %s", name, f.Type)
		default:
			if slices.ContainsFunc(t.words, func(k keyword) bool { return k.name == name }) && !repeats(name) {
				d.fail(path, "the keyword %q stands twice", name)
			}
			if err := tagValue(f.Type, name, text); err != nil {
				d.fail(path, "%s: %w", name, err)
			}
			t.words = append(t.words, keyword{name, text})
		}
	}
	if err := t.bounds(); err != nil {
		d.fail(path, "%w", err)
	}
	return t
}

func (d *deriver) fieldClass(f reflect.StructField, path string) (t tags) {
	class, err := redact.ClassOf(f)
	if text, ok := f.Tag.Lookup("redact"); ok && text == "" && err == nil {
		err = redact.ErrClass
	}
	if err != nil {
		d.fail(path, "the redact tag: %w", err)
	}
	t.class = class
	reason, ok := f.Tag.Lookup("lint")
	if ok && strings.TrimSpace(reason) == "" {
		d.fail(path, "the lint tag gives a reason, and this one is empty")
	}
	t.lint = reason
	return t
}

func repeats(name string) bool { return name == "enum" || name == "example" }

// splitTag splits at commas that no backslash precedes, as the reflector does.
func splitTag(raw string) []string {
	var words []string
	for part := range strings.SplitSeq(raw, ",") {
		if n := len(words); n > 0 && strings.HasSuffix(words[n-1], `\`) {
			words[n-1] = strings.TrimSuffix(words[n-1], `\`) + "," + part
			continue
		}
		words = append(words, part)
	}
	return words
}

// keywordsFor lists the keywords that the tag of a field of the type may carry; those of an array's items too.
func keywordsFor(t reflect.Type) []string {
	t = bare(t)
	if known(t) != nil {
		return []string{"example", "readOnly", "writeOnly"}
	}
	switch k := t.Kind(); k {
	case reflect.String:
		return []string{"minLength", "maxLength", "pattern", "format", "enum", "example", "readOnly", "writeOnly"}
	case reflect.Bool:
		return nil
	case reflect.Slice, reflect.Array:
		own := []string{"minItems", "maxItems", "uniqueItems"}
		if t.Name() != "" {
			return nil
		}
		if item := t.Elem(); !composite(item) && item.Kind() != reflect.Pointer {
			own = append(own, keywordsFor(item)...)
		}
		return own
	case reflect.Map:
		if t.Name() != "" {
			return nil
		}
		return []string{"minProperties", "maxProperties"}
	case reflect.Float32, reflect.Float64:
		return numeric()
	default:
		if _, _, ok := integerBounds(k); ok {
			return numeric()
		}
	}
	return nil
}

func numeric() []string {
	return []string{"multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "example"}
}

// tagValue refuses values that the reflector would drop in silence.
func tagValue(t reflect.Type, name, text string) error {
	scalar := bare(t)
	for scalar.Name() == "" && (scalar.Kind() == reflect.Slice || scalar.Kind() == reflect.Array) { // a named one may hold itself
		scalar = bare(scalar.Elem())
	}
	switch name {
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		if _, err := strconv.ParseUint(text, 10, 30); err != nil {
			return fmt.Errorf("must be a whole number, not below zero")
		}
	case "uniqueItems", "readOnly", "writeOnly":
		if text != "true" {
			return fmt.Errorf("can only be true")
		}
	case "format":
		if _, ok := formatNamed(text); !ok {
			return fmt.Errorf("not one that is asserted")
		}
	case "pattern":
		_, err := compilePattern(text)
		return err
	case "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		if err := jsonNumber(text, false); err != nil || name == "multipleOf" {
			return err
		}
		if low, high, ok := integerBounds(scalar.Kind()); ok {
			return within(text, low, high)
		}
	case "enum", "example":
		switch _, _, integer := integerBounds(scalar.Kind()); {
		case integer:
			return jsonNumber(text, true)
		case scalar.Kind() == reflect.Float32, scalar.Kind() == reflect.Float64:
			return jsonNumber(text, false)
		case scalar.Kind() == reflect.Bool && text != "true" && text != "false":
			return fmt.Errorf("must be true or false")
		}
	}
	return nil
}

// within refuses a bound that promises more than the Go type can hold.
func within(text, low, high string) error {
	d := parseDecimal([]byte(text))
	if d.compare(parseDecimal([]byte(low))) < 0 || d.compare(parseDecimal([]byte(high))) > 0 {
		return fmt.Errorf("lies outside what the Go type can hold")
	}
	return nil
}

// jsonNumber admits what JSON and the reflector both read as the same number.
func jsonNumber(text string, integer bool) error {
	v, fault := read([]byte(text), schemaLimits())
	if fault != nil || v.kind != numberKind || len(v.raw) != len(text) {
		return fmt.Errorf("must be a JSON number")
	}
	if integer && strings.ContainsAny(text, ".eE") {
		return fmt.Errorf("must be a whole number")
	}
	return nil
}
