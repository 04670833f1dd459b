package mcptool

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var errHeaders = &fault{mcp.CodeHeaderMismatch, "the headers of the request do not match its message"}

// heldRefusal holds back what the SDK refuses with an error of JSON-RPC over headers that do not match: it quotes headers and message.
type heldRefusal struct {
	http.ResponseWriter
	status int
	body   []byte
}

// Unwrap lets [http.ResponseController] reach the connection.
func (h *heldRefusal) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (h *heldRefusal) WriteHeader(status int) {
	if status == http.StatusBadRequest && strings.HasPrefix(h.Header().Get("Content-Type"), "application/json") {
		h.status = status
		return
	}
	h.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (h *heldRefusal) Write(p []byte) (int, error) {
	if h.status == 0 {
		return h.ResponseWriter.Write(p)
	}
	h.body = append(h.body, p...)
	return len(p), nil
}

// end sends what was held back: over headers in words of our own, any other as it is.
func (h *heldRefusal) end() {
	if h.status == 0 {
		return
	}
	var said struct {
		ID    jsontext.Value `json:"id"`
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(h.body, &said); err == nil && said.Error.Code == errHeaders.code {
		h.body = refusal(said.ID, errHeaders)
	}
	h.ResponseWriter.WriteHeader(h.status)
	_, _ = h.ResponseWriter.Write(h.body) // a client that is gone needs no answer
}
