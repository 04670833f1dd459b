// Package validate decides whether bytes are what a contract says, before anything else reads them.
//
// A [Schema] comes from a Go struct ([For]) or from a JSON Schema document ([Compile]), and is proved when it is made:
// closed objects, bounded strings and arrays, known keywords, types that encode to what their own schema says.
// A document then passes limits, strict grammar, duplicate names, the schema and a strict decode, in this order:
//
//	type Query struct {
//		CustomerID string `json:"customer_id" jsonschema:"minLength=1,maxLength=64"`
//		Limit      int    `json:"limit,omitzero" jsonschema:"minimum=1,maximum=100"`
//	}
//	schema, err := validate.For[Query]()
//	…
//	query, err := schema.Decode[Query](doc, validate.Limits{})
//
// Guarantees: nothing is repaired (no trimming, coercion, case folding, second decode); errors are [*envelope.Error],
// name a place and a rule, and never hold a value; a refusal lists its violations in the order of the document:
// within an object first undeclared members, then missing ones, then values. Schemas are immutable and safe for
// concurrent use; a document is never retained.
//
// Free text ([Schema.Untrusted], and the "untrusted" of an answer) is every string, and every key of a map, that its schema
// does not narrow, whoever wrote it, unless its field is tagged redact:"trusted". What narrows is
//
//   - const and enum;
//   - a pattern, where every character of every text that it matches is visible ASCII ("!" to "~") and none is spelt by "%"
//     and two hexadecimal digits; or where it matches at most 256 texts, which are an enumeration. So it is anchored at both
//     ends: one that is open at an end matches any text around what it asks for. Other scripts do not count as narrow, since
//     some write sentences without spaces;
//   - a format by the same rule: date, date-time, time, duration, hostname, ipv4, ipv6 and uuid. Not email and uri: in a local
//     part, and in a path, a query and a fragment, "%20" may stand.
//
// It is enough that one of the schemas that always apply narrows, or all of a choice. What is narrow may still be words, as
// "delete-all" is to ^[a-z-]+$: it is no sentence, and no promise of who wrote it; tag such a field redact:"untrusted".
//
// Not its business: whether a well-formed request makes sense (the tool's Check), and who may make it.
package validate
