package approvalweb

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/internal/said"
	"github.com/toolcontract/toolcontract/redact"
)

// maxForm is the most that a form may have, in bytes: the longest texts, every character escaped.
const maxForm = 64 << 10

// signer makes and checks the tokens of forms: HMAC-SHA-256 over who may send which form about what.
type signer struct{ digester *redact.Digester }

// What forms are for.
const (
	toDecide  = "decide"
	toResolve = "resolve"
)

// subject is what a token is bound to. Shown stands for what was shown of the thing: a form is not believed for another.
func (s signer) subject(by approval.Principal, purpose, id, shown string) ([]byte, error) {
	return redact.Canonical(struct {
		Form    string        `json:"form"`
		Kind    approval.Kind `json:"kind"`
		Tenant  string        `json:"tenant"`
		Subject string        `json:"subject"`
		Purpose string        `json:"purpose"`
		ID      string        `json:"id"`
		Shown   string        `json:"shown"`
	}{"toolcontract/approvalweb/1", by.Kind, by.Tenant, by.Subject, purpose, id, shown})
}

// token returns "", which never verifies, where the subject has no canonical form: a name that is not UTF-8.
func (s signer) token(by approval.Principal, purpose, id, shown string) string {
	b, err := s.subject(by, purpose, id, shown)
	if err != nil {
		return ""
	}
	return s.digester.Sum(by.Tenant, b)
}

func (s signer) verify(token string, by approval.Principal, purpose, id, shown string) bool {
	b, err := s.subject(by, purpose, id, shown)
	return err == nil && s.digester.Verify(by.Tenant, b, token) == nil
}

// sent is a form that arrived.
type sent struct{ values url.Values }

// read takes the form out of a request: one urlencoded form, every field once.
func read(r *http.Request) (sent, problem) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" || r.ParseForm() != nil {
		return sent{}, badForm
	}
	for _, v := range r.PostForm {
		if len(v) != 1 {
			return sent{}, badForm
		}
	}
	return sent{r.PostForm}, none
}

// field returns a field, empty where it was not sent.
func (s sent) field(name string) string { return s.values.Get(name) }

// text returns a field that a person wrote: line ends as LF, outer spaces gone.
func (s sent) text(name string) string {
	text := strings.TrimSpace(strings.ReplaceAll(s.field(name), "\r\n", "\n"))
	if !said.Something(text) {
		return ""
	}
	return text
}

// again returns what a person wrote, for the page that says what to mend.
func (s sent) again(name string) string { return strings.ToValidUTF8(s.text(name), "\ufffd") }

// textual reports whether s is text of at most n characters.
func textual(s string, n int) bool {
	return utf8.ValidString(s) && !strings.ContainsRune(s, 0) && utf8.RuneCountInString(s) <= n
}
