package validate_test

import (
	"encoding/json"
	"testing"

	"github.com/toolcontract/toolcontract/validate"
)

type bline struct {
	SKU   string `json:"sku" jsonschema:"pattern=^[A-Z]{3}-[0-9]{4}$"`
	Name  string `json:"name" jsonschema:"maxLength=100"`
	Qty   int    `json:"qty" jsonschema:"minimum=1,maximum=999"`
	Price int64  `json:"price_minor" jsonschema:"minimum=0"`
	Gift  bool   `json:"gift"`
}
type border struct {
	ID    string  `json:"order_id" jsonschema:"pattern=^ord_[A-Za-z0-9]{8}$"`
	State string  `json:"state" jsonschema:"enum=open,enum=shipped,enum=cancelled"`
	Cur   string  `json:"currency" jsonschema:"pattern=^[A-Z]{3}$"`
	Note  string  `json:"note,omitzero"`
	Lines []bline `json:"lines" jsonschema:"maxItems=5000"`
}

func mk(n int) []byte {
	o := border{ID: "ord_A1b2C3d4", State: "shipped", Cur: "EUR", Note: "leave it at the door"}
	for i := range n {
		o.Lines = append(o.Lines, bline{"ABC-1234", "a thing with a name", i%900 + 1, 1999, i%2 == 0})
	}
	b, _ := json.Marshal(o)
	return b
}

func BenchmarkCheck(b *testing.B) {
	s, err := validate.For[border]()
	if err != nil {
		b.Fatal(err)
	}
	l := validate.Limits{Bytes: 1 << 20, Items: 5000}
	for _, c := range []struct {
		name string
		n    int
	}{{"200B", 1}, {"4KB", 46}, {"175KB", 2100}} {
		doc := mk(c.n)
		b.Run(c.name+"/check", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				if !s.Accepts(doc, l) {
					b.Fatal("no")
				}
			}
		})
		b.Run(c.name+"/json", func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(doc)))
			for b.Loop() {
				var o border
				if err := json.Unmarshal(doc, &o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
