package upstream_test

import (
	"encoding/json/jsontext"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

// A contract with everything in it that validate.For derives.
type (
	parcel struct {
		ID       string           `json:"id" jsonschema:"minLength=2,maxLength=4"`
		Weight   float64          `json:"weight" jsonschema:"minimum=0,maximum=100"`
		Pieces   int              `json:"pieces" jsonschema:"minimum=1"`
		Note     *string          `json:"note" jsonschema:"nullable,maxLength=5"`
		Stops    []stop           `json:"stops" jsonschema:"maxItems=3"`
		Labels   map[string]label `json:"labels" jsonschema:"maxProperties=2"`
		Carrier  validate.OneOf[carrier, carriers]
		Inner    *parcel   `json:"inner,omitzero"`
		PickedUp time.Time `json:"picked_up,omitzero"`
	}
	stop struct {
		City string `json:"city" jsonschema:"minLength=1,maxLength=10"`
		Seq  int64  `json:"seq"`
	}
	label struct {
		Text string `json:"text" jsonschema:"maxLength=3"`
	}
	carrier  interface{ carrier() }
	carriers struct{}
	road     struct {
		Plate string `json:"plate" jsonschema:"minLength=1,maxLength=9"`
	}
	air struct {
		Flight string `json:"flight" jsonschema:"minLength=1,maxLength=9"`
		Legs   int    `json:"legs"`
	}
)

func (road) carrier() {}
func (air) carrier()  {}
func (carriers) Cases() []validate.Case[carrier] {
	return []validate.Case[carrier]{validate.Of[carrier, road]("road"), validate.Of[carrier, air]("air")}
}

func parcelOperation() upstream.Operation[struct{}, parcel] {
	return upstream.Operation[struct{}, parcel]{Name: "depot.parcel"}
}

const wholeParcel = `{"id":"p1","weight":1.5,"pieces":2,"note":null,"stops":[{"city":"Kiel","seq":1},{"city":"Bonn","seq":2}],` +
	`"labels":{"a":{"text":"x"}},"Carrier":{"kind":"air","flight":"LH1","legs":2},"picked_up":"2026-08-14T16:25:00Z"}`

// with replaces one text of the whole parcel.
func with(old, replacement string) string { return strings.Replace(wholeParcel, old, replacement, 1) }

func TestOrderOfTheContract(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why, doc, field, rule string
		selected                    string // rule in select mode where it differs; "ok": accepted
		selectedField               string
	}{
		{name: "whole", why: "nothing is wrong", doc: wholeParcel},
		{name: "missing", why: "the place it would have", doc: with(`"pieces":2,`, ""), field: "pieces", rule: "required"},
		{
			name: "value before missing", why: "fields are looked at in their order, not missing ones first",
			doc: `{"id":"","Carrier":{"kind":"road","plate":"K"}}`, field: "id", rule: "minLength",
		},
		{
			name: "missing before value", why: "the other way round", doc: `{"pieces":0,"id":"p1"}`, field: "weight", rule: "required",
		},
		{
			name: "sent in another order", why: "the declaration's order counts, not the document's",
			doc: `{"pieces":0,"weight":-1,"id":""}`, field: "id", rule: "minLength",
		},
		{
			name: "unknown after values", why: "an undeclared name is looked at last",
			doc: `{"zz":1,` + with(`"pieces":2`, `"pieces":0`)[1:], field: "pieces", rule: "minimum",
		},
		{
			name: "unknown", why: "its container's place, since the name is the upstream's", doc: `{"zz":1,` + wholeParcel[1:],
			field: "", rule: "additionalProperties", selected: "ok",
		},
		{
			name: "unknown inside", why: "the element's place", doc: with(`"seq":1`, `"seq":1,"zz":{"a":[1]}`),
			field: "stops[0]", rule: "additionalProperties", selected: "ok",
		},
		{
			name: "unknown inside before a later field", why: "an object is looked at to its end before the next field",
			doc: with(`"seq":1`, `"seq":1,"zz":2`)[:len(with(`"seq":1`, `"seq":1,"zz":2`))-1] + `,"inner":7}`, field: "stops[0]", rule: "additionalProperties",
			selected: "type", selectedField: "inner",
		},
		{name: "case", why: "a declared name in other case is no vendor's extra", doc: `{"ID":"x",` + wholeParcel[1:], field: "", rule: "additionalProperties", selected: "case"},
		{name: "case by Unicode", why: "the long s folds to s", doc: with(`"seq":2`, `"seq":2,"`+"\u017f"+`eq":3`), field: "stops[1]", rule: "additionalProperties", selected: "case", selectedField: "stops[1]"},
		{name: "element", why: "the place inside the list", doc: with(`"city":"Bonn"`, `"city":""`), field: "stops[1].city", rule: "minLength"},
		{name: "too many", why: "the list's own place", doc: with(`"seq":2}`, `"seq":2},{"city":"a","seq":3},{"city":"b","seq":4}`), field: "stops", rule: "maxItems"},
		{name: "whole number with a fraction", why: "2.0 is none to other readers", doc: with(`"pieces":2`, `"pieces":2.0`), field: "pieces", rule: "type"},
		{name: "whole number with an exponent", why: "2e0 neither", doc: with(`"pieces":2`, `"pieces":2e0`), field: "pieces", rule: "type"},
		{
			name: "whole number with a fraction before a missing field", why: "in its place among the fields",
			doc: strings.Replace(with(`"pieces":2`, `"pieces":2.0`), `"note":null,`, "", 1), field: "pieces", rule: "type",
		},
		{
			name: "long number after a bad value", why: "a limit does not come first here",
			doc: strings.Replace(with(`1.5`, `1.`+strings.Repeat("5", 60)), `"p1"`, `""`, 1), field: "id", rule: "minLength",
		},
		{
			name: "small exponent after a bad value", why: "nor does this one",
			doc: strings.Replace(with(`1.5`, `1e-99999`), `"p1"`, `""`, 1), field: "id", rule: "minLength",
		},
		{name: "fraction where it may be", why: "a number is not only whole", doc: with(`1.5`, `1.5e1`)},
		{name: "long number", why: "named where it is declared", doc: with(`1.5`, `1.`+strings.Repeat("5", 60)), field: "weight", rule: "limit"},
		{name: "huge exponent", why: "1e999999999 is compared by nobody", doc: with(`1.5`, `1e999999999`), field: "weight", rule: "limit"},
		{name: "huge exponent below", why: "nor is the smallest", doc: with(`1.5`, `1e-99999999999999999999`), field: "weight", rule: "limit"},
		{name: "exponent inside an unknown", why: "what is left out costs its bytes alone", doc: `{"zz":1e999999999,` + wholeParcel[1:], field: "", rule: "additionalProperties", selected: "ok"},
		{name: "null", why: "optional is not nullable", doc: wholeParcel[:len(wholeParcel)-1] + `,"inner":null}`, field: "inner", rule: "type"},
		{name: "nullable", why: "declared so", doc: with(`"note":null`, `"note":"hello!"`), field: "note", rule: "maxLength"},
		{name: "map's value", why: "keys are the upstream's text: the map's place", doc: with(`"text":"x"`, `"text":"xxxx"`), field: "labels", rule: "maxLength"},
		{name: "map's value misses a field", why: "the same", doc: with(`{"text":"x"}`, `{}`), field: "labels", rule: "required"},
		{name: "map's value with an unknown", why: "the same", doc: with(`"text":"x"`, `"text":"x","zz":1`), field: "labels", rule: "additionalProperties", selected: "ok"},
		{name: "union without kind", why: "nobody can say which", doc: with(`"kind":"air",`, ``), field: "Carrier.kind", rule: "required"},
		{name: "union of no kind", why: "not one of them", doc: with(`"kind":"air"`, `"kind":"sea"`), field: "Carrier.kind", rule: "const"},
		{name: "union's branch", why: "the branch that kind names", doc: with(`"legs":2`, `"legs":"2"`), field: "Carrier.legs", rule: "type"},
		{name: "union's branch misses a field", why: "required by that branch alone", doc: with(`"flight":"LH1",`, ``), field: "Carrier.flight", rule: "required"},
		{name: "other branch's field", why: "undeclared in this branch", doc: with(`"legs":2`, `"legs":2,"plate":"K"`), field: "Carrier", rule: "additionalProperties", selected: "ok"},
		{name: "union as a list", why: "not an object", doc: with(`{"kind":"air","flight":"LH1","legs":2}`, `[]`), field: "Carrier", rule: "type"},
		{name: "recursion", why: "the same contract within itself", doc: wholeParcel[:len(wholeParcel)-1] + `,"inner":` + with(`"seq":2`, `"seq":"2"`) + `}`, field: "inner.stops[1].seq", rule: "type"},
		{name: "nine missing", why: "a full list of violations hides nothing", doc: `{"weight":-1}`, field: "id", rule: "required"},
		{name: "value behind nine missing", why: "found all the same", doc: `{"id":"p1","weight":-1}`, field: "weight", rule: "minimum"},
		{name: "time that Go cannot hold", why: "a leap second is RFC 3339 and no time.Time", doc: with(`16:25:00Z`, `23:59:60Z`), field: "picked_up", rule: "format"},
		{name: "another type", why: "no object at all", doc: `[]`, field: "", rule: "type"},
		{name: "null document", why: "nothing is not an empty object", doc: `null`, field: "", rule: "type"},
		{name: "duplicate of a declared name", why: "the one fault of the parse that has a place", doc: with(`"seq":2`, `"seq":2,"seq":2`), field: "stops[1].seq", rule: "duplicate_member"},
		{name: "duplicate of an unknown name", why: "the name is the upstream's", doc: with(`"seq":2`, `"seq":2,"zz":2,"zz":3`), field: "", rule: "duplicate_member"},
		{name: "NUL", why: "no string holds it", doc: with(`"city":"Bonn"`, `"city":"Bo\u0000n"`), field: "stops[1].city", rule: "nul"},
		{name: "levels", why: "64, also inside what is left out", doc: `{"zz":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `,` + wholeParcel[1:], field: "", rule: "too_deep"},
		{name: "63 levels inside", why: "the last that is allowed", doc: `{"zz":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `,` + wholeParcel[1:], field: "", rule: "additionalProperties", selected: "ok"},
		{name: "escaped declared name", why: "names are compared unescaped", doc: with(`"pieces"`, `"piece\u0073"`)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, selecting := range []bool{false, true} {
				op := parcelOperation()
				op.Select = selecting
				got, refusal, err := upstream.Judge(op, struct{}{}, []byte(row.doc))
				require.NoError(t, err)
				field, rule := row.field, row.rule
				if selecting && row.selected != "" {
					field, rule = row.selectedField, row.selected
				}
				if rule == "" || rule == "ok" {
					require.Nil(t, refusal, "%s: select %t", row.why, selecting)
					require.Equal(t, "p1", got.ID)
					continue
				}
				require.NotNil(t, refusal, "%s: select %t", row.why, selecting)
				require.Equal(t, []string{"INVALID_RESPONSE", field, rule}, []string{string(refusal.Code), refusal.Field, refusal.Rule}, "%s: select %t", row.why, selecting)
				require.Zero(t, got)
			}
		})
	}
}

func TestRefusedNames(t *testing.T) {
	t.Parallel()
	op := parcelOperation()
	op.Select, op.Refuse = true, []string{"error"}
	for _, row := range []struct{ name, why, doc, field, rule string }{
		{"at the root", "the answer says that it is none", `{"error":null,` + wholeParcel[1:], "", "refused_name"},
		{"in an element", "any declared object", with(`"seq":1`, `"seq":1,"error":{}`), "stops[0]", "refused_name"},
		{"inside what is left out", "nobody reads in there", `{"meta":{"error":1},` + wholeParcel[1:], "", ""},
		{"other case", "spelt exactly", `{"Error":1,` + wholeParcel[1:], "", ""},
	} {
		_, refusal, err := upstream.Judge(op, struct{}{}, []byte(row.doc))
		require.NoError(t, err)
		if row.rule == "" {
			require.Nil(t, refusal, "%s: %s", row.name, row.why)
			continue
		}
		require.NotNil(t, refusal, "%s: %s", row.name, row.why)
		require.Equal(t, [2]string{row.field, row.rule}, [2]string{refusal.Field, refusal.Rule}, "%s: %s", row.name, row.why)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	op := reviewOperation()
	op.Select = true
	padded := func(n int) []byte {
		doc := `{"change_id":"CR-4471","decision":"approved","reviewed_by":"x","zz":""}`
		return []byte(strings.Replace(doc, `""`, `"`+strings.Repeat("m", n-len(doc))+`"`, 1))
	}
	q := reviewQuery{"CR-4471"}
	_, refusal, err := upstream.Judge(op, q, padded(1<<20))
	require.NoError(t, err)
	require.Nil(t, refusal, "1 MiB is the last size that is allowed")
	_, refusal, err = upstream.Judge(op, q, padded(1<<20+1))
	require.NoError(t, err)
	require.Equal(t, "limit", refusal.Rule)
	op.Limits.Bytes = 100
	_, refusal, err = upstream.Judge(op, q, padded(101))
	require.NoError(t, err)
	require.Equal(t, "limit", refusal.Rule, "an operation sets its own")
	op.Limits = validate.Limits{Depth: 2}
	_, refusal, err = upstream.Judge(op, q, []byte(`{"zz":[[1]]}`))
	require.NoError(t, err)
	require.Equal(t, "too_deep", refusal.Rule)
	wide := []byte(`{"change_id":"CR-4471","decision":"approved","reviewed_by":"x"`)
	for i := range 2000 {
		wide = append(wide, `,"zz`+strings.Repeat("y", i)+`":1`...)
		if len(wide) > 1<<19 {
			break
		}
	}
	_, refusal, err = upstream.Judge(reviewSelecting(), q, append(wide, '}'))
	require.NoError(t, err)
	require.Nil(t, refusal, "the members of a broad object are bounded by its bytes")
}

func reviewSelecting() upstream.Operation[reviewQuery, reviewStatus] {
	op := reviewOperation()
	op.Select = true
	return op
}

// Older forms of review_status.
type (
	reviewV1 struct {
		Change   string `json:"change" jsonschema:"pattern=^CR-[0-9]{1\\,10}$"`
		Approved bool   `json:"approved"`
	}
	reviewV2 struct {
		Form     int    `json:"form" jsonschema:"enum=2"`
		ChangeID string `json:"change_id" jsonschema:"pattern=^CR-[0-9]{1\\,10}$"`
		Decision string `json:"decision" jsonschema:"enum=approved,enum=rejected,enum=pending"`
	}
)

func versioned() upstream.Operation[reviewQuery, reviewStatus] {
	op := reviewOperation()
	op.Earlier = []upstream.Version[reviewStatus]{
		upstream.Earlier("1", func(v reviewV1) (reviewStatus, error) {
			if !v.Approved {
				return reviewStatus{}, errors.New("version 1 does not say whether " + v.Change + " is rejected or pending")
			}
			return reviewStatus{v.Change, "approved", "unknown"}, nil
		}),
		upstream.Earlier("2", func(v reviewV2) (reviewStatus, error) { return reviewStatus{v.ChangeID, v.Decision, "unknown"}, nil }),
	}
	return op
}

func TestEarlierVersions(t *testing.T) {
	t.Parallel()
	named := versioned()
	named.Which = func(doc jsontext.Value) string {
		if strings.Contains(string(doc), `"form":2`) {
			return "2"
		}
		if strings.Contains(string(doc), `"form":3`) {
			return "3"
		}
		return ""
	}
	for _, row := range []struct {
		name, why, doc string
		op             upstream.Operation[reviewQuery, reviewStatus]
		want           reviewStatus
		field, rule    string
	}{
		{name: "present", why: "the form of today", doc: `{"change_id":"CR-4471","decision":"pending","reviewed_by":"x"}`, op: versioned(), want: reviewStatus{"CR-4471", "pending", "x"}},
		{name: "first", why: "the only one that takes it", doc: `{"change":"CR-4471","approved":true}`, op: versioned(), want: reviewStatus{"CR-4471", "approved", "unknown"}},
		{name: "second", why: "the only one that takes it", doc: `{"form":2,"change_id":"CR-4471","decision":"rejected"}`, op: versioned(), want: reviewStatus{"CR-4471", "rejected", "unknown"}},
		{name: "cannot be brought", why: "the adapter refuses; its words may quote the answer", doc: `{"change":"CR-4471","approved":false}`, op: versioned(), field: "change_id", rule: "required"},
		{name: "none", why: "refused for what the present form says of it", doc: `{"change":"CR-4471","approved":1}`, op: versioned(), field: "change_id", rule: "required"},
		{name: "bound", why: "an old form answers the same question", doc: `{"change":"CR-4417","approved":true}`, op: versioned(), field: "change_id", rule: "same"},
		{name: "named", why: "the function chooses", doc: `{"form":2,"change_id":"CR-4471","decision":"rejected"}`, op: named, want: reviewStatus{"CR-4471", "rejected", "unknown"}},
		{name: "named otherwise", why: "only that one is tried", doc: `{"change":"CR-4471","approved":true}`, op: named, field: "change_id", rule: "required"},
		{name: "named and wrong", why: "refused for what it says itself", doc: `{"form":2,"change_id":"CR-4471","decision":"maybe"}`, op: named, field: "decision", rule: "enum"},
		{name: "of no version", why: "nobody knows it", doc: `{"form":3}`, op: named, field: "", rule: "version"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, refusal, err := upstream.Judge(row.op, reviewQuery{"CR-4471"}, []byte(row.doc))
			require.NoError(t, err)
			if row.rule == "" {
				require.Nil(t, refusal, row.why)
				require.Equal(t, row.want, got, row.why)
				return
			}
			require.NotNil(t, refusal, row.why)
			require.Equal(t, [2]string{row.field, row.rule}, [2]string{refusal.Field, refusal.Rule}, row.why)
		})
	}
}

func TestFreshAndAdvances(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, why, at string
		fresh         bool
	}{
		{"now", "of this moment", "2026-08-14T16:25:00Z", true},
		{"oldest", "both ends are included", "2026-08-14T16:20:00Z", true},
		{"too old", "a nanosecond over", "2026-08-14T16:19:59.999999999Z", false},
		{"ahead", "a clock may run ahead as far", "2026-08-14T16:30:00Z", true},
		{"too far ahead", "and no further", "2026-08-14T16:30:00.000000001Z", false},
		{"other offset", "instants count", "2026-08-14T18:22:00+02:00", true},
		{"small letters", "RFC 3339 admits them", "2026-08-14t16:25:00z", true},
		{"zero", "no time", "0001-01-01T00:00:00Z", false},
		{"none", "no date-time", "yesterday", false},
	} {
		err := upstream.FreshText("observed_at", row.at, recordedAt, 5*time.Minute)
		require.Equal(t, row.fresh, err == nil, "%s: %s", row.name, row.why)
		if err != nil {
			require.EqualError(t, err, "INVALID_RESPONSE at observed_at", row.name)
		}
	}
	require.NoError(t, upstream.Advances("next", "a", "b"))
	require.NoError(t, upstream.Advances("next", "", ""), "the end of the list")
	require.NoError(t, upstream.Advances("next", "a", ""), "the end of the list")
	require.EqualError(t, upstream.Advances("next", "a", "a"), "INVALID_RESPONSE at next")
}

func TestHooksKeepTheirOrderAndTheirSilence(t *testing.T) {
	t.Parallel()
	canary := "Zq7-canary-Kx9"
	var asked []string
	op := reviewOperation()
	op.Same = func(reviewQuery, reviewStatus) error { asked = append(asked, "same"); return nil }
	op.Fresh = func(time.Time, reviewStatus) error { asked = append(asked, "fresh"); return nil }
	op.Check = func(_ reviewQuery, got reviewStatus) error {
		asked = append(asked, "check")
		return errors.New(got.ReviewedBy)
	}
	doc := []byte(`{"change_id":"CR-4471","decision":"pending","reviewed_by":"` + canary + `"}`)
	_, refusal, err := upstream.Judge(op, reviewQuery{"CR-4471"}, doc)
	require.NoError(t, err)
	require.Equal(t, []string{"same", "fresh", "check"}, asked)
	require.Equal(t, [2]string{"", "check"}, [2]string{refusal.Field, refusal.Rule})
	require.NotContains(t, printed(refusal), canary)

	op.Check = func(_ reviewQuery, got reviewStatus) error {
		return envelope.New(envelope.NotFound).At("decision." + got.ReviewedBy).WithCause(errors.New(got.ReviewedBy))
	}
	_, refusal, err = upstream.Judge(op, reviewQuery{"CR-4471"}, doc)
	require.NoError(t, err)
	require.Equal(t, envelope.NotFound, refusal.Code, "the operation's own code")
	require.Equal(t, "decision", refusal.Field, "declared places alone")
	require.NotContains(t, printed(refusal), canary)
}

func TestDefinitionsThatAreWrong(t *testing.T) {
	t.Parallel()
	type open struct {
		Any any `json:"any"`
	}
	op := reviewOperation()
	op.Name, op.Host.Retention = "Reviews", -1
	op.Refuse = []string{"decision"}
	op.Which = func(jsontext.Value) string { return "" }
	op.Earlier = []upstream.Version[reviewStatus]{{}}
	_, err := upstream.NewHTTP(upstream.HTTP[reviewQuery, reviewStatus]{
		Operation: op, Origin: "http://example.com/x", Redirects: -1, RedirectTo: []string{"ftp://x"},
		Statuses: map[int]envelope.Code{200: envelope.NotFound, 204: "no"},
	})
	for _, fault := range []string{
		`upstream "Reviews"`, "name: must match", "host.retention", "refuse: a closed answer", "refuse: decision is declared", "earlier: each version",
		"origin: ", "redirect_to[0]", "redirects:", "request: must be set", "statuses: 200", "statuses: 204",
	} {
		require.ErrorContains(t, err, fault)
	}
	_, err = upstream.NewCommand(upstream.Command[reviewQuery, open]{Operation: upstream.Operation[reviewQuery, open]{Name: "a", Which: op.Which}, Exits: map[int]envelope.Code{0: envelope.NotFound}})
	for _, fault := range []string{"any", "which: there is but one", "runner: must be set", "args: must be set", "exits: 0"} {
		require.ErrorContains(t, err, fault)
	}
	for _, origin := range []string{"", "https://", "https://u:p@h", "https://h/p", "https://h?q", "https://h#f", "file:///etc", "http://h", "://"} {
		_, err := upstream.NewHTTP(upstream.HTTP[reviewQuery, reviewStatus]{
			Operation: reviewOperation(), Origin: origin, Request: func(reviewQuery) (upstream.Request, error) { return upstream.Request{}, nil },
		})
		require.ErrorContains(t, err, "origin:", origin)
	}
}
