package export

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"regexp"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// OpenAI exports tools for Chat Completions, and for the many endpoints that speak its form. The role's tools come from
// tool.Role.Published or tool.Run.Tools. The error joins everything below that OpenAI would refuse.
//
// Strict mode takes, by the guide "Structured model outputs", section "Supported schemas"
// (developers.openai.com/api/docs/guides/structured-outputs):
//
//   - types string, number, boolean, integer, object, array, enumerations, anyOf, null in a union; the root is an object
//     and no anyOf; $defs, $ref and recursion;
//   - of strings pattern and format (date-time, time, date, duration, email, hostname, ipv4, ipv6, uuid); of numbers
//     multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum; of arrays minItems and maxItems;
//   - no allOf, not, dependentRequired, dependentSchemas, if, then, else;
//   - in every object additionalProperties: false, and every property required. An optional one is emulated by a union
//     with null, as the guide says;
//   - at most 5000 properties, 10 levels of nesting, 1000 enum values, 120 000 characters of names, enum and const values,
//     and 15 000 characters of an enum of more than 250 strings.
//
// A tool beyond that is sent with its whole schema and strict false, which takes any JSON Schema object. The API reference
// (FunctionDefinition, and tools of Chat Completions) adds: names of a-z, A-Z, 0-9, "_" and "-", at most 64 characters; at
// most 128 functions. Descriptions of functions are kept to 1024 characters, beyond which the API has answered
// string_above_max_length.
//
// minLength, maxLength, uniqueItems, default, title and whatever else the guide does not name are moved into descriptions.
// A const is sent as an enum of one value, a oneOf as anyOf.
func OpenAI(tools []tool.Published) (*Export, error) {
	p := openAI("openai")
	p.define = func(name, description string, schema any, strict bool) object {
		return object{{"type", "function"}, {"function", object{
			{"name", name}, {"description", description}, {"parameters", schema}, {"strict", strict},
		}}}
	}
	p.calls, p.answer = chatCalls, chatAnswers
	return p.export(tools)
}

// OpenAIResponses is [OpenAI] for the Responses API, which takes the same schemas and has forms of its own
// (developers.openai.com/api/docs/guides/function-calling): a function is not wrapped, a call is an item function_call of
// the response's output, and an answer is an item function_call_output.
func OpenAIResponses(tools []tool.Published) (*Export, error) {
	p := openAI("openai responses")
	p.define = func(name, description string, schema any, strict bool) object {
		return object{{"type", "function"}, {"name", name}, {"description", description}, {"parameters", schema}, {"strict", strict}}
	}
	p.calls, p.answer = responseCalls, responseAnswers
	return p.export(tools)
}

func openAI(name string) *provider {
	l := limits{provider: name, name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), tools: 128, description: 1024}
	return &provider{
		name: name,
		lint: l.check,
		wrap: func(definitions list) any { return definitions },
		subset: subset{
			strict: true, all: true, recursion: true, scalarEnum: true,
			keywords: words("pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems"),
			formats:  words("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"),
			within:   withinOpenAI,
		},
	}
}

// withinOpenAI says why a schema is too large for strict mode.
func withinOpenAI(schema any, _ *budget) string {
	s := measure(schema)
	switch {
	case s.properties > 5000:
		return "more than 5000 properties"
	case s.depth > 10:
		return "more than 10 levels of nesting"
	case s.enums > 1000:
		return "more than 1000 enum values"
	case s.text > 120_000:
		return "more than 120000 characters of names and enum values"
	case s.longEnum > 15_000:
		return "more than 15000 characters of an enum of more than 250 values"
	}
	return ""
}

// chatCalls reads a message of Chat Completions: tool_calls[].function, whose arguments are a string that holds JSON. Of a
// function without arguments some models leave the string empty.
func chatCalls(doc *span) ([]envelope.Call, error) {
	r := reader{provider: "openai"}
	items := r.items(doc, "tool_calls", "")
	calls := make([]envelope.Call, 0, len(items))
	for i, c := range items {
		place := envelope.Index("tool_calls", i)
		if kind := r.optionalText(c, "type", place); kind != "" && kind != "function" {
			r.fail(place+".type", "must be function")
		}
		f := r.object(c, "function", place)
		place += ".function"
		calls = append(calls, envelope.Call{
			ID: r.once(r.text(c, "id", envelope.Index("tool_calls", i)), envelope.Index("tool_calls", i)+".id"), Tool: r.text(f, "name", place), Arguments: written(r.text(f, "arguments", place)),
		})
	}
	return calls, r.err
}

// responseCalls reads a response of the Responses API.
func responseCalls(doc *span) ([]envelope.Call, error) {
	r := reader{provider: "openai responses"}
	items := r.items(doc, "output", "must be an array")
	calls := make([]envelope.Call, 0, len(items))
	for i, item := range items {
		place := envelope.Index("output", i)
		switch r.optionalText(item, "type", place) {
		case "function_call":
		case "custom_tool_call":
			r.fail(place+".type", "must be function_call")
			continue
		default:
			continue
		}
		if status := r.optionalText(item, "status", place); status != "" && status != "completed" {
			r.fail(place+".status", "must be completed")
		}
		calls = append(calls, envelope.Call{
			ID: r.once(r.text(item, "call_id", place), place+".call_id"), Tool: r.text(item, "name", place), Arguments: written(r.text(item, "arguments", place)),
		})
	}
	return calls, r.err
}

// written are arguments that were written into a string.
func written(arguments string) jsontext.Value {
	if arguments == "" {
		return jsontext.Value("{}")
	}
	return jsontext.Value(arguments)
}

func chatAnswers(calls []envelope.Call, results []envelope.Result) ([]any, error) {
	return each(calls, results, func(c envelope.Call, text string) any {
		return object{{"role", "tool"}, {"tool_call_id", c.ID}, {"content", text}}
	})
}

func responseAnswers(calls []envelope.Call, results []envelope.Result) ([]any, error) {
	return each(calls, results, func(c envelope.Call, text string) any {
		return object{{"type", "function_call_output"}, {"call_id", c.ID}, {"output", text}}
	})
}

func each(calls []envelope.Call, results []envelope.Result, answer func(c envelope.Call, text string) any) ([]any, error) {
	messages := make([]any, len(calls))
	for i, c := range calls {
		text, err := json.Marshal(results[i])
		if err != nil {
			return nil, err
		}
		messages[i] = answer(c, string(text))
	}
	return messages, nil
}

// length counts characters, as the providers' limits do.
func length(text string) int { return utf8.RuneCountInString(text) }
