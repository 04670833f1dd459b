package main

import (
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/redact"
)

// turn is what a model said in one go: a message for the conversation, and in it calls, or the answer.
type turn struct {
	message jsontext.Value
	calls   []envelope.Call
	text    string
	tokens  int64
}

// model is one conversation partner. It keeps nothing: the conversation is sent whole each time.
type model interface {
	// begin returns the person's message.
	begin(text string) (jsontext.Value, error)
	// next returns what follows the conversation.
	next(ctx context.Context, conversation []jsontext.Value) (turn, error)
	// answers returns the messages that answer all calls of a turn.
	answers(calls []envelope.Call, results []envelope.Result) ([]jsontext.Value, error)
}

var errNoAnswer = errors.New("the model came to no answer")

// maxTurns ends a conversation that goes in circles without calls of its own to be counted.
const maxTurns = 40

// answer is the loop: the model speaks, its calls go through the boundary, their answers go back, until it calls nothing.
func (h *host) answer(ctx context.Context, m model, request string) (string, error) {
	first, err := m.begin(request)
	if err != nil {
		return "", err
	}
	h.say("person   %s", request)
	conversation := []jsontext.Value{first}
	for range maxTurns {
		t, err := m.next(ctx, conversation)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		if err := h.run.Spend(ctx, t.tokens); err != nil {
			return "", fmt.Errorf("%w: tokens: %w", errNoAnswer, err)
		}
		if len(t.calls) == 0 {
			return t.text, nil
		}
		results, err := h.serveAll(ctx, t.calls)
		if err != nil {
			return "", fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		messages, err := m.answers(t.calls, results)
		if err != nil {
			return "", err
		}
		conversation = append(append(conversation, t.message), messages...)
	}
	return "", fmt.Errorf("%w in %d turns", errNoAnswer, maxTurns)
}

// serveAll answers the calls of one turn, in their order.
func (h *host) serveAll(ctx context.Context, calls []envelope.Call) ([]envelope.Result, error) {
	results := make([]envelope.Result, len(calls))
	for i, c := range calls {
		h.say("model  → %s %s", line(c.Tool), line(string(c.Arguments)))
		r := h.call(ctx, c)
		if r.Error != nil && r.Error.Code == envelope.ApprovalPending && r.Error.ProposalID != "" {
			if err := h.approval(ctx, r.Error.ProposalID); err != nil {
				return nil, err
			}
			r = h.call(ctx, c)
		}
		h.tell(r)
		if r.Error != nil && r.Error.Code == envelope.BudgetExhausted {
			return nil, r.Error
		}
		results[i] = r
	}
	return results, nil
}

// call makes one call. The host's clock stands still meanwhile, so that a replay on the recorded time has the same times.
func (h *host) call(ctx context.Context, c envelope.Call) envelope.Result {
	h.clock.set(time.Now())
	defer h.clock.set(time.Time{})
	return h.calls.Call(ctx, c)
}

// approval waits until a person has decided: no turn of the model is spent on asking again.
func (h *host) approval(ctx context.Context, proposal string) error {
	h.say("       ← %s; the run waits for a person", envelope.ApprovalPending)
	if h.decide != nil {
		if err := h.decide(ctx, proposal); err != nil {
			return fmt.Errorf("the page: %w", err)
		}
	} else {
		h.say("person   decide at %s/approvals/p/%s", h.page, proposal)
	}
	rec, err := h.dispatcher.Await(ctx, tenant, proposal)
	if err != nil {
		return err
	}
	h.say("person   %s: “%s”", rec.State, rec.Proposal.Summary)
	return nil
}

func (h *host) tell(r envelope.Result) {
	if r.OK {
		h.say("       ← ok %s", redact.Visible(string(r.Data)))
		return
	}
	text, err := json.Marshal(r.Error)
	if err != nil {
		text = []byte(r.Error.Error())
	}
	h.say("       ← %s %s", r.Error.Code, text)
}

// line is text of a model, as a terminal may be shown it: what cannot be seen is written out, and it has an end.
func line(text string) string {
	const most = 200
	text = redact.Visible(text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
