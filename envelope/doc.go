// Package envelope owns what crosses the boundary between a model and its tools: the call that comes in,
// the result that goes out, the typed error, the table of codes, the spelling of field paths, and what a
// provider's answer proves about a write.
//
// A result is either data or an error, and an error names a code, a place and never a value:
//
//	{"ok":true,"tool":"get_customer_v1","request_id":"req_01J…","data":{}}
//	{"ok":false,"tool":"get_customer_v1","request_id":"req_01J…","error":{"code":"UNKNOWN_FIELD","message":"…","retryable":false,"field":"id"}}
//
// Guarantees: an [Error] is serialised without its cause; its messages come from declarations, not from callers;
// values are immutable by convention ([Error.At], [Error.After] and [Error.WithCause] copy).
//
// Not its business: checking documents (package validate) and deciding what is allowed (package tool).
package envelope
