package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

// serveHTTP serves the protocol at /mcp and the pages at /approvals/ and /globex/approvals/, until ctx ends.
func serveHTTP(ctx context.Context, dir, address string, notes io.Writer) (err error) {
	listener, err := listen(ctx, address)
	if err != nil {
		return err
	}
	h, err := newHost(ctx, dir)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	own := "http://" + listener.Addr().String()
	t := newTokens()
	routes, err := h.routes(ctx, own, t)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintf(notes, "mcpserver: MCP at %s/mcp, people decide at %s/approvals/, those of globex at %s/globex/approvals/\n", own, own, own)
	for _, tenant := range []string{acme, globex} {
		fmt.Fprintf(notes, "mcpserver: the agent of %s brings Authorization: Bearer %s\n", tenant, t.of(tenant))
	}

	server := &http.Server{Handler: routes, ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if server.Shutdown(closing) != nil { // a stream of a client that stays
		return server.Close()
	}
	return nil
}

// listen refuses every address that others could reach: the page of this program asks nobody for a password.
func listen(ctx context.Context, address string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !at.IP.IsLoopback() {
		return nil, errors.New("the address must be a loopback address, such as 127.0.0.1:8750")
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", at.String())
}

func (h *host) routes(ctx context.Context, own string, t tokens) (http.Handler, error) {
	page, err := h.page(acme, "/approvals")
	if err != nil {
		return nil, err
	}
	globexs, err := h.page(globex, "/globex/approvals")
	if err != nil {
		return nil, err
	}
	cfg := h.config(own)
	cfg.Page = func(proposal string) string {
		if _, err := h.approvals.Find(ctx, globex, proposal); err == nil {
			return own + globexs.ProposalPath(proposal)
		}
		return own + page.ProposalPath(proposal)
	}
	handler, err := mcptool.NewHandler(h.dispatcher, mcptool.HTTPConfig{Config: cfg, Verify: t.verify, Open: h.open})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	mux.Handle("/approvals/", page)
	mux.Handle("/globex/approvals/", globexs)
	return mux, nil
}

// open says which run the holder of a token has. The tenant is what the token proves, never what a call says.
func (h *host) open(_ context.Context, token *auth.TokenInfo) (tool.RunConfig, error) {
	rc := h.run(token.UserID)
	rc.ID = "desk-" + token.UserID // a new token goes on with what the last one proposed
	return rc, nil
}

// tokens are made when the program starts and end with it. A real host verifies what its authorization server signed: issuer,
// audience, expiration and scope.
type tokens map[string]string // the tenant that each proves

func newTokens() tokens { return tokens{rand.Text(): acme, rand.Text(): globex} }

func (t tokens) of(tenant string) string {
	for token, proves := range t {
		if proves == tenant {
			return token
		}
	}
	return ""
}

func (t tokens) verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	tenant, ok := t[token]
	if !ok {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: tenant, Expiration: time.Now().Add(time.Hour)}, nil
}

// lead is whoever opens the tenant's page: this is a demonstration, with nothing to protect. A real host has one page, and asks its
// own session who the person is.
func lead(tenant string) func(*http.Request) (approval.Principal, error) {
	return func(*http.Request) (approval.Principal, error) {
		return approval.Principal{
			Kind: approval.Person, Tenant: tenant, Subject: "lea.lindt", Roles: []string{"support_lead", approval.RoleOperator},
		}, nil
	}
}
