package approvalweb

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"strconv"
)

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/page.css
var styleText string

//go:embed assets/page.js
var scriptText string

func parsePages() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{"marks": marks, "datamarks": dataMarks, "oneline": oneLine, "when": when}).ParseFS(templates, "templates/*.html")
}

// asset is a file that pages load. Its name has the hash of its text, so that it may be kept for ever.
type asset struct {
	name, kind, text string
}

func newAsset(name, extension, kind, text string) asset {
	sum := sha256.Sum256([]byte(text))
	return asset{name + "-" + hex.EncodeToString(sum[:6]) + extension, kind, text}
}

func (a asset) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", a.kind+"; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(a.text)))
	_, _ = w.Write([]byte(a.text)) // a client that is gone needs no answer
}
