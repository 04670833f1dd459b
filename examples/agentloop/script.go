package main

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"

	"github.com/toolcontract/toolcontract/envelope"
)

// script is the model that needs no network: an endpoint of OpenAI's form on this machine. It plays one part, from what the
// conversation has come to, and makes the faults on the way that models make.
type script struct{}

// ServeHTTP implements http.Handler: POST /v1/chat/completions.
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		http.NotFound(w, r)
		return
	}
	var request chatRequest
	if err := json.UnmarshalRead(http.MaxBytesReader(w, r.Body, answerBytes), &request); err != nil {
		http.Error(w, "not a request", http.StatusBadRequest)
		return
	}
	message, reason, err := s.play(request.Messages)
	if err != nil {
		http.Error(w, "the script ends here", http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.MarshalWrite(w, map[string]any{ // a client that is gone needs no answer
		"object": "chat.completion", "model": request.Model, "usage": map[string]int{"total_tokens": 100 * len(request.Messages)},
		"choices": []map[string]any{{"index": 0, "message": message, "finish_reason": reason}},
	})
}

type scriptCall struct {
	name, arguments string
}

// play says what comes next: the script's steps are told apart by how often it has spoken.
func (s *script) play(conversation []jsontext.Value) (message any, reason string, err error) {
	spoken, last, err := reread(conversation)
	if err != nil {
		return nil, "", err
	}
	switch spoken {
	case 0: // two calls at once, one of a tool that does not exist; null where strict mode has no other way to leave out
		return calls(spoken, scriptCall{"find_articles_v1", `{"text":"harbour lamp","limit":null}`}, scriptCall{"lookup_price", `{"name":"harbour lamp"}`})
	case 1: // a member of its own invention
		return calls(spoken, scriptCall{"preview_set_price_v1", `{"sku":"A-77","price":84.90}`})
	case 2: // what the answer asked for
		return calls(spoken, scriptCall{"preview_set_price_v1", `{"sku":"A-77","cents":8490}`})
	case 3:
		id, err := within(last, "proposal_id")
		if err != nil {
			return nil, "", err
		}
		return calls(spoken, scriptCall{"commit_set_price_v1", fmt.Sprintf(`{"proposal_id":%q}`, id)})
	case 4:
		id, err := within(last, "operation_id")
		if err != nil {
			return nil, "", err
		}
		return calls(spoken, scriptCall{"get_operation_v1", fmt.Sprintf(`{"operation_id":%q}`, id)})
	case 5:
		state, err := within(last, "state")
		if err != nil {
			return nil, "", err
		}
		return chatMessage{"assistant", "The price of the harbour lamp (A-77) is 84.90 EUR now; the operation " + state + "."}, "stop", nil
	}
	return nil, "", errScript
}

var errScript = errors.New("the script does not go on from here")

func calls(turn int, list ...scriptCall) (message any, reason string, err error) {
	made := make([]map[string]any, 0, len(list))
	for i, c := range list {
		made = append(made, map[string]any{
			"id": fmt.Sprintf("call_%d_%d", turn+1, i+1), "type": "function", "function": map[string]string{"name": c.name, "arguments": c.arguments},
		})
	}
	return map[string]any{"role": "assistant", "content": nil, "tool_calls": made}, "tool_calls", nil
}

// reread counts the assistant's messages and returns the last answer of a tool.
func reread(conversation []jsontext.Value) (spoken int, last envelope.Result, err error) {
	for _, m := range conversation {
		var message struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		if err := json.Unmarshal(m, &message); err != nil {
			return 0, last, err
		}
		switch message.Role {
		case "assistant":
			spoken++
		case "tool":
			last = envelope.Result{}
			if err := json.Unmarshal([]byte(message.Content), &last); err != nil {
				return 0, last, err
			}
		}
	}
	return spoken, last, nil
}

// within returns a text of an answer's data.
func within(r envelope.Result, member string) (string, error) {
	if err := r.Err(); err != nil {
		return "", err
	}
	var data map[string]jsontext.Value
	if err := json.Unmarshal(r.Data, &data); err != nil {
		return "", err
	}
	var text string
	err := json.Unmarshal(data[member], &text)
	return text, err
}
