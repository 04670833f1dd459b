package main

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"net/http"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
)

// messages speaks Anthropic's Messages API.
type messages struct {
	endpoint endpoint
	tools    *export.Export
}

func newMessages(e endpoint, tools []tool.Published) (model, error) {
	x, err := export.Anthropic(tools)
	return messages{e, x}, err
}

const (
	anthropicVersion = "2023-06-01"
	maxTokens        = 4096
)

type messagesRequest struct {
	Model     string           `json:"model"`
	MaxTokens int              `json:"max_tokens"`
	System    string           `json:"system"`
	Messages  []jsontext.Value `json:"messages"`
	Tools     jsontext.Value   `json:"tools"`
}

type messagesAnswer struct {
	Content    jsontext.Value `json:"content"`
	StopReason string         `json:"stop_reason"`
	Usage      struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

func (m messages) begin(text string) (jsontext.Value, error) {
	return json.Marshal(chatMessage{"user", text})
}

func (m messages) next(ctx context.Context, conversation []jsontext.Value) (turn, error) {
	doc, err := m.endpoint.post(ctx, "/messages", messagesRequest{m.endpoint.model, maxTokens, instructions, conversation, m.tools.Tools()},
		func(h http.Header, key string) { h.Set("X-Api-Key", key); h.Set("Anthropic-Version", anthropicVersion) })
	if err != nil {
		return turn{}, err
	}
	var a messagesAnswer
	if err := lenient(doc, &a); err != nil {
		return turn{}, err
	}
	switch a.StopReason {
	case "max_tokens", "model_context_window_exceeded":
		return turn{}, errCutOff
	case "refusal":
		return turn{}, errRefused
	}
	calls, err := m.tools.Calls(doc)
	if err != nil {
		return turn{}, err
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := lenient(a.Content, &blocks); err != nil {
		return turn{}, err
	}
	var text strings.Builder
	for _, b := range blocks {
		if b.Type == "text" {
			text.WriteString(b.Text)
		}
	}
	// The next request holds the content as the model wrote it, and nothing else of the answer.
	message := jsontext.Value(`{"role":"assistant","content":` + string(a.Content) + `}`)
	return turn{message, calls, text.String(), a.Usage.Input + a.Usage.Output}, nil
}

func (m messages) answers(calls []envelope.Call, results []envelope.Result) ([]jsontext.Value, error) {
	return m.tools.Answers(calls, results)
}
