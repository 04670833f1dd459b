package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/tool"
)

const commitTransfer = "commit_transfer_v1"

// TestContract tries the transfer with every fault that the network to the bank can make.
func TestContract(t *testing.T) {
	b, err := openBank(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.server.Close()) })
	line := &line{}
	catalogue, err := tool.NewCatalog(transferTool(bankClient{b.address, &http.Client{Transport: line}}))
	require.NoError(t, err)
	contracttest.Run(t, func(tb testing.TB) *contracttest.Fixture {
		tb.Helper()
		f := contracttest.NewFixture(tb, catalogue)
		f.Upstream = contracttest.NewUpstream()
		line.to = f.Upstream.Transport(counted{b, f.Upstream}, func(*http.Request) string { return commitTransfer })
		return f
	})
}

// line is the client's transport, another for each case.
type line struct{ to http.RoundTripper }

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) { return l.to.RoundTrip(r) }

// counted tells of what the bank did.
type counted struct {
	bank     *bank
	upstream *contracttest.Upstream
}

func (c counted) RoundTrip(r *http.Request) (*http.Response, error) {
	before := c.bank.effects()
	resp, err := http.DefaultTransport.RoundTrip(r)
	for range c.bank.effects() - before {
		c.upstream.Count(commitTransfer)
	}
	return resp, err
}

func (b *bank) effects() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.receipts)
}
