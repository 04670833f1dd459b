package validate_test

import (
	"bufio"
	"bytes"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// The catalogue that the recorded calls are for, as structs.
type (
	customerArgs struct {
		CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
	}
	ordersArgs struct {
		CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
		Status     string `json:"status,omitzero" jsonschema:"enum=open,enum=shipped,enum=cancelled"`
		Limit      int    `json:"limit,omitzero" jsonschema:"minimum=1,maximum=100"`
		Cursor     string `json:"cursor,omitzero"`
	}
	noArgs      struct{}
	destination interface{ destination() }
	saved       struct {
		AddressID string `json:"address_id"`
	}
	newAddress struct {
		Line1   string `json:"line1" jsonschema:"minLength=1,maxLength=200"`
		Line2   string `json:"line2,omitzero"`
		City    string `json:"city" jsonschema:"minLength=1,maxLength=100"`
		Country string `json:"country" jsonschema:"pattern=^[A-Z]{2}$"`
	}
	destinations      struct{}
	addressChangeArgs struct {
		CustomerID  string                                    `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
		Destination validate.OneOf[destination, destinations] `json:"destination"`
	}
	commitArgs struct {
		ProposalID string `json:"proposal_id" jsonschema:"pattern=^p_[A-Za-z0-9]{4\\,64}$"`
	}
	refundArgs struct {
		CaseRef     string `json:"case_ref" jsonschema:"pattern=^case_[A-Za-z0-9]{16}$"`
		ReasonCode  string `json:"reason_code" jsonschema:"enum=duplicate_charge,enum=service_not_received,enum=other"`
		AmountMinor int64  `json:"amount_minor,omitzero" jsonschema:"minimum=1,maximum=100000000"`
		Currency    string `json:"currency,omitzero" jsonschema:"pattern=^[A-Z]{3}$"`
	}
)

func (saved) destination()      {}
func (newAddress) destination() {}

func (destinations) Cases() []validate.Case[destination] {
	return []validate.Case[destination]{validate.Of[destination, saved]("saved"), validate.Of[destination, newAddress]("new")}
}

// decoder erases the type of a tool's arguments.
func decoder[T any](t *testing.T) (schema *validate.Schema, decode func([]byte) error) {
	t.Helper()
	s, err := validate.For[T]()
	require.NoError(t, err)
	return s, func(doc []byte) error {
		_, err := s.Decode[T](doc, validate.Defaults())
		return err
	}
}

type recordedCall struct {
	Case      string `json:"case"`
	Tool      string `json:"tool"`
	Arguments []byte `json:"arguments_b64"`
	Verdict   string `json:"verdict"`
	Code      string `json:"code"`
	Field     string `json:"field"`
	Why       string `json:"why"`
}

func recordedCalls(t *testing.T) []recordedCall {
	t.Helper()
	dir := os.Getenv("TOOLCONTRACT_CASES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "cases")
	}
	text, err := os.ReadFile(filepath.Join(dir, "calls.jsonl"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no recorded calls here; set TOOLCONTRACT_CASES to a folder that has calls.jsonl")
	}
	require.NoError(t, err)
	var calls []recordedCall
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var c recordedCall
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		calls = append(calls, c)
	}
	require.NoError(t, lines.Err())
	require.NotEmpty(t, calls)
	return calls
}

func TestRecordedCalls(t *testing.T) {
	t.Parallel()
	type tool struct {
		schema *validate.Schema
		decode func([]byte) error
	}
	catalogue := map[string]tool{}
	put := func(name string, s *validate.Schema, decode func([]byte) error) { catalogue[name] = tool{s, decode} }
	s, d := decoder[customerArgs](t)
	put("get_customer_v1", s, d)
	s, d = decoder[ordersArgs](t)
	put("list_orders_v1", s, d)
	s, d = decoder[noArgs](t)
	put("list_warehouses_v1", s, d)
	s, d = decoder[addressChangeArgs](t)
	put("preview_address_change_v2", s, d)
	s, d = decoder[commitArgs](t)
	put("commit_address_change_v2", s, d)
	s, d = decoder[refundArgs](t)
	put("request_refund_review_v1", s, d)

	for _, c := range recordedCalls(t) {
		tool, ok := catalogue[c.Tool]
		if !ok {
			continue // the name is refused before its arguments are read
		}
		t.Run(c.Case, func(t *testing.T) {
			t.Parallel()
			agrees(t, c, tool.decode(c.Arguments), "decoded into the struct")
			document, err := validate.Compile(tool.schema.JSON())
			require.NoError(t, err)
			if c.Case == "integer-as-exponent" {
				require.NoError(t, document.Check(c.Arguments, validate.Defaults()), "1e1 is an integer to JSON Schema; only a Go integer refuses it")
				return
			}
			agrees(t, c, document.Check(c.Arguments, validate.Defaults()), "checked against the document")
			if c.Verdict == "accept" {
				_, err := document.Decode[jsontext.Value](c.Arguments, validate.Defaults())
				require.NoError(t, err)
			}
		})
	}
}

func agrees(t *testing.T, c recordedCall, err error, how string) {
	t.Helper()
	if c.Verdict == "accept" {
		require.NoError(t, err, "%s: %s", how, c.Why)
		return
	}
	var e *envelope.Error
	require.ErrorAs(t, err, &e, "%s: %s", how, c.Why)
	require.Equal(t, c.Code, string(e.Code), "%s: %s", how, c.Why)
	require.Equal(t, c.Field, e.Field, "%s: %s", how, c.Why)
}
