package contracttest

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// frame looks at what stands around the calls: what is published, ids, and members that a host is tempted to take out.
func (r *runner) frame(cat *catalogue) {
	r.with("dispatch/tools/published", cat.names(), func(_ context.Context, l *live) *Failure { return publishes(cat, l) })
	first := cat.tools[0]
	r.with("dispatch/tools/request-ids", cat.names(), func(ctx context.Context, l *live) *Failure {
		ids := map[string]bool{}
		var s seen
		for range 3 {
			s = l.call(ctx, first.Name, []byte("["))
			ids[s.result.RequestID] = true
		}
		if len(ids) < 3 || ids[""] {
			f := Case{Keyword: "request_id", Raw: []byte("[")}.failure(s, "a request id of its own for each call", strconv.Itoa(len(ids))+" different ids of three calls")
			f.Hint = "a call is found by it in logs, audit and quarantine"
			return f
		}
		return nil
	})
	for _, p := range cat.tools {
		r.framed(cat, p)
	}
}

// publishes: a session shows its tools with the schemas that the boundary checks.
func publishes(cat *catalogue, l *live) *Failure {
	shown := l.session.Tools()
	for _, p := range cat.tools {
		fault := func(got string) *Failure {
			return &Failure{Keyword: "tools", Want: p.Name + " published with the schemas that are checked", Got: got, Hint: "hand on what Run.Tools returns"}
		}
		i := slices.IndexFunc(shown, func(q tool.Published) bool { return q.Name == p.Name })
		switch {
		case i < 0 && p.builtIn():
		case i < 0:
			return fault("a list without it")
		case !bytes.Equal(shown[i].Input, p.Input):
			return fault("another input schema")
		case !bytes.Equal(shown[i].Output, p.Output):
			return fault("another output schema")
		}
	}
	return nil
}

// framed sends, for one tool, documents that a careless host repairs: with the members that frameworks add, or wrapped in
// the call's own frame. What the schema refuses is refused; nothing is taken out on the way.
func (r *runner) framed(cat *catalogue, p published) {
	args, err := r.o.arguments(p)
	r.fault(err)
	j, err := newJudge(p.Input, p.manifest.InputLimits)
	if err != nil {
		r.fault(err)
		return
	}
	inside := bytes.TrimSpace(args)
	if len(inside) < 2 || inside[0] != '{' {
		return
	}
	for _, t := range []struct{ name, doc string }{
		{"beside-reason", beside(inside, `"reason":"zq7"`)},
		{"beside-meta", beside(inside, `"_meta":{}`)},
		{"wrapped-in-arguments", `{"arguments":` + string(args) + `}`},
		{"wrapped-in-input", `{"input":` + string(args) + `}`},
		{"wrapped-in-text", strconv.Quote(string(args))},
	} {
		doc := []byte(t.doc)
		if j.verdict(doc).valid() {
			continue // the tool has such a member
		}
		r.with(join("dispatch", p.Name, t.name), cat.names(), func(ctx context.Context, l *live) *Failure {
			s := l.call(ctx, p.Name, doc)
			return notEntered(Case{Name: t.name, Keyword: "frame", Raw: doc}, s, envelope.UnknownField, envelope.InvalidArgument)
		})
	}
}

func beside(object []byte, member string) string {
	if bytes.Equal(bytes.TrimSpace(object[1:len(object)-1]), nil) {
		return "{" + member + "}"
	}
	return "{" + member + "," + string(object[1:])
}

// after is the name of the next version, where no tool has it.
func (c *catalogue) after(exact string) string {
	base, version := exact[:strings.LastIndex(exact, "_v")], exact[strings.LastIndex(exact, "_v")+2:]
	n, err := strconv.Atoi(version)
	next := base + "_v" + strconv.Itoa(n+1)
	if _, free := c.tool(next); err != nil || free == nil || slices.Contains(c.retired, next) {
		return exact
	}
	return next
}

// evidence is what a commit says of itself, and what can be known of that: its time is a real one, and a target that
// changed has another version.
func (a *act) evidence(s seen) *Failure {
	said := func(member string) string { return textMember(s.result.Data, member) }
	f := a.failure(s, "evidence of what happened")
	at, err := time.Parse(time.RFC3339Nano, said("committed_at"))
	approved := a.rec.Proposal.Target.Version
	switch next := said("new_version"); {
	case s.result.Replayed:
		f.Want, f.Got = "an answer that is not marked as replayed: it is the first", "Replayed"
	case err != nil || at.Year() < 2000:
		f.Want, f.Got = "committed_at: when the provider did it", "no time since 2000"
	case !a.w.commit.manifest.Write.Unversioned && next != "" && next == approved:
		f.Want, f.Got = "new_version: another than was approved", "the same"
	case approved != "" && said("previous_version") != "" && said("previous_version") != approved:
		f.Want, f.Got = "previous_version: the one that was approved", "another"
	default:
		return nil
	}
	f.Hint = "fill tool.Evidence from the provider's answer"
	return f
}

// textMember is a member of an object that is a string; empty otherwise.
func textMember(doc []byte, name string) string {
	v, err := parseValue(doc)
	if err != nil || v.kind != '{' {
		return ""
	}
	if m := v.member(name); m != nil && m.kind == '"' {
		return m.text
	}
	return ""
}
