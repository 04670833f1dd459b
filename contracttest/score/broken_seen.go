package main

import (
	"encoding/json/v2"
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

// brokenFrames change what stands around the calls.
func brokenFrames() []broken {
	d := func(name, by string, session func(m *meddler)) broken {
		return broken{name: name, suite: "dispatch", by: "dispatch/" + by, session: session}
	}
	without := func(member string) func(m *meddler) {
		return func(m *meddler) {
			m.before = func(c *envelope.Call) {
				rewrite(c, func(v any) any {
					if o, ok := v.(map[string]any); ok {
						delete(o, member)
					}
					return v
				})
			}
		}
	}
	return []broken{
		d("reason-taken-out", "*/beside-reason", without("reason")),
		d("meta-taken-out", "*/beside-meta", without("_meta")),
		d("arguments-unwrapped", "*/wrapped-in-arguments", func(m *meddler) {
			m.before = func(c *envelope.Call) {
				rewrite(c, func(v any) any {
					if o, ok := v.(map[string]any); ok && len(o) == 1 && o["arguments"] != nil {
						return o["arguments"]
					}
					return v
				})
			}
		}),
		d("text-unwrapped", "*/wrapped-in-text", changing(func(raw []byte) []byte {
			if v, ok := lenient(raw); ok {
				if s, is := v.(string); is {
					return []byte(s)
				}
			}
			return raw
		})),
		d("next-version-falls-back", "names/version-after", renaming(func(n string) string {
			if base, ok := strings.CutSuffix(n, "_v2"); ok {
				return base + "_v1"
			}
			return n
		})),
		d("one-request-id", "tools/request-ids", answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result {
			r.RequestID = "req_1"
			return r
		})),
		{name: "publishes-nothing", suite: "dispatch", by: "dispatch/tools/published", fixture: showing(func([]tool.Published) []tool.Published { return nil })},
		{name: "publishes-empty-schemas", suite: "dispatch", by: "dispatch/tools/published", fixture: showing(func(list []tool.Published) []tool.Published {
			for i := range list {
				list[i].Input = []byte(`{}`)
			}
			return list
		})},
	}
}

// showing publishes other tools than the run has.
func showing(change func(list []tool.Published) []tool.Published) func(f *contracttest.Fixture) {
	return func(f *contracttest.Fixture) {
		f.Session = func(run *tool.Run) contracttest.Session { return shown{run, change} }
	}
}

type shown struct {
	*tool.Run

	change func(list []tool.Published) []tool.Published
}

// Tools implements contracttest.Session.
func (s shown) Tools() []tool.Published { return s.change(s.Run.Tools()) }

// brokenEvidence says of a commit what is not so.
func brokenEvidence() []broken {
	e := func(name, by string, change func(r *envelope.Result)) broken {
		return broken{name: name, suite: "executor", by: "executor/commit_refund_v1/" + by, definitions: writes, session: answering(func(_ *meddler, c envelope.Call, r envelope.Result) envelope.Result {
			if strings.HasPrefix(c.Tool, "commit_") {
				change(&r)
			}
			return r
		})}
	}
	member := func(name, value string) func(r *envelope.Result) {
		return func(r *envelope.Result) {
			if v, ok := lenient(r.Data); ok && r.OK {
				if o, is := v.(map[string]any); is {
					o[name] = value
					if b, err := json.Marshal(o); err == nil {
						r.Data = b
					}
				}
			}
		}
	}
	return []broken{
		e("committed-at-the-epoch", "plain", member("committed_at", "1970-01-01T00:00:00Z")),
		e("new-version-is-the-old", "plain", member("new_version", "1")),
		e("always-replayed", "plain", func(r *envelope.Result) { r.Replayed = r.OK }),
		e("unknown-told-as-in-progress", "lost-after-commit", func(r *envelope.Result) {
			if r.Error != nil && r.Error.Code == envelope.OutcomeUnknown {
				r.Error = envelope.New(envelope.InProgress)
				r.Error.Effect = envelope.EffectNone
			}
		}),
	}
}
