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
// Not its business: whether a well-formed request makes sense (the tool's Check), and who may make it.
package validate
