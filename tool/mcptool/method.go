package mcptool

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	methodInitialize = "initialize"
	methodCall       = "tools/call"
)

// requestForm returns whether the server has the method, and whether the SDK can decode its parameters: what it cannot, it quotes to
// the client.
func requestForm(method string) (form func(jsontext.Value) bool, has bool) {
	switch method {
	case methodInitialize:
		return decodes[mcp.InitializeParams], true
	case "ping":
		return decodes[mcp.PingParams], true
	case "server/discover":
		return decodes[mcp.DiscoverParams], true
	case "tools/list":
		return decodes[mcp.ListToolsParams], true
	case "subscriptions/listen":
		return decodes[mcp.SubscriptionsListenParams], true
	case methodCall:
		return nil, true // callForm, since the arguments are not to be decoded
	}
	return nil, false
}

func notificationForm(method string) (form func(jsontext.Value) bool, has bool) {
	switch method {
	case "notifications/initialized", "notifications/roots/list_changed":
		return decodes[mcp.InitializedParams], true // both have nothing of their own
	case "notifications/cancelled":
		return decodes[mcp.CancelledParams], true
	case "notifications/progress":
		return decodes[mcp.ProgressNotificationParams], true
	}
	return nil, false
}

// decodes reports whether the SDK can decode v as a T.
func decodes[T any](v jsontext.Value) bool { return json.Unmarshal(v, new(T)) == nil }

// checkParams checks what stands beside the method. The params are nil where the message has none.
func (m *message) checkParams(params jsontext.Value) error {
	if params != nil && params.Kind() != '{' {
		if m.method == methodCall {
			return errCallParams
		}
		return errParamsForm
	}
	asked, isRequest := requestForm(m.method)
	form, has := notificationForm(m.method)
	switch {
	case m.id != nil && !isRequest:
		return errMethod
	case m.id == nil && isRequest:
		return errNoID
	case m.id == nil && !has:
		return errNotice
	case m.id != nil:
		form = asked
	}
	fields := map[string]jsontext.Value{}
	if params != nil {
		var err error
		if fields, err = members(params); err != nil {
			return err
		}
	}
	for name, v := range fields {
		if name == "arguments" && m.method == methodCall {
			continue
		}
		if err := strict(v); err != nil {
			return err
		}
	}
	if m.method == methodCall {
		if !callForm(fields) {
			return errCallParams
		}
		return nil
	}
	if !metaForm(fields) || (params != nil && !form(params)) {
		return errParams
	}
	switch m.method {
	case methodInitialize:
		if params == nil {
			return errParams
		}
		m.opens = text(fields["protocolVersion"])
	case "subscriptions/listen":
		if fields["notifications"].Kind() != '{' {
			return errParams
		}
	case "notifications/cancelled":
		if id, has := fields["requestId"]; has {
			if _, err := idKey(id); err != nil {
				return errCancelled
			}
		}
	}
	return nil
}

// versionForm is that of a version of the protocol, which the SDK repeats to a client whose version it does not know.
var versionForm = regexp.MustCompile(`^"[0-9]{4}-[0-9]{2}-[0-9]{2}"$`)

// metaForm reports whether what a request says of itself has the protocol's form.
func metaForm(fields map[string]jsontext.Value) bool {
	meta, has := fields["_meta"]
	if !has {
		return true
	}
	said, err := members(meta)
	if err != nil {
		return false
	}
	version, has := said[mcp.MetaKeyProtocolVersion]
	return !has || versionForm.Match(version)
}

// callForm reports whether the SDK can decode what stands beside a call's arguments.
func callForm(fields map[string]jsontext.Value) bool {
	name, named := fields["name"]
	state, hasState := fields["requestState"]
	if !named || name.Kind() != '"' || !metaForm(fields) || !kindIs('"', state, hasState) {
		return false
	}
	responses, has := fields["inputResponses"]
	if !has {
		return true
	}
	answers, err := members(responses)
	if err != nil {
		return false
	}
	for _, answer := range answers {
		a, err := members(answer)
		content, hasContent := a["content"]
		meta, hasMeta := a["_meta"]
		if err != nil || a["action"].Kind() != '"' || !kindIs('{', content, hasContent) || !kindIs('{', meta, hasMeta) {
			return false
		}
	}
	return true
}

// kindIs reports whether a member that is there has the kind.
func kindIs(kind jsontext.Kind, v jsontext.Value, has bool) bool { return !has || v.Kind() == kind }
