package exporttest_test

import (
	"encoding/json/jsontext"
	"fmt"

	"github.com/toolcontract/toolcontract/tool/export/exporttest"
)

// The judges take any definitions, whoever wrote them.
func ExampleOpenAI() {
	for _, fault := range exporttest.OpenAI(jsontext.Value(`[{"type":"function","function":{
		"name": "get price", "description": "Read a price.", "strict": true,
		"parameters": {"type":"object","properties":{"sku":{"type":"string"},"region":{"type":"string"}},"required":["sku"]}
	}}]`)) {
		fmt.Println(fault)
	}
	// Output:
	// get price: name: must match ^[a-zA-Z0-9_-]{1,64}$
	// get price: parameters: additionalProperties: must be false
	// get price: parameters.region: must be required
}
