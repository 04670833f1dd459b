package mcptool_test

import (
	"context"
	"encoding/json/jsontext"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/mcptool"
)

type priceIn struct {
	SKU string `json:"sku" jsonschema:"pattern=^[A-Z]{2}-[0-9]{3}$"`
}

type priceOut struct {
	SKU    string `json:"sku" jsonschema:"maxLength=6" redact:"trusted"`
	Amount int64  `json:"amount_minor"`
}

// A host serves a catalogue to whoever brings a token that it knows; the SDK's own client lists, calls and is refused.
func ExampleNewHandler() {
	catalog, err := tool.NewCatalog(tool.Tool[priceIn, priceOut]{
		Spec: tool.Spec{Name: "get_price", Version: 1, Description: "Reads the price of an article.", Timeout: 2 * time.Second},
		Handle: func(_ context.Context, _ tool.Caller, in priceIn) (priceOut, error) {
			if in.SKU != "AB-123" {
				return priceOut{}, envelope.New(envelope.NotFound).At("sku")
			}
			return priceOut{in.SKU, 549}, nil
		},
	})
	if err != nil {
		panic(err)
	}
	role, err := catalog.Role("shop", "get_price_v1")
	if err != nil {
		panic(err)
	}
	dispatcher, err := tool.NewDispatcher(catalog, tool.Config{})
	if err != nil {
		panic(err)
	}
	handler, err := mcptool.NewHandler(dispatcher, mcptool.HTTPConfig{
		Config: mcptool.Config{Name: "shop", Version: "1.0.0"},
		Verify: func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			if token != "token-of-grace" {
				return nil, auth.ErrInvalidToken
			}
			return &auth.TokenInfo{UserID: "grace", Expiration: time.Now().Add(time.Hour)}, nil
		},
		Open: func(_ context.Context, token *auth.TokenInfo) (tool.RunConfig, error) {
			return tool.RunConfig{
				Principal: approval.Principal{Kind: approval.Person, Tenant: "acme", Subject: token.UserID}, Role: role,
				Budget: tool.Budget{Calls: 100}, Deadline: token.Expiration,
			}, nil
		},
	})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(handler)
	defer server.Close()

	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: server.URL, HTTPClient: &http.Client{Transport: bearer{"token-of-grace", http.DefaultTransport}},
	}, nil)
	if err != nil {
		panic(err)
	}
	defer func() { _ = session.Close() }()
	for t, err := range session.Tools(ctx, nil) {
		fmt.Println(t.Name, t.Annotations.ReadOnlyHint, err)
	}
	for _, arguments := range []string{`{"sku":"AB-123"}`, `{"sku":"AB-123","sku":"XX-999"}`} {
		answer, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "get_price_v1", Arguments: jsontext.Value(arguments)})
		if err != nil {
			panic(err)
		}
		body, _ := answer.StructuredContent.(map[string]any)
		fmt.Println(answer.IsError, body["data"], body["error"])
	}
	// Output:
	// get_price_v1 true <nil>
	// false map[amount_minor:549 sku:AB-123] <nil>
	// true <nil> map[code:DUPLICATE_MEMBER field:sku message:a member name stands twice in one object; send each name once retryable:false]
}
