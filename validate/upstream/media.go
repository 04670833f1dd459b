package upstream

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
)

// jsonType reports whether the header declares JSON: application/json or application/*+json (RFC 6839). JSON has no
// charset (RFC 8259 section 11); parameters are not looked at.
func jsonType(header http.Header) bool {
	values := header.Values("Content-Type")
	if len(values) != 1 {
		return false
	}
	media, _, _ := strings.Cut(values[0], ";")
	subtype, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(media)), "application/")
	if !ok || strings.ContainsAny(subtype, " \t,/") {
		return false
	}
	return subtype == "json" || len(subtype) > len("+json") && strings.HasSuffix(subtype, "+json")
}

// decoded undoes the Content-Encoding, to at most limit bytes.
func decoded(header http.Header, body []byte, limit int) ([]byte, *fault) {
	var r io.Reader
	var err error
	source := bytes.NewReader(body)
	switch coding := strings.ToLower(strings.TrimSpace(strings.Join(header.Values("Content-Encoding"), ","))); coding {
	case "", "identity":
		return body, nil
	case "gzip", "x-gzip": // RFC 9110 section 8.4.1.3
		r, err = gzip.NewReader(source)
	case "deflate": // the zlib format: section 8.4.1.2
		r, err = zlib.NewReader(source)
	default:
		return nil, refused(envelope.InvalidResponse, "", "encoding")
	}
	if err != nil {
		return nil, &fault{code: envelope.InvalidResponse, rule: "encoding", hidden: err}
	}
	plain, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	switch {
	case len(plain) > limit:
		return nil, refused(envelope.InvalidResponse, "", "limit")
	case err != nil:
		return nil, &fault{code: envelope.InvalidResponse, rule: "encoding", hidden: err}
	case source.Len() > 0: // behind the end of zlib's data; gzip's reader looks itself
		return nil, refused(envelope.InvalidResponse, "", "encoding")
	}
	return plain, nil
}
