package contracttest

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"testing"

	"github.com/toolcontract/toolcontract/tool/trace"
)

// Rule is what a Check or a handler refuses although the schema admits it.
type Rule struct {
	Tool, Name string         // wire name; the name of the case
	Valid      jsontext.Value // keeps the rule: reaches the handler. Nil: only the breach is tried
	Breach     jsontext.Value // is admitted by the schema and breaks the rule
	Want       Refusal        // never a code of the boundary
}

// Semantics checks rules that no schema can say: the breach must pass the schema, by the independent judge, and be refused
// with the rule's own code; the witness must be answered otherwise.
func Semantics(t *testing.T, fresh New, rules ...Rule) {
	t.Helper()
	play(t, fresh, nil, semantics(rules))
}

func semantics(rules []Rule) suite {
	return func(r *runner, cat *catalogue) {
		for _, rule := range rules {
			p, err := cat.tool(rule.Tool)
			if err == nil && (trace.Boundary(rule.Want.Code) || rule.Want.Code == "") {
				err = fmt.Errorf("contracttest: rule %q: a rule has a code of its own, not one of the boundary", rule.Name)
			}
			if err == nil {
				err = admitted(p, rule.Breach)
			}
			if err == nil && rule.Valid != nil {
				err = admitted(p, rule.Valid)
			}
			if err != nil {
				r.fault(err)
				continue
			}
			r.rule(cat, rule)
		}
	}
}

func admitted(p published, doc []byte) error {
	j, err := newJudge(p.Input, p.manifest.InputLimits)
	if err != nil {
		return err
	}
	if v := j.verdict(doc); !v.valid() {
		return errors.New("contracttest: a rule's document is refused by the schema already: " + v.keywords())
	}
	return nil
}

func (r *runner) rule(cat *catalogue, rule Rule) {
	send := func(tb testing.TB, doc []byte) seen {
		tb.Helper()
		l, err := r.live(tb, cat)
		if err != nil {
			tb.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), r.o.perCase)
		defer cancel()
		return l.call(ctx, rule.Tool, doc)
	}
	r.leaf(join("semantics", rule.Tool, rule.Name, "breach"), func(tb testing.TB) *Failure {
		tb.Helper()
		s := send(tb, rule.Breach)
		c := Case{Keyword: "semantics", Raw: rule.Breach, Want: rule.Want}
		e := s.result.Error
		if e == nil || e.Code != rule.Want.Code || e.Field != rule.Want.Field {
			return c.failure(s, rule.Want.String(), s.gotten())
		}
		return nil
	})
	if rule.Valid == nil {
		return
	}
	r.leaf(join("semantics", rule.Tool, rule.Name, "witness"), func(tb testing.TB) *Failure {
		tb.Helper()
		s := send(tb, rule.Valid)
		c := Case{Keyword: "semantics", Raw: rule.Valid}
		switch e := s.result.Error; {
		case e != nil && e.Code == rule.Want.Code && e.Field == rule.Want.Field:
			return c.failure(s, "anything but the rule's refusal", s.gotten())
		case len(s.entries) == 0:
			return c.failure(s, "the handler called", s.gotten())
		}
		return nil
	})
}
