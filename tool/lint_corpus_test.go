package tool_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Names as the APIs of payment providers, forges, clusters, shops and CRMs have them. Each row is one field, some with what
// stands beside it.

type corpusPart struct {
	Street string `json:"street"`
}

type lintRow struct {
	api, why string
	lint     func(*testing.T) map[string]string
	want     string // place and rule; "": nothing may be found
}

func takes[In any](t *testing.T) map[string]string {
	t.Helper()
	return linted[In, struct{}](t)
}

func answers[Out any](t *testing.T) map[string]string {
	t.Helper()
	return linted[struct{}, Out](t)
}

func wideFields() []lintRow {
	return []lintRow{
		{"a ticket system", "a document, and it says so", takes[struct {
			A string `json:"payload_json"`
		}], "input.payload_json serialised"},
		{"a webhook relay", "whatever was posted", takes[struct {
			A string `json:"raw_body"`
		}], "input.raw_body serialised"},
		{"an HTTP proxy", "the whole request of another API", takes[struct {
			A string `json:"request_body" jsonschema:"maxLength=16000"`
		}], "input.request_body serialised"},
		{"an HTTP proxy in camelCase", "words are words in any case", takes[struct {
			A string `json:"requestBody"`
		}], "input.requestBody serialised"},
		{"a message queue", "JSON in JSON", takes[struct {
			A string `json:"json"`
		}], "input.json serialised"},
		{"an object store", "bytes that nobody looks at", takes[struct {
			A string `json:"data_blob"`
		}], "input.data_blob serialised"},
		{"a CRM's bulk call", "XML passes every schema", takes[struct {
			A string `json:"recordsXml"`
		}], "input.recordsXml serialised"},
		{"a cluster", "a whole object of the cluster", takes[struct {
			A string `json:"manifest_yaml"`
		}], "input.manifest_yaml serialised"},
		{"a job runner", "the real arguments, unchecked", takes[struct {
			A string `json:"params"`
		}], "input.params serialised"},
		{"a function host", "as above", takes[struct {
			A string `json:"function_args"`
		}], "input.function_args serialised"},
		{"an event bus", "the event's own document", takes[struct {
			A string `json:"event_data"`
		}], "input.event_data serialised"},
		{"a pattern that takes JSON", "the pattern bounds the length and nothing else", takes[struct {
			A string `json:"payload" jsonschema:"pattern=^.{1\\,900}$"`
		}], "input.payload serialised"},
		{"an event bus's answer", "the model reads what nobody declared", answers[struct {
			A string `json:"serialized_state"`
		}], "output.serialized_state serialised"},
		{"a ledger", "one tool for every action", takes[struct {
			A string `json:"action"`
			B string `json:"resource" jsonschema:"maxLength=20"`
		}], "input.action method"},
		{"a ledger with a list", "the class hangs on which it is", takes[struct {
			A string `json:"action" jsonschema:"enum=get,enum=delete"`
			B string `json:"resource_type" jsonschema:"maxLength=20"`
		}], "input.action method"},
		{"a REST client", "an HTTP client is no tool", takes[struct {
			A string `json:"http_method"`
		}], "input.http_method method"},
		{"a REST client in camelCase", "as above", takes[struct {
			A string `json:"HTTPVerb"`
		}], "input.HTTPVerb method"},
		{"a REST client's target", "any call of the provider's API", takes[struct {
			A string `json:"endpoint"`
		}], "input.endpoint method"},
		{"an RPC bridge", "as above", takes[struct {
			A string `json:"operation"`
			B string `json:"path"`
		}], "input.operation method"},
		{"a CRM", "as above", takes[struct {
			A string `json:"operation_name"`
			B string `json:"sobject"`
		}], "input.operation_name method"},
		{"a warehouse", "reads and writes whatever it says", takes[struct {
			A string `json:"sql"`
		}], "input.sql program"},
		{"a CRM's own language", "as above", takes[struct {
			A string `json:"soql_query"`
		}], "input.soql_query serialised"},
		{"a search service", "a language of its own, or a search: say which", takes[struct {
			A string `json:"query"`
		}], "input.query program"},
		{"a rule engine", "evaluated on the other side", takes[struct {
			A string `json:"filter_expression"`
		}], "input.filter_expression program"},
		{"a host", "runs whatever it says", takes[struct {
			A string `json:"shell_command"`
		}], "input.shell_command program"},
		{"a build server", "a list of them is not narrower", takes[struct {
			A []string `json:"scripts"`
		}], "input.scripts[] program"},
		{"a payment provider", "anything", takes[struct {
			A string `json:"metadata"`
		}], "input.metadata catch_all"},
		{"a payment provider's more", "anything else", takes[struct {
			A string `json:"extra_metadata"`
		}], "input.extra_metadata catch_all"},
		{"a shop", "whatever was not declared ends here", takes[struct {
			A string `json:"customer_notes"`
		}], "input.customer_notes catch_all"},
		{"a courier", "as above", takes[struct {
			A string `json:"additionalInfo"`
		}], "input.additionalInfo catch_all"},
		{"an issue tracker", "as above", takes[struct {
			A string `json:"custom_fields"`
		}], "input.custom_fields catch_all"},
		{"a helpdesk's answer", "as above", answers[struct {
			A string `json:"ticket_details"`
		}], "output.ticket_details catch_all"},
		{"a cluster's labels", "members that nobody declared", takes[struct {
			A map[string]string `json:"labels" jsonschema:"maxProperties=4"`
		}], "input.labels map"},
		{"a CRM's answer", "the record, and whatever it gets", answers[struct {
			A corpusPart `json:"source_record"`
		}], "output.source_record whole_record"},
		{"a provider's answer", "as above", answers[struct {
			A string `json:"provider_response"`
		}], "output.provider_response whole_record"},
		{"a provider's answer as it came", "as above", answers[struct {
			A string `json:"rawEvent"`
		}], "output.rawEvent whole_record"},
	}
}

func narrowFields() []lintRow {
	return []lintRow{
		{"a ledger", "a choice that the schema closes", takes[struct {
			A string `json:"action" jsonschema:"enum=track,enum=trace"`
		}], ""},
		{"a payment provider", "what is paid with, and no method of an API", takes[struct {
			A string `json:"payment_method"`
			B string `json:"object" jsonschema:"enum=card"`
		}], ""},
		{"a courier", "as above", takes[struct {
			A string `json:"shipping_method"`
			B string `json:"target" jsonschema:"maxLength=9"`
		}], ""},
		{"a message queue", "a number", takes[struct {
			A int `json:"payload_size"`
		}], ""},
		{"a webhook relay", "where it is, not what it is", takes[struct {
			A string `json:"payload_url"`
		}], ""},
		{"an archive", "a name for it", takes[struct {
			A string `json:"payload_id"`
		}], ""},
		{"a signer", "its sum", takes[struct {
			A string `json:"body_sha256"`
		}], ""},
		{"an HTTP log", "an identifier", takes[struct {
			A string `json:"request_id"`
		}], ""},
		{"a validator", "a choice, whatever its name", takes[struct {
			A string `json:"json" jsonschema:"enum=strict,enum=loose"`
		}], ""},
		{"a token", "its pattern takes no document", takes[struct {
			A string `json:"payload" jsonschema:"pattern=^[A-Za-z0-9_-]{1\\,200}$"`
		}], ""},
		{"a device", "too short for a document", takes[struct {
			A string `json:"payload" jsonschema:"maxLength=16"`
		}], ""},
		{"a mailer", "a letter, read by a person", takes[struct {
			A string `json:"email_body"`
		}], ""},
		{"a forge", "as above", takes[struct {
			A string `json:"comment_body"`
		}], ""},
		{"a forge's content", "as above", takes[struct {
			A string `json:"page_content"`
		}], ""},
		{"a log", "an identifier", takes[struct {
			A string `json:"document_id"`
		}], ""},
		{"a search service", "words to look for", takes[struct {
			A string `json:"search_query"`
		}], ""},
		{"a warehouse", "an identifier", takes[struct {
			A string `json:"query_id"`
		}], ""},
		{"a warehouse's error", "a code", takes[struct {
			A string `json:"sql_state"`
		}], ""},
		{"a scheduler", "when, and nothing else", takes[struct {
			A string `json:"cron_expression"`
		}], ""},
		{"a host", "a choice", takes[struct {
			A string `json:"command" jsonschema:"enum=start,enum=stop"`
		}], ""},
		{"a bank", "what stands on the bill", takes[struct {
			A string `json:"statement_descriptor" jsonschema:"maxLength=22"`
		}], ""},
		{"a webhook", "an address", takes[struct {
			A string `json:"endpoint" jsonschema:"format=uri"`
		}], ""},
		{"a shop", "one note for one purpose", takes[struct {
			A string `json:"delivery_note" jsonschema:"maxLength=200"`
		}], ""},
		{"a shop's choice", "one of them", takes[struct {
			A string `json:"shipping_option"`
		}], ""},
		{"a calendar", "a code", takes[struct {
			A string `json:"notes" jsonschema:"pattern=^[A-Z]{3}$"`
		}], ""},
		{"an issue tracker", "a title", takes[struct {
			A string `json:"title"`
		}], ""},
		{"a helpdesk", "one thing, said in words", takes[struct {
			A string `json:"reason" jsonschema:"maxLength=200"`
		}], ""},
		{"a CRM", "an identifier", takes[struct {
			A string `json:"record_id"`
		}], ""},
		{"a shop", "a number", takes[struct {
			A int `json:"metadata"`
		}], ""},
		{"a courier's answer", "a time", answers[struct {
			A string `json:"first_response_at" jsonschema:"format=date-time"`
		}], ""},
		{"a helpdesk's answer", "a number", answers[struct {
			A int `json:"record_count"`
		}], ""},
		{"an archive's answer", "yes or no", answers[struct {
			A bool `json:"snapshot"`
		}], ""},
		{"a forge's answer", "two times are no record", answers[struct {
			A string `json:"created_at" jsonschema:"format=date-time"`
			B string `json:"updated_at" jsonschema:"format=date-time"`
		}], ""},
		{"a shop's answer", "a place", answers[struct {
			A string `json:"data_center" jsonschema:"enum=eu,enum=us"`
		}], ""},
		{"a shop's answer", "a part that is declared", answers[struct {
			A corpusPart `json:"address"`
		}], ""},
		{"a cluster's answer", "one number of many", answers[struct {
			A int `json:"generation"`
			B int `json:"replicas"`
		}], ""},
	}
}

// TestLintOfACorpus states what the lint finds of fields that are wide, and what it finds of those that only look it.
func TestLintOfACorpus(t *testing.T) {
	t.Parallel()
	wide, narrow := wideFields(), narrowFields()
	require.GreaterOrEqual(t, len(wide), 30)
	require.GreaterOrEqual(t, len(narrow), 30)
	hits, alarms := 0, 0
	for _, row := range wide {
		place, rule, _ := strings.Cut(row.want, " ")
		if got := row.lint(t); len(got) == 1 && got[place] == rule {
			hits++
		} else {
			t.Errorf("%s: want %s, got %v: %s", row.api, row.want, got, row.why)
		}
	}
	for _, row := range narrow {
		if got := row.lint(t); len(got) > 0 {
			alarms++
			t.Errorf("%s: got %v: %s", row.api, got, row.why)
		}
	}
	require.Equal(t, 36, hits, "of 36 wide fields")
	require.Zero(t, alarms, "of 36 narrow fields")
}
