package upstream

import (
	"bytes"
	"context"
	"encoding/json/jsontext"
	"errors"
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

// shortest is the length under which a credential's words are not searched for: "user" stands in many answers.
const shortest = 8

// carries reports whether a document that would pass holds a credential, whole or without its scheme ("Bearer").
func carries(doc []byte, secrets []Credential) bool {
	for _, s := range secrets {
		value := s.Value.Reveal()
		for _, text := range []string{value, value[strings.LastIndexByte(value, ' ')+1:]} {
			if len(text) < shortest {
				continue
			}
			quoted, err := jsontext.AppendQuote(nil, text)
			if bytes.Contains(doc, []byte(text)) || err == nil && bytes.Contains(doc, quoted[1:len(quoted)-1]) {
				return true
			}
		}
	}
	return false
}
