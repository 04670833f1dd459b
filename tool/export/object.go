package export

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
)

// object is a JSON object whose members keep their order.
type object []entry

type entry struct {
	name  string
	value any // object, list, jsontext.Value, string, bool
}

type list []any

// MarshalJSONTo writes the members in their order.
func (o object) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, e := range o {
		if err := enc.WriteToken(jsontext.String(e.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, e.value); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

func (o object) get(name string) any {
	for _, e := range o {
		if e.name == name {
			return e.value
		}
	}
	return nil
}

// set replaces a member, or adds it at the end.
func (o object) set(name string, value any) object {
	for i, e := range o {
		if e.name == name {
			o[i].value = value
			return o
		}
	}
	return append(o, entry{name, value})
}

// without returns the other members.
func (o object) without(name string) object {
	kept := make(object, 0, len(o))
	for _, e := range o {
		if e.name != name {
			kept = append(kept, e)
		}
	}
	return kept
}

// first puts a member before all others.
func (o object) first(name string, value any) object {
	return append(object{{name, value}}, o.without(name)...)
}

func types(names ...string) any {
	if len(names) == 1 {
		return names[0]
	}
	l := make(list, len(names))
	for i, n := range names {
		l[i] = n
	}
	return l
}
