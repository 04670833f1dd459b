package main

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"net/http"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/export"
)

// chat speaks OpenAI's Chat Completions, the form that most endpoints understand.
type chat struct {
	endpoint endpoint
	tools    *export.Export
}

func newChat(e endpoint, tools []tool.Published) (model, error) {
	x, err := export.OpenAI(tools)
	return chat{e, x}, err
}

type chatRequest struct {
	Model    string           `json:"model"`
	Messages []jsontext.Value `json:"messages"`
	Tools    jsontext.Value   `json:"tools"`
}

type chatAnswer struct {
	Choices []struct {
		Message      jsontext.Value `json:"message"`
		FinishReason string         `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Total int64 `json:"total_tokens"`
	} `json:"usage"`
}

type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (c chat) begin(text string) (jsontext.Value, error) {
	return json.Marshal(chatMessage{"user", text})
}

func (c chat) next(ctx context.Context, conversation []jsontext.Value) (turn, error) {
	system, err := json.Marshal(chatMessage{"system", instructions})
	if err != nil {
		return turn{}, err
	}
	doc, err := c.endpoint.post(ctx, "/chat/completions", chatRequest{
		c.endpoint.model, append([]jsontext.Value{system}, conversation...), c.tools.Tools(),
	}, func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) })
	if err != nil {
		return turn{}, err
	}
	var a chatAnswer
	if err := lenient(doc, &a); err != nil {
		return turn{}, err
	}
	if len(a.Choices) != 1 {
		return turn{}, &endpointError{what: "its answer has not one choice"}
	}
	choice := a.Choices[0]
	switch choice.FinishReason {
	case "length":
		return turn{}, errCutOff
	case "content_filter":
		return turn{}, errRefused
	}
	calls, err := c.tools.Calls(choice.Message)
	if err != nil {
		return turn{}, err
	}
	var said struct {
		Content string `json:"content"`
		Refusal string `json:"refusal"`
	}
	if err := lenient(choice.Message, &said); err != nil {
		return turn{}, err
	}
	if said.Refusal != "" {
		return turn{}, errRefused
	}
	return turn{choice.Message, calls, said.Content, a.Usage.Total}, nil
}

func (c chat) answers(calls []envelope.Call, results []envelope.Result) ([]jsontext.Value, error) {
	return c.tools.Answers(calls, results)
}
