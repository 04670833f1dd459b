package tool_test

import (
	"context"
	"encoding/json/jsontext"
	"strings"

	"github.com/toolcontract/toolcontract/tool"
)

func replaceOnce(s, from, to string) string { return strings.Replace(s, from, to, 1) }

type stub = func(context.Context, tool.Invocation) (jsontext.Value, error)

func shadowStubs() map[string]stub {
	return map[string]stub{
		previewTool: func(context.Context, tool.Invocation) (jsontext.Value, error) {
			return jsontext.Value(`{"proposal_id":"p_0000","state":"approved","level":"none","summary":"Set the limit","target":{"type":"account","id":"a1"},"expires_at":"2026-08-14T16:25:00Z"}`), nil
		},
		commitTool: func(context.Context, tool.Invocation) (jsontext.Value, error) {
			return jsontext.Value(`{"limit":1}`), nil
		},
	}
}
