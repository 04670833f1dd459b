package main

import (
	"errors"
	"strings"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// brokenHandlers are adapters whose boundary holds, and whose handler fails on what its schema admits.
func brokenHandlers() []broken {
	part := func(name, by string, handle func(part string) (int, error)) broken {
		return broken{name: name, suite: "input", by: "input/find_part_v1/" + by, definitions: func(*samples.Shop) []tool.Definition {
			return []tool.Definition{samples.Part(handle)}
		}}
	}
	return []broken{
		part("handler-fails-on-a-long-text", "part/maxLength-*", func(p string) (int, error) {
			if len(p) == 40 {
				return 0, errors.New("no row")
			}
			return 1, nil
		}),
		part("handler-panics-on-a-short-text", "part/minLength-*", func(p string) (int, error) {
			return int(p[1]), nil // of one byte there is no second
		}),
		part("handler-answers-what-it-does-not-publish", "valid", func(string) (int, error) { return -1, nil }),
		part("handler-never-answers", "answered", func(string) (int, error) { return 0, envelope.New(envelope.NotFound).At("part") }),
	}
}

// brokenRefusals hold what was sent in a part of the result that is not its error.
func brokenRefusals() []broken {
	in := func(name, by string, change func(c envelope.Call, r *envelope.Result)) broken {
		return broken{name: name, suite: "input", by: "input/*/" + by, session: answering(func(_ *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if r.Error != nil && r.Error.Code == envelope.UnknownField {
				change(c, &r)
			}
			return r
		})}
	}
	return []broken{
		in("value-in-request-id", "**/unknown-*", func(c envelope.Call, r *envelope.Result) { r.RequestID = "req_" + string(c.Arguments) }),
		in("value-in-untrusted", "**/unknown-*", func(c envelope.Call, r *envelope.Result) {
			r.Untrusted = strings.FieldsFunc(string(c.Arguments), func(c rune) bool { return c == '"' })
		}),
		{name: "sinks-turned-off", suite: "input", by: "input/controls", fixture: func(f *contracttest.Fixture) { f.Sinks = contracttest.Sinks{} }},
	}
}
