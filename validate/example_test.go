package validate_test

import (
	"errors"
	"fmt"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

type query struct {
	CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
	Status     string `json:"status,omitzero" jsonschema:"enum=open,enum=shipped"`
	Limit      int    `json:"limit,omitzero" jsonschema:"minimum=1,maximum=100"`
}

func ExampleFor() {
	schema, err := validate.For[query]()
	if err != nil {
		fmt.Println(err)
		return
	}
	q, err := schema.Decode[query]([]byte(`{"customer_id":"cus_9Qm4","limit":20}`), validate.Limits{})
	fmt.Println(q.CustomerID, q.Limit, err)

	_, err = schema.Decode[query]([]byte(`{"customer_id":"","limit":"20","colour":"red"}`), validate.Limits{})
	var refusal *envelope.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal)
		for _, v := range refusal.Violations {
			fmt.Println(" ", v.Field, v.Rule)
		}
	}
	// Output:
	// cus_9Qm4 20 <nil>
	// UNKNOWN_FIELD at colour
	//   colour additionalProperties
	//   customer_id minLength
	//   limit type
}

// A contract that leaves something open is refused when it is made, all its faults together.
func ExampleFor_faults() {
	type loose struct {
		Amount  float32 `json:"amount" jsonschema:"minimun=0"`
		Payload any     `json:"payload"`
		Parent  *loose  `json:"parent"`
	}
	_, err := validate.For[loose]()
	fmt.Println(err)
	// Output:
	// amount: the keyword "minimun" of the jsonschema tag is not understood for float32
	// parent: a pointer is written as null when it is nil; give omitzero, or the nullable tag
	// payload: an interface admits anything; use OneOf for a choice
}

func ExampleCompile() {
	schema, err := validate.Compile([]byte(`{
		"type": "object",
		"properties": {"case_ref": {"type": "string", "pattern": "^case_[A-Za-z0-9]{16}$"}},
		"required": ["case_ref"],
		"additionalProperties": false
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schema.Check([]byte(`{"case_ref":"case_12345"}`), validate.Limits{}))
	_, err = validate.Compile([]byte(`{"type":"object","properties":{"note":{"type":"string"}}}`))
	fmt.Println(err)
	// Output:
	// INVALID_ARGUMENT at case_ref
	// note: a string without a bound; give maxLength, enum, const or a pattern that ends
	// an open object; give additionalProperties: false
}

type payment interface{ payment() }

type card struct {
	Token validate.Reference `json:"token"`
}

type transfer struct {
	IBAN string `json:"iban" jsonschema:"pattern=^[A-Z]{2}[0-9]{2}[A-Z0-9]{11\\,30}$"`
}

func (card) payment()     {}
func (transfer) payment() {}

type payments struct{}

func (payments) Cases() []validate.Case[payment] {
	return []validate.Case[payment]{validate.Of[payment, card]("card"), validate.Of[payment, transfer]("transfer")}
}

// A choice between struct types, told apart by the member kind.
func ExampleOneOf() {
	type order struct {
		Pay validate.OneOf[payment, payments] `json:"pay"`
	}
	schema, err := validate.For[order]()
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := schema.Decode[order]([]byte(`{"pay":{"kind":"card","token":"ref_0a"}}`), validate.Limits{})
	fmt.Printf("%T %v\n", o.Pay.Value, err)
	_, err = schema.Decode[order]([]byte(`{"pay":{"kind":"card","token":"ref_0a","iban":"DE00"}}`), validate.Limits{})
	fmt.Println(err)
	_, err = schema.Decode[order]([]byte(`{"pay":{"kind":"cash"}}`), validate.Limits{})
	fmt.Println(err)
	// Output:
	// validate_test.card <nil>
	// UNKNOWN_FIELD at pay.iban
	// INVALID_ARGUMENT at pay.kind
}

func ExampleCompatible() {
	before, _ := validate.Compile([]byte(`{"type":"object","properties":{"limit":{"type":"integer","maximum":100}},"additionalProperties":false}`))
	after, _ := validate.Compile([]byte(`{"type":"object","properties":{"limit":{"type":"integer","maximum":50},"region":{"enum":["north","south"]}},"required":["region"],"additionalProperties":false}`))
	for _, b := range validate.Compatible(before, after) {
		fmt.Println(b)
	}
	// Output:
	// limit: maximum: 100 → 50
	// region: required: not declared → required
}

func ExampleSame() {
	asked, answered := "cus_9Qm4", "cus_OTHER"
	fmt.Println(validate.Same("customer_id", asked, answered))
	// Output: INVALID_RESPONSE at customer_id
}
