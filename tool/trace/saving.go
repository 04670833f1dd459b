package trace

import (
	"encoding/json/jsontext"
	"fmt"
	"slices"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
)

// saving redacts the steps of a run.
type saving struct {
	catalog  *tool.Catalog
	steps    []*taken
	standIns standIns
	own      map[*taken]bool // a value hidden elsewhere is left alone in these where their schema does not hide it
	notes    func(string) string
	faults   map[*taken]string   // where no stand-in stood, in the last pass
	fault    string              // the same, within the document that is being redacted
	left     map[*taken][]string // whose arguments were left out in the last pass: the places where no stand-in stood
	numbers  map[string]bool     // that are hidden
	subjects hider               // the people and services of the run
	inside   bool                // subjects are looked for within texts too, and short ones
}

// people learns who takes part: a subject is personal, whatever the schemas say.
func (s *saving) people(top *head) {
	all := []string{top.Principal.Subject}
	for _, t := range s.steps {
		if t.By != nil {
			all = append(all, t.By.Subject)
		}
	}
	all = slices.DeleteFunc(all, func(subject string) bool { return subject == "" })
	slices.Sort(all)
	all = slices.Compact(all)
	for _, subject := range all {
		s.standIns.hide(subject)
	}
	s.standIns.distinct(all)
	s.subjects = hider{needles: needles(all), of: s.standIns.of}
}

// person is a principal with a stand-in for the subject.
func (s *saving) person(p approval.Principal) approval.Principal {
	if p.Subject != "" {
		p.Subject = s.standIns.subjects[p.Subject]
	}
	return p
}

// redacted finds stand-ins with which every step passes its schemas, and as many arguments as can be keep their verdict.
func (s *saving) redacted() ([]any, error) {
	for _, t := range s.steps {
		s.collect(t)
	}
	out, err := s.settled(s.otherwise)
	if err != nil {
		return nil, err
	}
	if len(s.left) > 0 {
		out = s.keeping()
	}
	s.redactNotes(out)
	return out, nil
}

// settled changes how values are replaced until every step passes.
func (s *saving) settled(otherwise func(*taken) bool) ([]any, error) {
	for range 2 * ways * (len(s.steps) + 1) {
		out, bad := s.pass()
		if len(bad) == 0 {
			return out, nil
		}
		moved := false
		for _, t := range bad {
			moved = otherwise(t) || moved
		}
		if !moved {
			return nil, fmt.Errorf("%w: in %s of %s: %s", ErrStandIn, bad[0].Case, bad[0].Tool, s.faults[bad[0]])
		}
	}
	return nil, ErrStandIn
}

// pass redacts every step once and returns those whose documents are no longer of their schemas.
func (s *saving) pass() (out []any, bad []*taken) {
	s.standIns.begin()
	clear(s.left)
	for _, t := range s.steps {
		redacted, ok := s.step(t)
		if !ok {
			bad = append(bad, t)
		}
		out = append(out, redacted)
	}
	return out, bad
}

// collect learns the hidden values of a step.
func (s *saving) collect(t *taken) {
	learn := func(doc []byte, p places) {
		_, _ = rewrite(doc, p, func(l leaf) jsontext.Value { // what is no JSON holds nothing that is declared
			switch {
			case !l.hidden:
			case l.value.Kind() == '"':
				s.standIns.hide(text(l.value))
			case l.value.Kind() == '0':
				s.numbers[string(l.value)] = true
			}
			return l.value
		})
	}
	if schemas, ok := s.catalog.Schemas(t.Tool); ok && (t.Step == stepCall || t.Step == stepResolve || t.Step == stepWork) {
		learn(t.raw, placesOf(schemas.Input))
		learn(t.Answer, placesOf(schemas.Output))
		s.standIns.public[string(schemas.Input.JSON())], s.standIns.public[string(schemas.Output.JSON())] = true, true
	}
	for _, e := range t.Upstream {
		learn(e.Asked, listed(e.AskedHidden))
		learn(e.Answer, listed(e.AnswerHidden))
		if e.Failure != nil {
			s.standIns.hide(e.Failure.Receipt)
		}
	}
	s.standIns.hide(t.Reason)
	s.standIns.hide(t.Evidence)
}

// otherwise changes how a step's values are replaced, in the end to leaving alone what its own schemas do not hide; false
// where every way was tried.
func (s *saving) otherwise(t *taken) bool {
	moved := s.otherWay(t)
	if !moved && !s.own[t] {
		s.own[t], moved = true, true
		for value := range s.standIns.tries {
			s.standIns.tries[value] = wholeText
		}
	}
	return moved
}

// otherWay changes how a step's values are replaced; false where every way was tried.
func (s *saving) otherWay(t *taken) bool {
	moved := false
	next := func(doc []byte, p places) {
		_, _ = rewrite(doc, p, func(l leaf) jsontext.Value {
			if l.value.Kind() == '"' && (l.hidden || !s.own[t] && s.standIns.elsewhere(text(l.value))) {
				moved = s.standIns.next(text(l.value)) || moved
			}
			return l.value
		})
	}
	if schemas, ok := s.catalog.Schemas(t.Tool); ok {
		next(t.raw, placesOf(schemas.Input))
		next(t.Answer, placesOf(schemas.Output))
	}
	for _, e := range t.Upstream {
		next(e.Answer, listed(e.AnswerHidden))
	}
	return moved
}
