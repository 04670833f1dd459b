package export

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// Export is a role's tools as one provider is shown them. [OpenAI], [OpenAIResponses], [Anthropic] and [Gemini] make one;
// nil and the
// zero value have no tools, and read and write nothing.
type Export struct {
	provider *provider
	tools    jsontext.Value
	losses   []Loss
	nulls    map[string]*nulls // by wire name; of the tools in which nulls were introduced
}

// Loss is one part of the contract that the provider's schema does not say. The boundary checks it all the same.
type Loss struct {
	Tool    string // wire name
	Path    string // of the field, "lines[].sku"; empty: the arguments as a whole
	Keyword string // of JSON Schema; "strict": the whole tool is sent without strict mode
	Text    string // what the field's description says in its place; for "strict" why, which stands in no description
}

// provider is what there is to know of one: the subset it takes, its limits, and its forms.
type provider struct {
	name   string
	subset subset
	lint   func(tools []tool.Published) []error
	define func(name, description string, schema any, strict bool) object
	wrap   func(definitions list) any
	calls  func(doc *span) ([]envelope.Call, error)
	answer func(calls []envelope.Call, results []envelope.Result) ([]any, error)
}

// export makes the definitions of all tools, or says everything that is wrong with them.
func (p *provider) export(tools []tool.Published) (*Export, error) {
	x := &Export{provider: p, nulls: map[string]*nulls{}}
	faults := p.lint(tools)
	var definitions list
	var spent budget
	for _, t := range tools {
		c, err := p.carry(t, &spent)
		if err != nil {
			faults = append(faults, fmt.Errorf("export: %s: tool %q: %w", p.name, t.Name, err))
			continue
		}
		x.losses = append(x.losses, c.losses...)
		if c.introduced {
			x.nulls[t.Name] = c.nulls
		}
		definitions = append(definitions, p.define(t.Name, t.Description, c.schema, c.strict))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	text, err := json.Marshal(p.wrap(definitions))
	if err != nil {
		return nil, fmt.Errorf("export: %s: %w", p.name, err)
	}
	x.tools = text
	return x, nil
}

// Tools returns the JSON array that is the request's member "tools"; a copy.
func (x *Export) Tools() jsontext.Value {
	if x == nil {
		return nil
	}
	return slices.Clone(x.tools)
}

// Losses returns what the definitions do not say, in the order of the tools and of their fields; a copy, nil where there is none.
func (x *Export) Losses() []Loss {
	if x == nil {
		return nil
	}
	return slices.Clone(x.losses)
}

// Calls reads the calls that a model made, in their order; none is no error. message is, as the endpoint sent it,
//
//	OpenAI            choices[].message
//	OpenAIResponses   the response
//	Anthropic         the message
//	Gemini            candidates[].content
//
// Of the message only its own form is checked: what is no JSON, or not the provider's form, is a [*FormError]. So are two
// calls of one id, which no answer could tell apart (Gemini's may have none), a call of OpenAIResponses whose status is
// not completed, and a call of OpenAI's custom tools, which nothing here declares. A name is
// passed on as it stands, known or not, and so are the bytes of the arguments, of which nothing is taken out but the nulls
// that this export made possible. Where the provider's form of "no arguments" is an empty string, or nothing at all, the
// arguments are {}.
func (x *Export) Calls(message jsontext.Value) ([]envelope.Call, error) {
	if x == nil || x.provider == nil {
		return nil, errNoProvider
	}
	doc, err := parse(message)
	if err != nil {
		return nil, &FormError{Provider: x.provider.name, Rule: "must be one JSON value"}
	}
	calls, err := x.provider.calls(doc)
	if err != nil {
		return nil, err
	}
	for i, c := range calls {
		if n := x.nulls[c.Tool]; n != nil {
			calls[i].Arguments = n.without(c.Arguments)
		}
	}
	return calls, nil
}

// Answers writes the results of the calls as the messages that follow the assistant's: results[i] answers calls[i], and
// every call of a message is answered, as the providers ask. OpenAI has a message for each, Anthropic and Gemini one for
// all. The result is written whole, refusals marked in the provider's own way.
func (x *Export) Answers(calls []envelope.Call, results []envelope.Result) ([]jsontext.Value, error) {
	switch {
	case x == nil || x.provider == nil:
		return nil, errNoProvider
	case len(calls) != len(results):
		return nil, fmt.Errorf("export: %s: %d calls and %d results; each call has one", x.provider.name, len(calls), len(results))
	case len(calls) == 0:
		return nil, nil
	}
	messages, err := x.provider.answer(calls, results)
	if err != nil {
		return nil, err
	}
	texts := make([]jsontext.Value, len(messages))
	for i, m := range messages {
		if texts[i], err = json.Marshal(m, jsontext.AllowInvalidUTF8(true)); err != nil { // an id or a name as the model wrote it
			return nil, fmt.Errorf("export: %s: %w", x.provider.name, err)
		}
	}
	return texts, nil
}

var errNoProvider = errors.New("export: an Export is made by OpenAI, OpenAIResponses, Anthropic or Gemini")

// FormError says that a message does not have its provider's form: which place of the message, and which rule. It holds
// no value of the message.
type FormError struct {
	Provider string
	Place    string // "tool_calls[1].function.arguments"; empty: the message
	Rule     string
}

// Error implements error.
func (e *FormError) Error() string {
	if e.Place == "" {
		return "export: " + e.Provider + ": the message " + e.Rule
	}
	return "export: " + e.Provider + ": " + e.Place + ": " + e.Rule
}
