package benchmarks

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/toolcontract/toolcontract/validate"
)

// Order is what every subject reads, and answers with: patterns, an enumeration, bounds, optional members, a list.
type Order struct {
	ID         string   `json:"order_id" jsonschema:"pattern=^ord_[A-Za-z0-9]{8}$"`
	CustomerID string   `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
	State      string   `json:"state" jsonschema:"enum=open,enum=shipped,enum=cancelled"`
	Currency   string   `json:"currency" jsonschema:"pattern=^[A-Z]{3}$"`
	Express    bool     `json:"express,omitzero"`
	Address    *Address `json:"address,omitzero"`
	Lines      []Line   `json:"lines" jsonschema:"maxItems=4096"`
}

// Address is optional.
type Address struct {
	Line1   string `json:"line1" jsonschema:"minLength=1,maxLength=200"`
	City    string `json:"city" jsonschema:"minLength=1,maxLength=100"`
	Country string `json:"country" jsonschema:"pattern=^[A-Z]{2}$"`
}

// Line is what makes the documents long.
type Line struct {
	SKU      string `json:"sku" jsonschema:"pattern=^[A-Z]{3}-[0-9]{4}$"`
	Name     string `json:"name" jsonschema:"maxLength=100"`
	Quantity int    `json:"quantity" jsonschema:"minimum=1,maximum=999"`
	Price    int64  `json:"price_minor" jsonschema:"minimum=0"`
	Gift     bool   `json:"gift"`
}

// Size is one size of document.
type Size struct {
	Name  string
	lines int
}

// Sizes are those that the goals name.
func Sizes() []Size { return []Size{{"200B", 1}, {"4KB", 46}, {"175KB", 2030}} }

// Limits admit the largest document.
func Limits() validate.Limits { return validate.Limits{Bytes: 256 << 10, Items: 4096} }

func (s Size) order(names []string) Order {
	o := Order{ID: "ord_A1b2C3d4", CustomerID: "cus_9Qm4", State: "shipped", Currency: "EUR"}
	if s.lines > 1 {
		o.Express = true
		o.Address = &Address{Line1: "12 Example Way", City: "Sampleton", Country: "GB"}
	}
	for i := range s.lines {
		o.Lines = append(o.Lines, Line{
			SKU: fmt.Sprintf("ABC-%04d", i%10000), Name: names[i%len(names)], Quantity: i%900 + 1, Price: int64(i) * 37 % 100000, Gift: i%3 == 0,
		})
	}
	return o
}

// Document returns a document whose members stand in the order of the schema, as encoders write them.
func (s Size) Document() []byte {
	return encode(s.order([]string{"kettle, blue", "a pair of warm socks", "lamp"}))
}

// Shuffled returns a document in other scripts than Latin whose members stand in an order that differs from object to
// object.
func (s Size) Shuffled() []byte {
	doc := encode(s.order([]string{"синий чайник", "暖かい靴下のセット", "مصباح", "kettle ☕", "Müslischüssel"}))
	var tree any
	if err := json.Unmarshal(doc, &tree); err != nil {
		return nil
	}
	return appendShuffled(nil, tree, rand.New(rand.NewPCG(1, 2)))
}

func encode(v any) []byte {
	doc, err := json.Marshal(v)
	if err != nil {
		return nil // a struct of strings and numbers
	}
	return doc
}

func appendShuffled(b []byte, v any, r *rand.Rand) []byte {
	switch v := v.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names) // a map has no order; the seed gives one
		r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(b, encode(name)...), ':')
			b = appendShuffled(b, v[name], r)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendShuffled(b, item, r)
		}
		return append(b, ']')
	}
	return append(b, encode(v)...)
}
