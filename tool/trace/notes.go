package trace

import (
	"encoding/json/jsontext"
	"maps"
	"slices"
	"strings"

	"github.com/toolcontract/toolcontract/redact"
)

// redactNotes replaces in the notes whatever is hidden anywhere in the run. No schema has a say in them.
func (s *saving) redactNotes(out []any) {
	hidden := s.hidden()
	for i, t := range s.steps {
		if t.Step != stepNote {
			continue
		}
		note := t.step
		if s.notes != nil {
			note.Text = s.notes(note.Text)
		}
		note.Text = hidden.in(note.Text, true)
		out[i] = note
	}
}

// hidden are all hidden values of the run, with the stand-ins that they have now.
func (s *saving) hidden() hider {
	h := hider{needles: needles(slices.Collect(maps.Keys(s.standIns.tries))), numbers: map[string]string{}, of: s.standIns.of}
	for number := range s.numbers {
		for _, spelt := range spellings(number) {
			h.numbers[significant(spelt)] = s.standIns.number(number, wholeText)
		}
	}
	return h
}

// spellings are a number, and what it is as an amount in a minor unit.
func spellings(number string) []string {
	canonical, err := redact.Canonical(jsontext.Value(number))
	if err != nil {
		return []string{number}
	}
	out := []string{strings.TrimPrefix(string(canonical), "-")}
	if n := len(out[0]) - 2; n > 0 && !strings.ContainsAny(out[0], ".e") {
		out = append(out, out[0][:n]+"."+out[0][n:])
	}
	return out
}
