// Package upstream asks other systems and believes nothing of their answers before it is checked.
//
// A [Client] asks one operation of one upstream, over HTTP or by a command that runs here or, with package sshcmd,
// elsewhere. An [Operation] says what the answer must be: a struct that every response is held to, closed or by
// selecting the declared fields of a vendor's broad object, bound to what was asked, and fresh.
//
//	status, err := upstream.NewHTTP(upstream.HTTP[statusQuery, reviewStatus]{
//		Operation: upstream.Operation[statusQuery, reviewStatus]{
//			Name: "reviews.status",
//			Same: func(asked statusQuery, got reviewStatus) error {
//				return validate.Same("change_id", asked.ChangeID, got.ChangeID)
//			},
//		},
//		Origin: "https://reviews.example.com",
//		Request: func(q statusQuery) (upstream.Request, error) {
//			return upstream.Request{Path: []string{"changes", q.ChangeID, "status"}}, nil
//		},
//		Credentials: vault,
//	})
//	…
//	got, err := status.Ask(ctx, upstream.Caller{Tenant: by.Principal.Tenant, Tool: by.Tool, RequestID: by.RequestID}, q)
//
// What decides, in this order: a command's exit status; the HTTP status, by which alone an error is told (error bodies
// are never parsed); a transport that ended early; media type and content encoding; size, UTF-8, one JSON text without
// duplicate names, depth; the declared fields in their order, then undeclared names; the binding to the question,
// freshness, and the operation's own check. Nothing is stripped, sniffed, salvaged, coerced or parsed twice, and one
// bad item refuses the page.
//
// Guarantees: an error holds no text of the upstream, in no verb of fmt and nowhere in its chain: a code, a declared
// field, a rule, a status. The response itself goes to the operators' quarantine. Credentials are asked for after the
// request is validated and put in here; neither the adapter's functions, nor what they return, nor any error ever holds
// them, and an answer that carries one back is refused. Bytes are counted while they are read. Before the first byte of
// a request may leave, envelope.Sent is called for the claim that the context belongs to; [Unsent] says that nothing
// left.
//
// Not its business: trying again (the tool's Retry and the ledger decide), whether the caller may ask (the tool's
// Check), and what a well-formed answer means.
package upstream
