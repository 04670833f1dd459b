// Package crm is the system that the example's tools act on: a small customer service with a database of its own and
// a network between it and whoever calls it.
//
// It knows nothing of this module. It behaves as such services do: records belong to a tenant and carry a version, a
// write names the version that it expects and an idempotency key, and the service can be asked later what a key did.
// It does not replay: the same request sent twice is judged twice, and the second time its version is stale. A client
// that repeats a write whose answer was lost therefore reads "refused" where the truth is "done".
//
// Two switches make the network fail in the ways that matter to a write: [Service.Unplug] (nothing can be sent) and
// [Service.LoseAnswers] (the request arrives and takes effect, its answer does not come back).
package crm
