// Package export writes a role's tools in the forms of the model providers, reads the calls that their models make, and
// writes the answers back: OpenAI (Chat Completions and Responses), Anthropic and Gemini. It speaks their JSON and uses
// none of their SDKs.
//
//	role, err := catalog.Role("support", "get_customer_v1", "preview_address_change_v2", "commit_address_change_v2")
//	openai, err := export.OpenAI(role.Published())
//	request.Tools = openai.Tools()              // the request's member "tools"
//	…
//	calls, err := openai.Calls(message)         // the assistant's message, as the endpoint sent it
//	for i, c := range calls {
//		results[i] = run.Call(ctx, c)           // the boundary checks the whole contract, whatever the provider checked
//	}
//	messages, err := openai.Answers(calls, results)
//
// Each provider takes a subset of JSON Schema. Whatever of the contract lies outside of it is a [Loss]: it is listed, and
// its words stand in the description of the field, so that the model still reads it. A tool that cannot be said in the
// strict subset at all (a map, a recursive type at Anthropic) is sent with its whole schema and without "strict". The rules
// of each provider, with their sources, stand at [OpenAI], [Anthropic] and [Gemini]; they were read in November 2026.
//
// Guarantees: an exported schema admits at least what the contract admits; the order of members is the contract's; names and
// sizes that the provider would refuse are errors here, all of them together, each with its tool; a call reaches the
// boundary with the bytes that the model wrote. One thing alone is undone: OpenAI's strict mode has no optional members, so
// they become required and nullable, and [Export.Calls] takes out a null that only this package made possible. It takes
// out nothing else, and repairs nothing: duplicates, texts of numbers, the order of members and broken JSON stay as they came.
//
// An [Export] is immutable and safe for concurrent use. Errors name places, never values.
//
// Not its business: HTTP, keys, streaming (put the deltas together first), and which tool to call.
package export
