package approval

import (
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/toolcontract/toolcontract/internal/said"
)

// MaxTable is the longest policy file, in bytes.
const MaxTable = 1 << 20

type wireTable struct {
	Version int        `json:"version"`
	Rules   []wireRule `json:"rules"`
}

type wireRule struct {
	When    *wireMatch       `json:"when"`
	Require *wireRequirement `json:"require"`
}

type wireMatch struct {
	Tools             []string `json:"tools"`
	Classes           []string `json:"classes"`
	Tags              []string `json:"tags"`
	Environments      []string `json:"environments"`
	Currencies        []string `json:"currencies"`
	AmountUpTo        *int64   `json:"amount_up_to"`
	AmountOver        *int64   `json:"amount_over"`
	RecordsUpTo       *int     `json:"records_up_to"`
	RecordsOver       *int     `json:"records_over"`
	RecipientsWithin  []string `json:"recipients_within"`
	RecipientsOutside []string `json:"recipients_outside"`
	Irreversible      *bool    `json:"irreversible"`
}

type wireRequirement struct {
	Level    Level   `json:"level"`
	Role     *string `json:"role"` // a pointer: what is written and empty is a template that nobody filled
	Group    *string `json:"group"`
	Self     bool    `json:"self"`
	Lifetime *string `json:"lifetime"`
}

// ParseTable reads a policy file: one JSON object of at most MaxTable bytes,
//
//	{"version":1,"rules":[{"when":{"tools":["commit_address_change_v2"]},"require":{"level":"one","role":"support","lifetime":"15m"}}]}
//
// with the members of [Match] and [Requirement] in snake_case (amount_up_to, recipients_outside) and lifetimes as
// [time.ParseDuration] reads them. It is strict: unknown and duplicate members, null, empty lists and names, a rule without
// "when" or "require" (an empty "when" is written out: {}), invalid UTF-8 and trailing data are errors, and so is every
// fault that [Table.Lint] finds. All faults of a well-formed file are reported together; none of them holds a value of
// the file.
func ParseTable(r io.Reader) (Table, error) {
	doc, err := io.ReadAll(io.LimitReader(r, MaxTable+1))
	if err != nil {
		return Table{}, fmt.Errorf("approval: table: read: %w", err)
	}
	if len(doc) > MaxTable {
		return Table{}, fmt.Errorf("%w: table: longer than %d bytes", ErrInvalid, MaxTable)
	}
	if err := refuseNull(doc); err != nil {
		return Table{}, err
	}
	var w wireTable
	if err := json.Unmarshal(doc, &w, json.RejectUnknownMembers(true)); err != nil {
		return Table{}, tableFault(err)
	}
	t, err := w.table()
	if err = errors.Join(err, t.Lint()); err != nil {
		return Table{}, err
	}
	return t, nil
}

// refuseNull finds what the decoder would take for an absent member.
func refuseNull(doc []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(doc))
	for {
		tok, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return tableFault(err)
		case tok.Kind() == 'n':
			return fmt.Errorf("%w: table: %s: null", ErrInvalid, d.StackPointer())
		}
	}
}

// tableFault says what is wrong and where, without the text of the standard library, which quotes values.
func tableFault(err error) error {
	at := ""
	if se, ok := errors.AsType[*json.SemanticError](err); ok {
		at = " at " + string(se.JSONPointer)
	}
	if se, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = " at " + string(se.JSONPointer)
	}
	what := "not one JSON text"
	switch {
	case errors.Is(err, json.ErrUnknownName):
		what = "unknown member"
	case errors.Is(err, jsontext.ErrDuplicateName):
		what = "duplicate member"
	case isSemantic(err):
		what = "a value of the wrong type or range"
	}
	return fmt.Errorf("%w: table%s: %s", ErrInvalid, at, what)
}

func isSemantic(err error) bool {
	_, ok := errors.AsType[*json.SemanticError](err)
	return ok
}

func (w wireTable) table() (Table, error) {
	t := Table{Version: w.Version, Rules: make([]Rule, len(w.Rules))}
	var faults []error
	for i, wr := range w.Rules {
		var err error
		if t.Rules[i], err = wr.rule(); err != nil {
			faults = append(faults, fmt.Errorf("%w: table: rule %d: %w", ErrInvalid, i, err))
		}
	}
	return t, errors.Join(faults...)
}

func (w wireRule) rule() (Rule, error) {
	if w.When == nil || w.Require == nil {
		return Rule{}, errors.New("when and require must both be given")
	}
	req, err := w.Require.requirement()
	return Rule{When: Match(*w.When), Require: req}, err
}

func (w wireRequirement) requirement() (Requirement, error) {
	r := Requirement{Level: w.Level, Self: w.Self}
	var faults []error
	for _, name := range [...]struct {
		of   string
		text *string
		to   *string
	}{{"role", w.Role, &r.Role}, {"group", w.Group, &r.Group}} {
		switch {
		case name.text == nil:
		case !said.Something(*name.text):
			faults = append(faults, fmt.Errorf("require: %s is empty", name.of))
		default:
			*name.to = *name.text
		}
	}
	if w.Lifetime != nil {
		d, err := time.ParseDuration(*w.Lifetime)
		if err != nil || d == 0 {
			faults = append(faults, errors.New("require: lifetime is not a duration above zero"))
		}
		r.Lifetime = d
	}
	return r, errors.Join(faults...)
}
