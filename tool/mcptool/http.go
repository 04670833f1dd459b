package mcptool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolcontract/toolcontract/tool"
)

// HTTPConfig is what a server over HTTP works with. Nothing in it is to be changed once it is in use.
type HTTPConfig struct {
	Config
	// Verify says what a bearer token proves, for this server as its audience. It must be set. An error that is
	// auth.ErrInvalidToken is answered with 401, any other with 500, and none with its text.
	Verify auth.TokenVerifier
	// Bearer is the SDK's: scopes, the address of the resource's metadata, clock skew. Nil: a token needs an expiration, and no scope.
	Bearer *auth.RequireBearerTokenOptions
	// Open returns the run of whoever holds a verified token: principal, role, budget and deadline. It must be set, is asked for each
	// request and must answer the same for the same token. An empty ID makes one run for each token, with one budget in every
	// session and connection; an ID of the host's own (of its login session, say) outlives a token that is renewed. A proposal
	// can be committed only in the run that made it. An error is answered with 403.
	Open func(ctx context.Context, token *auth.TokenInfo) (tool.RunConfig, error)
	// Origins are the web origins whose pages may call, as "https://app.example". Nil: none but the server's own.
	Origins []string
	// SessionTimeout ends a session of the protocols before 2026-07-28 that was not used for so long. Zero: 30 minutes.
	SessionTimeout time.Duration
}

const defaultSessionTimeout = 30 * time.Minute

// Handler serves the Model Context Protocol over streamable HTTP. [NewHandler] makes it; it is safe for concurrent use.
type Handler struct {
	cfg        HTTPConfig
	dispatcher *tool.Dispatcher
	chain      http.Handler

	mu      sync.Mutex
	servers map[string]*mcp.Server // by the names of a role's tools
}

// NewHandler checks the configuration and returns the handler. The error joins every fault.
//
// A request of the protocol 2026-07-28 stands for itself: any process that shares the stores may answer it. One of an earlier protocol
// belongs to a session, which this process keeps.
func NewHandler(d *tool.Dispatcher, cfg HTTPConfig) (*Handler, error) {
	errs := []error{cfg.check()}
	bad := func(what string) { errs = append(errs, errors.New("mcptool: config: "+what)) }
	if d == nil {
		bad("dispatcher: must be set")
	}
	if cfg.Verify == nil {
		bad("verify: must be set")
	}
	if cfg.Open == nil {
		bad("open: must be set")
	}
	if cfg.SessionTimeout < 0 {
		bad("session_timeout: must not be negative")
	}
	origins := http.NewCrossOriginProtection()
	for _, o := range cfg.Origins {
		if err := origins.AddTrustedOrigin(o); err != nil {
			bad("origins: each must be scheme, host and port alone")
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	cfg.Config = cfg.withDefaults()
	if cfg.SessionTimeout == 0 {
		cfg.SessionTimeout = defaultSessionTimeout
	}
	h := &Handler{cfg: cfg, dispatcher: d, servers: map[string]*mcp.Server{}}
	h.chain = origins.Handler(auth.RequireBearerToken(h.verify, cfg.Bearer)(h.opened(h.framed(h.eras()))))
	return h, nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.chain.ServeHTTP(w, r) }

// eras serves the newest protocol without sessions, which is the only way that the SDK has it, and the earlier ones with them.
func (h *Handler) eras() http.Handler {
	options := mcp.StreamableHTTPOptions{MaxRequestBodyBytes: int64(h.cfg.MaxMessage)}
	newest, earlier := options, options
	newest.Stateless = true
	earlier.SessionTimeout = h.cfg.SessionTimeout
	now, before := mcp.NewStreamableHTTPHandler(h.server, &newest), mcp.NewStreamableHTTPHandler(h.server, &earlier)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= roundTrips {
			now.ServeHTTP(w, r)
			return
		}
		before.ServeHTTP(w, r)
	})
}

// Names of what this package puts beside a token's own facts, for the length of a request.
const (
	extraSent    = "github.com/toolcontract/toolcontract/tool/mcptool: sent"
	extraRequest = "github.com/toolcontract/toolcontract/tool/mcptool: request"
)

var (
	errNoToken   = fmt.Errorf("the token is not valid for this server: %w", auth.ErrInvalidToken)
	errNoVerdict = errors.New("the token could not be checked")
)

// verify is the host's, without its words: the SDK would send them to the client.
func (h *Handler) verify(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
	info, err := contained(func() (*auth.TokenInfo, error) { return h.cfg.Verify(ctx, token, r) })
	if err != nil {
		if errors.Is(err, auth.ErrInvalidToken) {
			return nil, errNoToken
		}
		h.cfg.failed("verify", err)
		return nil, errNoVerdict
	}
	if info == nil {
		h.cfg.failed("verify", nil)
		return nil, errNoVerdict
	}
	own := *info // the host may keep its own
	own.Extra = map[string]any{extraSent: token}
	for name, v := range info.Extra {
		own.Extra[name] = v
	}
	return &own, nil
}

// opened lets in whoever has a run, and leaves the run where the SDK's requests find it: with the token of that very request.
func (h *Handler) opened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info := auth.TokenInfoFromContext(r.Context())
		token, _ := info.Extra[extraSent].(string)
		delete(info.Extra, extraSent)
		run, err := h.start(r.Context(), info, token)
		if err != nil {
			h.cfg.failed("open", err)
			http.Error(w, "this token has no run here", http.StatusForbidden)
			return
		}
		info.Extra[extraRequest] = &request{run: run, gone: r.Context().Done()}
		next.ServeHTTP(w, r)
	})
}

func (h *Handler) start(ctx context.Context, info *auth.TokenInfo, token string) (*tool.Run, error) {
	rc, err := contained(func() (tool.RunConfig, error) { return h.cfg.Open(ctx, info) })
	if err != nil {
		return nil, err
	}
	if rc.ID == "" {
		sum := sha256.Sum256([]byte("toolcontract/mcp-run/1\x00" + token))
		rc.ID = "mcp_" + hex.EncodeToString(sum[:16])
	}
	// A session of the SDK is its owner's alone: the person's, whatever the host told it of users.
	info.UserID = owner(rc)
	return h.dispatcher.Start(rc)
}

func owner(rc tool.RunConfig) string {
	p := rc.Principal
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", p.Kind, p.Tenant, p.Subject))
	return hex.EncodeToString(sum[:])
}

// framed reads the message of a request strictly before the SDK does.
func (h *Handler) framed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(h.cfg.MaxMessage)))
		if err != nil {
			status := http.StatusBadRequest
			if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
				status = http.StatusRequestEntityTooLarge
			}
			refuse(w, status, nil, errTooLarge)
			return
		}
		version := r.Header.Get("Mcp-Protocol-Version")
		_, id, err := checkFrame(body, version == "" || hasBatches(version))
		switch {
		case errors.Is(err, errNotice):
			w.WriteHeader(http.StatusAccepted)
			return
		case err != nil:
			refuse(w, refusalStatus(err, version), id, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		held := &heldRefusal{ResponseWriter: w}
		next.ServeHTTP(held, r)
		held.end()
	})
}

// refusalStatus is 404 for a method that the server does not have in the newest protocol, as its transport says, and 200 in the
// earlier ones, whose clients read an answer of JSON-RPC only from that.
func refusalStatus(err error, version string) int {
	switch {
	case !errors.Is(err, errMethod):
		return http.StatusBadRequest
	case version >= roundTrips:
		return http.StatusNotFound
	}
	return http.StatusOK
}

func refuse(w http.ResponseWriter, status int, id jsontext.Value, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(refusal(id, err)) //nolint:gosec // JSON, and the id was checked; a client that is gone needs no answer
}

// server returns the server of the role that the request's run has; nil, which the SDK answers with 400, where there is none.
func (h *Handler) server(r *http.Request) *mcp.Server {
	from, err := fromToken(auth.TokenInfoFromContext(r.Context()))
	if err != nil {
		return nil
	}
	key := strings.Join(from.run.Role().Tools(), " ")
	h.mu.Lock()
	defer h.mu.Unlock()
	if server := h.servers[key]; server != nil {
		return server
	}
	server, err := newServer(h.cfg.Config, from.run.Tools(), func(extra *mcp.RequestExtra) (*request, error) {
		if extra == nil {
			return nil, errNoRequest
		}
		return fromToken(extra.TokenInfo)
	})
	if err != nil {
		h.cfg.failed("server", err)
		return nil
	}
	h.servers[key] = server
	return server
}

var errNoRequest = errors.New("mcptool: the request carries no run")

func fromToken(info *auth.TokenInfo) (*request, error) {
	if info == nil {
		return nil, errNoRequest
	}
	from, ok := info.Extra[extraRequest].(*request)
	if !ok {
		return nil, errNoRequest
	}
	return from, nil
}
