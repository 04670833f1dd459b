package upstream

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json/jsontext"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact/audit"
)

// keepTime is how long the quarantine may take after the caller has gone.
const keepTime = 5 * time.Second

// keep gives what arrived to the operators. What says nothing but "not there" or "later" is not kept, nor is silence.
func (c *Client[Q, A]) keep(ctx context.Context, by Caller, r reply, f *fault) error {
	host := c.op.Host
	if host.Quarantine == nil || f.code == envelope.NotFound || f.code == envelope.RateLimited || f.unsent && f.hidden == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	item := audit.Item{
		RequestID: by.RequestID, Tenant: by.Tenant, Tool: by.Tool, Owner: c.op.Owner, Source: c.op.Name, AdapterVersion: c.op.Version,
		Rule: f.rule, Path: f.field, Status: r.status, For: host.Retention,
	}
	var lost error
	if len(r.stderr) > 0 { // first, so that the response is the latest
		beside := item
		beside.Rule, beside.Raw, beside.Digest = "stderr", r.stderr, c.digest(by, r.stderr)
		lost = host.Quarantine.Keep(ctx, beside)
	}
	item.Raw, item.Cause = r.body, f.hidden
	if item.Cause == nil {
		item.Cause = f.cause
	}
	if len(r.body) > 0 {
		item.Digest = c.digest(by, r.body)
	}
	return errors.Join(lost, host.Quarantine.Keep(ctx, item))
}

func (c *Client[Q, A]) digest(by Caller, raw []byte) string {
	return c.op.Host.Digester.Sum(by.Tenant, raw)
}

// Lengths of a credential's words: from shortest on they are searched for in whatever an answer says, from leastWhole on
// they must not be the whole of a string; "user" stands in many answers.
const (
	shortest   = 8
	leastWhole = 4
)

// carries reports whether a document that would pass holds a credential: whole, without its scheme ("Bearer"), or what
// Basic makes of a name and a password (RFC 7617), as bytes or in what its strings say.
func carries(doc []byte, secrets []Credential) bool {
	words := make([]string, 0, 3*len(secrets))
	for _, s := range secrets {
		words = append(words, wordsOf(s.Value.Reveal())...)
	}
	for _, w := range words {
		if len(w) >= shortest && bytes.Contains(doc, []byte(w)) {
			return true
		}
	}
	if len(words) == 0 {
		return false
	}
	for dec := jsontext.NewDecoder(bytes.NewReader(doc)); ; {
		token, err := dec.ReadToken()
		if err != nil { // the end: the document has passed
			return false
		}
		if token.Kind() == '"' && slices.ContainsFunc(words, func(w string) bool { return says(token.String(), w) }) {
			return true
		}
	}
}

func says(text, word string) bool {
	if len(word) >= shortest {
		return strings.Contains(text, word)
	}
	return len(word) >= leastWhole && text == word
}

func wordsOf(value string) []string {
	bare := value[strings.LastIndexByte(value, ' ')+1:]
	words := []string{value, bare}
	if pair, err := base64.StdEncoding.DecodeString(bare); err == nil {
		if _, password, ok := strings.Cut(string(pair), ":"); ok {
			words = append(words, string(pair), password)
		}
	}
	return words
}
