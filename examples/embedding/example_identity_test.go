package embedding_test

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/examples/embedding"
	"github.com/toolcontract/toolcontract/tool"
)

type principalKey struct{}

// identified lets a request in whose session is known, and says who it is. It stands before the handler that makes runs:
// the principal comes from the session alone, whatever stands in the request.
func identified(sessions map[string]approval.Principal, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		who, known := sessions[token]
		if !ok || !known {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, who)))
	})
}

// calls serves a role to agents: POST /tools/{name} with the arguments as the body. One run for each session keeps its
// budget over all of its requests.
func calls(d *tool.Dispatcher, role tool.Role) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tools/{name}", func(w http.ResponseWriter, r *http.Request) {
		who, ok := r.Context().Value(principalKey{}).(approval.Principal)
		if !ok {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		run, err := d.Start(tool.RunConfig{
			ID: "session:" + who.Tenant + ":" + who.Subject, Principal: who, Role: role, // the same id goes on with the run
			Budget: tool.Budget{Calls: 100}, Deadline: time.Now().Add(time.Hour),
		})
		if err != nil {
			http.Error(w, "no run", http.StatusServiceUnavailable)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		result := run.Call(r.Context(), envelope.Call{Tool: r.PathValue("name"), Arguments: jsontext.Value(body)})
		w.Header().Set("Content-Type", "application/json")
		_ = json.MarshalWrite(w, result) // a client that is gone needs no answer
	})
	return mux
}

// A host's own middleware says who calls; the run, and with it every handler, gets the principal from there.
func Example_identity() {
	catalog, err := embedding.Catalogue()
	if err != nil {
		panic(err)
	}
	role, err := catalog.Role("reader", "get_order_v1")
	if err != nil {
		panic(err)
	}
	d, err := tool.NewDispatcher(catalog, tool.Config{})
	if err != nil {
		panic(err)
	}
	server := httptest.NewServer(identified(map[string]approval.Principal{
		"token-of-acme":   {Kind: approval.Service, Tenant: "acme", Subject: "support agent"},
		"token-of-zenith": {Kind: approval.Service, Tenant: "zenith", Subject: "support agent"},
	}, calls(d, role)))
	defer server.Close()

	ask := func(token, arguments string) {
		r, err := http.NewRequest(http.MethodPost, server.URL+"/tools/get_order_v1", strings.NewReader(arguments)) //nolint:noctx // an example's
		if err != nil {
			panic(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		defer func() { _ = answer.Body.Close() }()
		var result envelope.Result
		if answer.StatusCode == http.StatusOK {
			err = json.UnmarshalRead(answer.Body, &result)
		}
		fmt.Println(answer.StatusCode, string(result.Data), result.Error, err)
	}
	ask("token-of-acme", `{"order_id":"1001"}`)
	ask("token-of-zenith", `{"order_id":"1001"}`)
	ask("token-of-zenith", `{"order_id":"1001","tenant":"acme"}`)
	ask("guessed", `{"order_id":"1001"}`)

	// Output:
	// 200 {"order_id":"1001","state":"open"} no error <nil>
	// 200  NOT_FOUND at order_id <nil>
	// 200  UNKNOWN_FIELD at tenant <nil>
	// 401  no error <nil>
}
