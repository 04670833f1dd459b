package approvalweb

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"

	"go.uber.org/zap"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/redact"
)

// Handler serves the pages. It is immutable and safe for concurrent use; [New] makes it.
//
// Under Config.Path it serves /, the queue; /p/{id}, a proposal, with /approve and /reject to post to; and, where
// Resolve is set, /operations, the operator's queue, /operations/{id}, and its /resolve.
type Handler struct {
	cfg    Config
	signer signer
	pages  *template.Template
	style  asset
	script asset
	mux    *http.ServeMux
	origin *http.CrossOriginProtection
}

// New checks the configuration and returns the handler. The error joins every fault.
func New(cfg Config) (*Handler, error) {
	digester, err := redact.NewDigester(cfg.Keys...)
	if err != nil {
		err = fmt.Errorf("approvalweb: config: keys: %w", err)
	}
	if err := errors.Join(cfg.check(), err); err != nil {
		return nil, err
	}
	h := &Handler{cfg: cfg.withDefaults(), signer: signer{digester}, mux: http.NewServeMux(), origin: http.NewCrossOriginProtection()}
	h.style, h.script = newAsset("page", ".css", "text/css", styleText), newAsset("page", ".js", "text/javascript", scriptText)
	if h.pages, err = parsePages(); err != nil {
		return nil, fmt.Errorf("approvalweb: templates: %w", err)
	}
	h.routes()
	return h, nil
}

func (h *Handler) routes() {
	p := h.cfg.Path
	for _, a := range []asset{h.style, h.script} {
		h.mux.Handle("GET "+p+"/assets/"+a.name, a)
	}
	h.mux.Handle("GET "+p+"/{$}", h.signedIn(h.queue))
	h.mux.Handle("GET "+p+"/p/{id}", h.signedIn(h.showProposal))
	h.mux.Handle("POST "+p+"/p/{id}/approve", h.signedIn(h.approve))
	h.mux.Handle("POST "+p+"/p/{id}/reject", h.signedIn(h.reject))
	if h.cfg.Resolve != nil {
		h.mux.Handle("GET "+p+"/operations", h.signedIn(h.operations))
		h.mux.Handle("GET "+p+"/operations/{id}", h.signedIn(h.showOperation))
		h.mux.Handle("POST "+p+"/operations/{id}/resolve", h.signedIn(h.resolve))
	}
}

// contentPolicy lets a page load its own style and script, ask its own address for news, send its forms to it, and
// nothing else.
const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", contentPolicy)
	head.Set("Cache-Control", "no-store")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	h.mux.ServeHTTP(w, r)
}

// answer is what a request comes to: a redirection, or a page with its status.
type answer struct {
	to     string // where to go now (303); empty: the page is the answer
	status int
	page   string // a template
	data   any
}

// signedIn lets nobody in whom the host does not know, nor a form that another site sent.
func (h *Handler) signedIn(serve func(r *http.Request, by approval.Principal) answer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by, err := h.cfg.Identify(r)
		switch {
		case err != nil || !by.Valid() || by.Kind == approval.PolicyDecision:
			h.write(w, r, h.refused(approval.Principal{}, notSignedIn))
		case h.origin.Check(r) != nil:
			h.write(w, r, h.refused(by, anotherSite))
		default:
			h.write(w, r, serve(r, by))
		}
	})
}

func (h *Handler) write(w http.ResponseWriter, r *http.Request, a answer) {
	if a.to != "" {
		http.Redirect(w, r, a.to, http.StatusSeeOther)
		return
	}
	var page bytes.Buffer // a page is sent whole or not at all
	if err := h.pages.ExecuteTemplate(&page, a.page, a.data); err != nil {
		h.failed("page", err)
		http.Error(w, "The page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(a.status)
	_, _ = w.Write(page.Bytes()) // a client that is gone needs no answer
}

// failed logs the place and the type of a failure; its text may hold values.
func (h *Handler) failed(place string, err error) {
	h.cfg.Logger.Warn("approvalweb", zap.String("place", place), zap.String("type", fmt.Sprintf("%T", err)))
}

// frame is what every page has around its content.
type frame struct {
	Title                 string
	Home, Operations      string // addresses; Operations is empty where the operator's queue is not served
	StylePath, ScriptPath string
	Who                   approval.Principal // the zero value: nobody is signed in
	Refresh               int64              // milliseconds
}

func (h *Handler) frame(by approval.Principal, title string) frame {
	f := frame{
		Title: title, Home: h.cfg.Path + "/", StylePath: h.cfg.Path + "/assets/" + h.style.name,
		ScriptPath: h.cfg.Path + "/assets/" + h.script.name, Who: by, Refresh: h.cfg.Refresh.Milliseconds(),
	}
	if h.cfg.Resolve != nil {
		f.Operations = h.cfg.Path + "/operations"
	}
	return f
}
