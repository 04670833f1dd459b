package benchmarks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// Subject is one way to take a document in and give one out. Run answers an error where the document is refused.
type Subject struct {
	Name string
	Run  func(doc []byte) error
}

// Floor is what a user writes without a boundary: encoding/json into a struct and back.
func Floor() Subject {
	return Subject{"encoding/json, decode + encode", func(doc []byte) error {
		var o Order
		if err := json.Unmarshal(doc, &o); err != nil {
			return err
		}
		_, err := json.Marshal(&o)
		return err
	}}
}

// Decode is the reading half of the floor.
func Decode() Subject {
	return Subject{"encoding/json, decode", func(doc []byte) error {
		var o Order
		return json.Unmarshal(doc, &o)
	}}
}

// Check is the compiled check alone.
func Check() (Subject, error) {
	s, err := validate.For[Order]()
	if err != nil {
		return Subject{}, err
	}
	limits := Limits()
	return Subject{"validate, check alone", func(doc []byte) error { return s.Check(doc, limits) }}, nil
}

// Codec is validate's decode and encode, checks included.
func Codec() (Subject, error) {
	s, err := validate.For[Order]()
	if err != nil {
		return Subject{}, err
	}
	limits := Limits()
	return Subject{"validate, decode + encode", func(doc []byte) error {
		o, err := s.Decode[Order](doc, limits)
		if err != nil {
			return err
		}
		_, err = s.Encode(o, limits)
		return err
	}}, nil
}

// echo is a tool that answers with what it is given.
func echo[T any](name string) tool.Tool[T, T] {
	return tool.Tool[T, T]{
		Spec: tool.Spec{
			Name: name, Version: 1, Description: "Answers with what it was given.", Purpose: "to be measured", Owner: "benchmarks",
			Timeout: time.Minute, Input: Limits(), Output: Limits(),
		},
		Handle: func(_ context.Context, _ tool.Caller, in T) (T, error) { return in, nil },
	}
}

// Call is the whole guarded read through [tool.Run.Call], in a catalogue of so many tools: logs and spans to no-op
// sinks, a budget that does not run out.
func Call(tools int) (Subject, func(), error) {
	const name = "echo_order_v1"
	defs := []tool.Definition{echo[Order]("echo_order")}
	names := []string{name}
	for i := range tools - 1 {
		defs = append(defs, echo[Address](fmt.Sprintf("echo_address_%d", i)))
		names = append(names, fmt.Sprintf("echo_address_%d_v1", i))
	}
	catalogue, err := tool.NewCatalog(defs...)
	if err != nil {
		return Subject{}, nil, err
	}
	role, err := catalogue.Role("reader", names...)
	if err != nil {
		return Subject{}, nil, err
	}
	dispatcher, err := tool.NewDispatcher(catalogue, tool.Config{})
	if err != nil {
		return Subject{}, nil, err
	}
	run, err := dispatcher.Start(tool.RunConfig{
		Principal: approval.Principal{Kind: approval.Service, Tenant: "t", Subject: "s"}, Role: role,
		Budget: tool.Budget{Calls: 1 << 40}, Deadline: time.Now().Add(24 * time.Hour),
	})
	if err != nil {
		return Subject{}, nil, err
	}
	ctx := context.Background()
	stop := func() { _ = dispatcher.Close(ctx) }
	return Subject{"toolcontract, Run.Call", func(doc []byte) error {
		r := run.Call(ctx, envelope.Call{Tool: name, Arguments: doc})
		if !r.OK {
			return errors.Join(r.Err())
		}
		return nil
	}}, stop, nil
}
