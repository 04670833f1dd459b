package upstream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcontract/toolcontract/validate/upstream"
)

// page is a page of n shipments, with so many undeclared members in each.
func page(n, extra int) []byte {
	items := make([]string, n)
	for i := range items {
		more := ""
		for k := range extra {
			more += fmt.Sprintf(`,"vendor_%d":{"a":[1,2,3],"b":"text"}`, k)
		}
		items[i] = fmt.Sprintf(`{"shipment_ref":"ship_%08d","status":"in_transit","version":%d%s}`, i, i, more)
	}
	return []byte(`{"items":[` + strings.Join(items, ",") + `]}`)
}

// BenchmarkJudge holds a page to its contract, beside what a client without one does.
func BenchmarkJudge(b *testing.B) {
	for _, size := range []struct {
		name     string
		n, extra int
	}{{"4KB", 50, 0}, {"broad/16KB", 50, 5}} {
		doc := page(size.n, size.extra)
		b.Run(size.name+"/decode", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var s shipments
				if err := json.Unmarshal(doc, &s); err != nil {
					b.Fatal(err)
				}
			}
		})
		for _, selecting := range []bool{false, true} {
			if !selecting && size.extra > 0 {
				continue
			}
			op := shipmentOperation()
			op.Select = selecting
			judge, err := upstream.NewJudge(op)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/judge/select=%t", size.name, selecting), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, refusal := judge(shipmentQuery{}, doc); refusal != nil {
						b.Fatal(refusal)
					}
				}
			})
		}
	}
}
