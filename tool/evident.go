package tool

import (
	"reflect"
	"slices"

	"github.com/toolcontract/toolcontract/validate"
)

// misplacedEvidence says why the members of the Evidence that t embeds would not be members of t on the wire; nil where
// they are.
func misplacedEvidence(t reflect.Type) []string {
	if t == reflect.TypeFor[Evidence]() {
		return nil
	}
	found, faults := seekEvidence(t, "")
	if !found && len(faults) == 0 || t.Kind() != reflect.Struct {
		return []string{"must be a struct that embeds tool.Evidence by value"}
	}
	return faults
}

// seekEvidence follows the embedded fields of t that bring an Evidence: each must stand by value, and without a name in
// its json tag.
func seekEvidence(t reflect.Type, path string) (found bool, faults []string) {
	if t.Kind() != reflect.Struct {
		return false, nil
	}
	for f := range t.Fields() {
		if !f.Anonymous || !bringsEvidence(f.Type) {
			continue
		}
		at := path + f.Name
		switch tag := f.Tag.Get("json"); {
		case f.Type.Kind() != reflect.Struct:
			faults = append(faults, at+": must be a struct that embeds tool.Evidence by value")
		case tag != "" && tag[0] != ',':
			faults = append(faults, at+": has a json tag that takes the evidence's members from the output; embed it without one")
		case f.Type == reflect.TypeFor[Evidence]():
			found = true
		default:
			inner, wrong := seekEvidence(f.Type, at+".")
			found, faults = found || inner, append(faults, wrong...)
		}
	}
	return found, faults
}

// bringsEvidence reports whether embedding t makes a struct Evident, or would where another Evidence did not.
func bringsEvidence(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return t.Implements(reflect.TypeFor[Evident]())
	}
	found, faults := seekEvidence(t, "")
	return t == reflect.TypeFor[Evidence]() || found || len(faults) > 0
}

// evidenced refuses an output of type t whose members on the wire are not those of the Evidence that it must embed; its
// schema may be what the type itself says.
func evidenced(f *faults, t reflect.Type, output *validate.Schema) {
	misplaced := misplacedEvidence(t)
	for _, why := range misplaced {
		f.add("output", "%s", why)
	}
	own, err := validate.For[Evidence]()
	f.wrap("evidence", err)
	if len(misplaced) > 0 || output == nil || err != nil {
		return
	}
	there := output.Fields()
	for _, want := range own.Fields() {
		if !slices.ContainsFunc(there, func(have validate.Field) bool { return have.Path == want.Path && have.Types == want.Types }) {
			f.add("output", "%s: is a member of tool.Evidence, and none of the output on the wire", want.Path)
		}
	}
}
