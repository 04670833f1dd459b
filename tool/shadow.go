package tool

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"maps"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
)

// check names the stubs that no call can reach, and those that are nil.
func (s *Shadow) check(cat *Catalog) error {
	if s == nil {
		return nil
	}
	var errs []error
	for name, stub := range s.Stubs {
		if t, ok := cat.tools[name]; !ok || t.def.write == nil {
			errs = append(errs, fmt.Errorf("tool: config: shadow: %q is no preview or commit of the catalogue", name))
		} else if stub == nil {
			errs = append(errs, fmt.Errorf("tool: config: shadow: the stub of %q is nil", name))
		}
	}
	return errors.Join(errs...)
}

// over returns what is served of a catalogue: in shadow, definitions that do not hold the functions of their writes, so
// that no way leads there.
func (s *Shadow) over(cat *Catalog) map[string]*callable {
	if s == nil {
		return cat.tools
	}
	served := maps.Clone(cat.tools)
	for _, def := range cat.writes() {
		for _, t := range s.definition(def).tools {
			served[t.wire] = t
		}
	}
	if t, ok := served[cancelOperation]; ok { // what is pending in the ledger is the real hosts'
		served[cancelOperation] = t.served(refusedInShadow)
	}
	return served
}

// definition copies a write, its functions replaced.
func (s *Shadow) definition(of *definition) *definition {
	def, w := *of, *of.write
	def.tools, def.write = nil, &w
	for _, t := range of.tools {
		t := t.served(s.serve(s.Stubs[t.wire]))
		t.def = &def
		def.tools = append(def.tools, t)
		if t.wire == w.wire {
			w.commit = t
		}
	}
	w.shadow = true
	w.current = func(context.Context, Caller, approval.Target) (string, error) { return "", ErrNotLive }
	w.run = func(context.Context, command) (product, error) { return product{}, envelope.NotSent(ErrNotLive) }
	w.typed = func(command, any) (product, bool) { return product{}, false }
	w.status, w.cancel = nil, nil
	return &def
}

// served is the callable with another way to be served.
func (t *callable) served(serve func(context.Context, *call, []byte) (reply, error)) *callable {
	own := *t
	own.serve = serve
	return &own
}

func refusedInShadow(_ context.Context, c *call, args []byte) (reply, error) {
	if err := c.tool.input.Check(args, c.tool.def.spec.Input); err != nil {
		return reply{}, refusedInput(err)
	}
	return reply{}, &final{envelope.New(envelope.NotPermitted)}
}

// serve answers a call of a write from its stub.
func (s *Shadow) serve(stub func(context.Context, Invocation) (jsontext.Value, error)) func(context.Context, *call, []byte) (reply, error) {
	if stub == nil {
		return refusedInShadow
	}
	return func(ctx context.Context, c *call, args []byte) (reply, error) {
		if err := c.tool.input.Check(args, c.tool.def.spec.Input); err != nil {
			return reply{}, refusedInput(err)
		}
		return c.once(ctx, func(ctx context.Context) (reply, error) {
			data, err := stub(ctx, Invocation{
				Caller: c.by, Call: envelope.Call{ID: c.id, Tool: c.tool.wire, Arguments: args}, Class: c.tool.class.String(),
			})
			if err != nil {
				return reply{}, c.failure(ctx, err)
			}
			if err := c.tool.output.Check(data, c.tool.def.spec.Output); err != nil {
				return reply{}, brokenOutput(err)
			}
			return reply{data: data}, nil
		})
	}
}
