package export

import (
	"encoding/json/v2"
	"regexp"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// Gemini exports tools for generateContent of the Gemini API and of Vertex AI: one tool with the list functionDeclarations.
// The role's tools come from tool.Role.Published or tool.Run.Tools. The error joins everything that Gemini would refuse.
//
// The parameters are written as parametersJsonSchema. Google documents what is taken of JSON Schema at responseJsonSchema
// (ai.google.dev/api/generate-content, GenerationConfig) and under "Structured output", and this export keeps to it:
//
//   - $defs, $ref (alone in its schema), type, format (of strings date-time, date and time), description, enum of strings and
//     numbers, items, prefixItems, minItems, maxItems, minimum, maximum, anyOf, oneOf (read as anyOf), properties,
//     additionalProperties, required, and propertyOrdering, which is not JSON Schema's;
//   - recursion only within members that are not required: where a type contains itself otherwise, that place is an object
//     whose form stands in its description.
//
// Gemini has no strict mode: nothing is made required, and no null is introduced. pattern, minLength, maxLength, const of
// anything but a string or number, exclusive bounds and whatever else is not in the list are moved into descriptions. Names
// begin with a letter or "_", have letters, digits, "_", ".", ":" and "-", and at most 64 characters; names of parameters
// have letters, digits and "_" (FunctionDeclaration). A request takes at most 128 declarations (Vertex AI, "Function calling
// reference"). A tool without arguments is declared without parameters, as FunctionDeclaration says.
func Gemini(tools []tool.Published) (*Export, error) {
	l := limits{
		provider: "gemini", name: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`), member: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`),
		tools: 128,
	}
	p := &provider{
		name: "gemini",
		lint: l.check,
		wrap: func(definitions list) any { return list{object{{"functionDeclarations", definitions}}} },
		define: func(name, description string, schema any, _ bool) object {
			out := append(make(object, 0, 3), entry{"name", name}, entry{"description", description})
			if s, ok := schema.(object); ok && s.get("properties") == nil && s.get("description") == nil {
				if _, typed := s.get("additionalProperties").(object); !typed {
					return out
				}
			}
			return append(out, entry{"parametersJsonSchema", schema})
		},
		subset: subset{
			recursion: true, tuples: true, open: true, ordering: true,
			keywords: words("format", "minItems", "maxItems", "minimum", "maximum"),
			formats:  words("date-time", "date", "time"),
		},
		calls:  partCalls,
		answer: partAnswers,
	}
	return p.export(tools)
}

// partCalls reads a content: its parts with a functionCall, whose args are an object, left out where there are none.
func partCalls(doc *span) ([]envelope.Call, error) {
	r := reader{provider: "gemini"}
	var calls []envelope.Call
	for i, part := range r.items(doc, "parts", "") {
		place := envelope.Index("parts", i)
		if !part.has("functionCall") {
			continue
		}
		f := r.object(part, "functionCall", place)
		place += ".functionCall"
		calls = append(calls, envelope.Call{ID: r.once(r.optionalText(f, "id", place), place+".id"), Tool: r.text(f, "name", place), Arguments: r.raw(f, "args", place)})
	}
	return calls, r.err
}

// partAnswers are one content with a functionResponse for each call. FunctionResponse says: "output" for the function's
// output, "error" for the details of an error.
func partAnswers(calls []envelope.Call, results []envelope.Result) ([]any, error) {
	var parts list
	for i, c := range calls {
		result, err := json.Marshal(results[i])
		if err != nil {
			return nil, err
		}
		response := object{{"output", jsonValue(result)}}
		if !results[i].OK {
			response = object{{"error", jsonValue(result)}}
		}
		answer := object{{"name", c.Tool}, {"response", response}}
		if c.ID != "" {
			answer = append(object{{"id", c.ID}}, answer...)
		}
		parts = append(parts, object{{"functionResponse", answer}})
	}
	return []any{object{{"role", "user"}, {"parts", parts}}}, nil
}
