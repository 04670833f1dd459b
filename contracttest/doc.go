// Package contracttest checks a tool adapter's boundary from a _test.go file: every bound that its published schemas
// declare has a refusal that ran, every write is tried with each fault that a network makes, and effects are counted
// where they happen. It imports testing, so nothing but tests imports it.
//
//	func TestContract(t *testing.T) {
//		catalog, err := tool.NewCatalog(getCustomer, refund)
//		require.NoError(t, err)
//		contracttest.Run(t, func(tb testing.TB) *contracttest.Fixture { return contracttest.NewFixture(tb, catalog) })
//	}
//
// A write needs its provider: a fake one, whose network goes through an [Upstream], and which counts its effects there.
// Over HTTP, with a server that the test owns and a client whose transport can be changed:
//
//	const commit = "commit_refund_v1"
//	up := contracttest.NewUpstream()
//	server.Reset(func() { up.Count(commit) })                // empty again; called once for each real change
//	client.Transport = up.Transport(http.DefaultTransport, func(r *http.Request) string {
//		switch {
//		case r.Method == http.MethodPost && r.URL.Path == "/refunds":
//			return commit                                // meets the faults of the commit
//		case strings.HasPrefix(r.URL.Path, "/refunds/by-key/"):
//			return contracttest.StatusOf(commit)         // meets those of the question what became of it
//		}
//		return ""                                            // reads: no faults
//	})
//	f := contracttest.NewFixture(tb, catalog)
//	f.Upstream = up
//	f.Touch = func(_ context.Context, t approval.Target) error { return server.ChangeBehindTheBack(t.ID) }
//	return f
//
// Every effect is counted once, under the commit's wire name. A request that does not come through meets no fault, and
// fails the case by name: StatusOf must be mapped where the provider can be asked. Touch changes the target as somebody
// else would, so that its version is another; it is also called between a commit's last look and the request's arrival.
//
// A case is a document and what must come of it. Cases are made from the schema alone, by an operator for each keyword;
// their labels are decided by another validator on the final bytes, and where the two differ the generator is at fault
// and says so. A refused case asserts the code, the field and the rule, that no handler ran, and that the value stands in
// no answer, log, audit event, span or metric. An accepted case asserts that the handler ran
// with what was sent, and did not fail on it.
//
// Names of cases are stable, and the line that a failure shows runs it alone.
//
// Not here: load, and what an adapter's own code does with a valid value; that is what its other tests are for.
package contracttest
