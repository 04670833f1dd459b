package envelope_test

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
)

// What a handler returns, and what the model reads of it.
func ExampleNew() {
	err := envelope.New(envelope.RateLimited).At("customer_id").After(2 * time.Second).WithCause(errors.New("quota of account 4711"))
	fmt.Println(err) // no cause
	doc, _ := json.Marshal(err)
	fmt.Println(string(doc))
	// Output:
	// RATE_LIMITED at customer_id
	// {"code":"RATE_LIMITED","message":"too many requests; wait before the next","retryable":true,"field":"customer_id","retry_after_ms":2000}
}

// What the errors of a write's Commit prove. Whatever does not say, proves nothing.
func ExampleProven() {
	for _, err := range []error{
		envelope.Refused(envelope.New(envelope.PreconditionFailed)),
		fmt.Errorf("crm: dial: %w", envelope.NotSent(io.EOF)),
		envelope.Running("job_17"),
		envelope.New(envelope.PreconditionFailed),
		io.ErrUnexpectedEOF,
	} {
		proof, refusal, receipt := envelope.Proven(err)
		fmt.Printf("%v, %v, %q\n", proof, refusal, receipt)
	}
	// Output:
	// refused, PRECONDITION_FAILED, ""
	// not sent, no error, ""
	// running, no error, "job_17"
	// nothing, no error, ""
	// nothing, no error, ""
}

func ExampleResult_Decode() {
	type price struct {
		Cents int64 `json:"cents"`
	}
	r := envelope.Result{OK: true, Tool: "get_price_v1", RequestID: "req_1", Data: jsontext.Value(`{"cents":9007199254740993}`)}
	p, err := r.Decode[price]()
	fmt.Println(p.Cents, err)

	r = envelope.Result{Tool: "get_price_v1", RequestID: "req_2", Error: envelope.New(envelope.NotFound).At("sku")}
	fmt.Println(r.Err())
	// Output:
	// 9007199254740993 <nil>
	// NOT_FOUND at sku
}
