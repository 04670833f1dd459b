package tool

import (
	"context"
	"encoding/json/jsontext"
	"reflect"
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// Tool is a read: it changes nothing that lasts. In and Out are structs with json tags; their schemas are derived,
// closed and checked when the catalogue is built. A Tool is plain data and is copied into the catalogue.
//
// An error of Check, Handle or Verify that is an *envelope.Error crosses with its code, its declared field and its retry
// time, the words being the declaration's; anything else, a panic included, is INTERNAL. All three must heed ctx.
type Tool[In, Out any] struct {
	Spec  Spec
	Retry Retry // zero: none
	// Check is what a schema cannot say of the arguments. It calls no one. Nil: nothing more is checked.
	Check func(ctx context.Context, by Caller, in In) error
	// Handle answers. It must not be nil.
	Handle func(ctx context.Context, by Caller, in In) (Out, error)
	// Verify binds the answer to the question (validate.Same, validate.Fresh). Nil: the schema is all that is checked.
	Verify func(ctx context.Context, by Caller, in In, out Out) error
}

func (t Tool[In, Out]) build() (*definition, error) {
	wire := wireName("", t.Spec.Name, t.Spec.Version)
	f := &faults{subject: wire}
	t.Spec.check(f)
	if t.Handle == nil {
		f.add("handle", "must be set")
	}
	t.Retry.check(f, t.Spec.own())
	def := &definition{spec: t.Spec.clone(), class: readClass, failures: t.Spec.failures()}
	c := &callable{wire: wire, class: readClass, def: def}
	c.input = schemaOf[In](f, "input")
	c.output = schemaOf[Out](f, "output", validate.Output())
	if err := f.err(); err != nil {
		return nil, err
	}
	c.places = []*validate.Schema{c.input, c.output}
	c.untrusted = c.output.Untrusted()
	c.serve = t.serve
	def.retry = t.Retry
	def.tools = []*callable{c}
	return def, nil
}

func (r Retry) check(f *faults, own map[envelope.Code]bool) {
	if r.Attempts < 0 || r.Within < 0 {
		f.add("retry", "attempts and time are not negative")
	}
	if r.Attempts > 1 && len(r.On) == 0 {
		f.add("retry.on", "must name the codes that are worth another try")
	}
	for _, code := range r.On {
		d, ours := envelope.Declared(code)
		switch {
		case !envelope.ValidCode(code):
			f.add("retry.on", "%q does not have the form of a code", code)
		case ours && (!d.Retryable || reserved(code)):
			f.add("retry.on", "%s is not worth another try", code)
		case !ours && !own[code]:
			f.add("retry.on", "%s is not among the tool's failures", code)
		}
	}
}

func (r Retry) again(e *envelope.Error) bool { return slices.Contains(r.On, e.Code) }

// serve takes one call from its bytes to the checked bytes of its answer. The user's functions run in a goroutine that
// can be left behind; decoding and encoding stay in the caller's, whose stack has grown already.
func (t Tool[In, Out]) serve(ctx context.Context, c *call, args []byte) (reply, error) {
	in, err := c.tool.input.Decode[In](args, c.tool.def.spec.Input)
	if err != nil {
		return reply{}, refusedInput(err)
	}
	c.accepted(args)
	if c.tool.triedOnce() {
		return t.try(ctx, c, in)
	}
	return c.retrying(ctx, func(ctx context.Context) (reply, error) { return t.try(ctx, c, in) })
}

// try asks the handler once, within ctx.
func (t Tool[In, Out]) try(ctx context.Context, c *call, in In) (reply, error) {
	out, err := watched(ctx, &c.slots, func(ctx context.Context) (Out, error) {
		if t.Check != nil {
			if err := t.Check(ctx, c.by, in); err != nil {
				var none Out
				return none, err
			}
		}
		if c.d.cfg.Entered != nil { // or in is copied for nobody
			c.entered(ctx, in)
		}
		return t.Handle(ctx, c.by, in)
	})
	if err != nil {
		return reply{}, c.failure(ctx, err)
	}
	data, err := c.tool.output.Encode(out, c.tool.def.spec.Output)
	if err != nil {
		c.d.meter.broken(ctx, c.tool, err)
		return reply{}, brokenOutput(err)
	}
	if t.Verify == nil {
		return reply{data: data}, nil
	}
	_, err = watched(ctx, &c.slots, func(ctx context.Context) (struct{}, error) { return struct{}{}, t.Verify(ctx, c.by, in, out) })
	return reply{data: data}, c.failure(ctx, err)
}

// schemaOf derives a schema and collects what is wrong with the type.
func schemaOf[T any](f *faults, place string, opts ...validate.Option) *validate.Schema {
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Struct {
		f.add(place, "must be a struct, not %s", t)
		return nil
	}
	s, err := validate.For[T](opts...)
	f.wrap(place, err)
	return s
}

// reply is a checked answer.
type reply struct {
	data     jsontext.Value
	replayed bool
}
