package validate

import (
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"
)

// place puts every definition that is used once and does not contain itself where it is used: models read a schema
// without references better, and some providers take no others. The rest stays under $defs.
func (d *deriver) place(root *jsonschema.Schema) {
	uses := map[string]int{}
	d.count(root, uses)
	for _, t := range d.order {
		d.count(d.defs[d.names[t]], uses)
	}
	keep := map[string]bool{}
	for name := range d.defs {
		keep[name] = uses[name] > 1 || d.reaches(d.defs[name], name, map[string]bool{})
	}
	d.expand(root, keep)
	for name := range d.defs {
		if !keep[name] {
			continue
		}
		d.expand(d.defs[name], keep)
		if root.Definitions == nil {
			root.Definitions = jsonschema.Definitions{}
		}
		root.Definitions[name] = d.defs[name]
	}
}

func definition(s *jsonschema.Schema) (string, bool) { return strings.CutPrefix(s.Ref, "#/$defs/") }

func (d *deriver) count(s *jsonschema.Schema, uses map[string]int) {
	if name, ok := definition(s); ok {
		uses[name]++
	}
	each(s, func(sub *jsonschema.Schema) { d.count(sub, uses) })
}

func (d *deriver) reaches(s *jsonschema.Schema, target string, seen map[string]bool) bool {
	found := false
	if name, ok := definition(s); ok {
		if name == target {
			return true
		}
		if !seen[name] {
			seen[name] = true
			found = d.reaches(d.defs[name], target, seen)
		}
	}
	each(s, func(sub *jsonschema.Schema) { found = found || d.reaches(sub, target, seen) })
	return found
}

func (d *deriver) expand(s *jsonschema.Schema, keep map[string]bool) {
	if name, ok := definition(s); ok && !keep[name] {
		title, description := s.Title, s.Description
		*s = *d.defs[name]
		if title != "" {
			s.Title = title
		}
		if description != "" {
			s.Description = description
		}
	}
	each(s, func(sub *jsonschema.Schema) { d.expand(sub, keep) })
}

// each visits the schemas directly within s.
func each(s *jsonschema.Schema, visit func(*jsonschema.Schema)) {
	for _, list := range [][]*jsonschema.Schema{s.OneOf, s.AnyOf, s.AllOf, s.PrefixItems} {
		for _, sub := range list {
			visit(sub)
		}
	}
	for _, sub := range []*jsonschema.Schema{s.Items, s.AdditionalProperties} {
		if sub != nil {
			visit(sub)
		}
	}
	if s.Properties != nil {
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			visit(p.Value)
		}
	}
}

// attach walks a Go type and the nodes of its document together and notes what only the type knows.
type attacher struct{ seen map[attached]bool }

type attached struct {
	node *node
	typ  reflect.Type
}

func (a *attacher) attach(n *node, t reflect.Type) {
	t = bare(t)
	if n.anyOf != nil {
		if other := nullable(n.anyOf); other != nil {
			n = other
		}
	}
	n = n.follow()
	if a.seen[attached{n, t}] {
		return
	}
	a.seen[attached{n, t}] = true
	if u, ok := reflect.Zero(t).Interface().(unionType); ok {
		for _, v := range u.variants() {
			if branch := n.union[v.kind]; branch != nil {
				a.structure(branch, v.typ)
			}
		}
		return
	}
	if s := known(t); s != nil {
		n.goTime = s.Format == "date-time"
		return
	}
	switch k := t.Kind(); k {
	case reflect.Slice, reflect.Array:
		if n.items != nil {
			a.attach(n.items, t.Elem())
		}
	case reflect.Map:
		if n.additional != nil {
			a.attach(n.additional, t.Elem())
		}
	case reflect.Struct:
		if !hooked(t) {
			a.structure(n, t)
		}
	case reflect.Float32, reflect.Float64:
		n.goKind = k
	default:
		if _, _, ok := integerBounds(k); ok {
			n.goKind = k
		}
	}
}

func (a *attacher) structure(n *node, t reflect.Type) {
	d := &deriver{}
	for _, f := range d.fields(t, "") {
		p := n.property(f.name)
		if p == nil {
			continue
		}
		p.class, p.lint = f.tag.class, f.tag.lint
		a.attach(p, f.typ)
	}
}
