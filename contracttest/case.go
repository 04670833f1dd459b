package contracttest

import (
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
)

// Case is one document and what a boundary must do with it. Cases come from the published schema alone. An invalid case
// has one fault and is otherwise valid.
type Case struct {
	// Name is the case's place in the run: input/preview_refund_v2/destination/oneOf/1/iban/pattern-flip-0. It holds no
	// value, no space and no sign of a regular expression, is unique, and is the same each time.
	Name string
	// Tool is the wire name; Keyword the keyword of JSON Schema that the case is about, or wire, limits.
	Tool, Keyword string
	// Raw are the bytes to send.
	Raw []byte
	// Valid: the schema admits the document. Want is then zero.
	Valid bool
	Want  Refusal
	// Canary are the texts that must not turn up in a refusal, log, audit event, metric or span.
	Canary []string

	names []string // member names that may stand in the answer to their sender, and nowhere else
	place string   // the place's name, for the report

	declared string // the argument of the keyword, for the report

	// also is another refusal that is right: where a choice fails, what it would have declared is unknown to an
	// unevaluatedProperties beside it, and which of the two is said first is not prescribed.
	also []Refusal

	conditional bool // made under a condition: the judge alone decides
}

// Refusal is how a boundary refuses. An empty Rule is not compared, for boundaries that do not say it.
type Refusal struct {
	Code  envelope.Code
	Field string // path, empty at the root
	Rule  string // the broken keyword, limit, nul or type
}

func invalid(rule, field string) Refusal {
	return Refusal{Code: envelope.InvalidArgument, Field: field, Rule: rule}
}

func tooLarge(field string) Refusal {
	return Refusal{Code: envelope.PayloadTooLarge, Field: field, Rule: "limit"}
}

// refusedBy reports whether an answer's error is one of the refusals that are right.
func (c Case) refusedBy(e *envelope.Error) bool {
	return c.Want.is(e) || slices.ContainsFunc(c.also, func(r Refusal) bool { return r.is(e) })
}

func (r Refusal) is(e *envelope.Error) bool {
	return e.Code == r.Code && e.Field == r.Field && (r.Rule == "" || e.Rule == r.Rule)
}

// mutation is one change of a value at a place, and what must come of it.
type mutation struct {
	op, keyword string
	value       *value
	want        Refusal // zero: the document stays valid
	form        bool    // refused before any schema: nothing captures it
	canary      []string
	names       []string
}

func (m mutation) valid() bool { return m.want.Code == "" }
