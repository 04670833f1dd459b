// Package mcptool serves a run's role over the Model Context Protocol, with the official Go SDK: on standard input and output,
// and over streamable HTTP, in the protocol 2026-07-28 and the earlier ones that the SDK speaks.
//
// One run over standard input and output:
//
//	signal.Ignore(syscall.SIGPIPE) // a client that is killed does not end what was begun for it
//	err := mcptool.ServeStdio(ctx, run, mcptool.Config{Name: "support", Version: "1.4.0"}, os.Stdin, os.Stdout)
//
// Many people over HTTP, each with a run of their own:
//
//	handler, err := mcptool.NewHandler(dispatcher, mcptool.HTTPConfig{
//		Config: mcptool.Config{Name: "support", Version: "1.4.0", Page: address},
//		Verify: verify, // an auth.TokenVerifier: what a bearer token proves
//		Open:   open,   // the principal, role and budget that its holder has
//	})
//	mux.Handle("/mcp", handler)
//
// # What a client sees
//
// The role's tools and no others, by name, with the titles, descriptions and input schemas of the catalogue. A tool's output
// schema is that of the whole envelope, and its structured content is the envelope: a refusal conforms to the published schema as
// a success does, and what is said of untrusted text arrives. The text content is the same JSON.
//
//	class         readOnlyHint  destructiveHint  idempotentHint
//	read          true          false            true
//	preview       false         false            true            it stores a proposal; the same again joins it
//	reversible    false         false            true            a second commit replays the first
//	irreversible  false         true             true
//
// openWorldHint is true unless the definition says ClosedWorld. A refusal of the boundary, the policy or the tool is a result with
// isError; a name that the role does not have is a protocol error, -32602, with the envelope as its data.
//
// # Guarantees
//
//   - The bytes of the arguments reach the boundary as they were sent; nothing decodes them on the way. The message around them is
//     read strictly: a member that stands twice in it is refused.
//   - Who calls is what the bearer token of that very request proves, whatever session it names. A session is its owner's alone.
//   - Each token has one run with one budget, in every session and connection, unless Open names the run: then that one.
//   - A write is decided on a page of the host's own (Page), never by the client: where the client can open an address for its user
//     it is asked to, and its answer, "accept" too, changes nothing. Every other client reads the address in the answer.
//   - A cancelled call, and a call whose connection is gone, ends for the caller. A commit that was claimed goes on and is
//     recorded; the next session of the same person reads what became of it with get_operation_v1.
//   - No argument is repeated to a client, and no word of the verifier, of Open or of a panic.
//
// # Non-goals
//
// Prompts, resources, sampling and completion are not served, and no event is kept for a connection that broke: the operation is.
// Authorization servers and their metadata are the host's (auth.ProtectedResourceMetadataHandler of the SDK).
package mcptool
