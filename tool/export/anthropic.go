package export

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"regexp"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// Anthropic exports tools for the Messages API. The role's tools come from tool.Role.Published or tool.Run.Tools. The error
// joins everything below that Anthropic would refuse. It cannot say that a compiled grammar is too large: how large one is
// only the API knows, and answers with 400.
//
// Strict tool use takes, by "Structured outputs", sections "JSON Schema limitations" and "Schema complexity limits"
// (platform.claude.com/docs/en/build-with-claude/structured-outputs):
//
//   - all basic types; enum of strings, numbers, booleans and nulls; const; anyOf; $ref and $defs without recursion;
//     required; additionalProperties: false in every object; allOf without $ref, which is not used here;
//   - string formats date-time, time, date, duration, email, hostname, uri, ipv4, ipv6, uuid; minItems of 0 and 1; patterns
//     of literals, classes, groups, *, +, ? and simple {n,m}, without lookarounds, backreferences, \b and \B, and without
//     "complex {n,m} quantifiers with large ranges", which is read here as beyond 100;
//   - no minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, maxItems, uniqueItems;
//   - of all strict tools of a request together: at most 20 tools, 24 optional members, 16 members with anyOf or an array
//     of types. Tools are taken in their order, and one that does not fit any more is sent without strict.
//
// A $ref stands alone, as in Anthropic's own SDK. Optional members stay optional. A tool beyond that is sent with its
// whole schema and without strict, as "Define tools" describes: any JSON Schema of an object, whose root has no oneOf, anyOf
// or allOf. Names match ^[a-zA-Z0-9_-]{1,128}$ (the same page), kept to 64 here as older models ask; names of members match
// ^[a-zA-Z0-9_.-]{1,64}$ (the API's own error).
//
// Whatever the strict subset does not name is moved into descriptions. A oneOf is sent as anyOf.
func Anthropic(tools []tool.Published) (*Export, error) {
	l := limits{
		provider: "anthropic", name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), member: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`),
		plainRoot: true,
	}
	p := &provider{
		name: "anthropic",
		lint: l.check,
		wrap: func(definitions list) any { return definitions },
		define: func(name, description string, schema any, strict bool) object {
			out := object{{"name", name}, {"description", description}, {"input_schema", schema}}
			if strict {
				out = append(out, entry{"strict", true})
			}
			return out
		},
		subset: subset{
			strict: true, constant: true, scalarEnum: true,
			keywords: words("pattern", "format", "minItems"),
			formats:  words("date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"),
			minItems: 1,
			pattern:  simple,
			within:   withinAnthropic,
		},
		calls:  blockCalls,
		answer: blockAnswers,
	}
	return p.export(tools)
}

// withinAnthropic says why a schema does not fit beside those before it, and spends what it takes where it does.
func withinAnthropic(schema any, spent *budget) string {
	s := measure(schema)
	switch {
	case spent.tools+1 > 20:
		return "more than 20 strict tools in a request"
	case spent.optional+s.optional > 24:
		return "more than 24 optional members in a request"
	case spent.unions+s.unions > 16:
		return "more than 16 members of several types in a request"
	}
	*spent = budget{spent.tools + 1, spent.optional + s.optional, spent.unions + s.unions}
	return ""
}

// blockCalls reads a message: its content blocks of type tool_use, whose input is an object.
func blockCalls(doc *span) ([]envelope.Call, error) {
	r := reader{provider: "anthropic"}
	var calls []envelope.Call
	for i, block := range r.items(doc, "content", "must be an array") {
		place := envelope.Index("content", i)
		if r.text(block, "type", place) != "tool_use" {
			continue
		}
		calls = append(calls, envelope.Call{
			ID: r.once(r.text(block, "id", place), place+".id"), Tool: r.text(block, "name", place), Arguments: r.raw(block, "input", place),
		})
	}
	return calls, r.err
}

// blockAnswers are one user message with a block tool_result for each call ("Handle tool calls").
func blockAnswers(calls []envelope.Call, results []envelope.Result) ([]any, error) {
	var content list
	for i, c := range calls {
		text, err := json.Marshal(results[i])
		if err != nil {
			return nil, err
		}
		block := object{{"type", "tool_result"}, {"tool_use_id", c.ID}, {"content", string(text)}}
		if !results[i].OK {
			block = append(block, entry{"is_error", true})
		}
		content = append(content, block)
	}
	return []any{object{{"role", "user"}, {"content", content}}}, nil
}

// raw returns a member as it stands, {} where there is none.
func (r *reader) raw(s *span, name, place string) jsontext.Value {
	v := r.member(s, name, place)
	if v == nil {
		return jsontext.Value("{}")
	}
	return v.raw()
}
