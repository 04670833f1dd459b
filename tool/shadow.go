package tool

import (
	"context"
	"errors"
	"fmt"

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

// serve answers a call of a write from its stub; no handler of the write can be reached from here.
func (s *Shadow) serve(i Invocation) func(context.Context, *call, []byte) (reply, error) {
	return func(ctx context.Context, c *call, args []byte) (reply, error) {
		if err := c.tool.input.Check(args, c.tool.def.spec.Input); err != nil {
			return reply{}, refusedInput(err)
		}
		stub := s.Stubs[c.tool.wire]
		if stub == nil {
			return reply{}, &final{envelope.New(envelope.NotPermitted)}
		}
		return c.once(ctx, func(ctx context.Context) (reply, error) {
			data, err := stub(ctx, i)
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
