// Command agentloop is a small complete agent runtime: a model, the tools that it may call, a person who approves, and the
// loop between them.
//
//	go run ./examples/agentloop
//
// Without flags everything is on this machine and offline: the model is a script that speaks OpenAI's wire form, with the
// faults that models make, and the person is a script that opens the approval page and presses its button, both over HTTP.
// A whole change is played: read, preview, approval on the page, commit, get_operation, final answer.
//
//	OPENAI_API_KEY=… go run ./examples/agentloop -provider openai -model gpt-5 -ask "Set the price of the harbour lamp to 84.90 EUR."
//	ANTHROPIC_API_KEY=… go run ./examples/agentloop -provider anthropic -model claude-sonnet-4-5
//	go run ./examples/agentloop -provider openai -endpoint http://127.0.0.1:11434/v1 -model qwen3
//
// -record keeps what was called and answered, and -replay makes the same calls again: of the shop, the person and the model
// nobody is asked, and every difference is said. In the recording, fields are redacted by their class: free text of a call is
// replaced by other text, articles and prices stay. Of the question and the answer only numbers as long as a card's, e-mail
// addresses and the key are replaced; whatever else was written there, a name say, stands in it. Only its owner may read the
// file. The endpoint's key is never shown or saved, whatever the endpoint sends back; where a part of it would be, nothing is.
//
//	go run ./examples/agentloop -record run.jsonl && go run ./examples/agentloop -replay run.jsonl
//
// With a real model you are the person: open the address that it says and decide. The exit status is 1 if the model did
// not come to an answer, or a replay is not as it was, 2 if the program could not run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

func main() {
	ctx, stop := untilStopped(context.Background())
	code := command(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// untilStopped ends when the program is interrupted or told to end: what was recorded until then is written.
func untilStopped(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
}

// settings are the program's flags.
type settings struct {
	provider, endpoint, model, ask, address string
	calls                                   int
	tokens                                  int64
	patience                                time.Duration
	record, replay                          string
}

// command runs the program and returns its exit status.
func command(ctx context.Context, args []string, environment func(string) string, out, complaints io.Writer) int {
	var s settings
	flags := flag.NewFlagSet("agentloop", flag.ContinueOnError)
	flags.SetOutput(complaints)
	flags.StringVar(&s.provider, "provider", scripted, "whose wire form the endpoint speaks: openai, anthropic, or scripted for the model that is built in")
	flags.StringVar(&s.endpoint, "endpoint", "", "the endpoint's address up to its version, as in https://api.openai.com/v1; empty: the provider's own")
	flags.StringVar(&s.model, "model", "", "the model's name at the endpoint")
	flags.StringVar(&s.ask, "ask", "Set the price of the harbour lamp to 84.90 EUR.", "what the model is asked for")
	flags.StringVar(&s.address, "addr", "127.0.0.1:0", "where the approval page listens: a loopback address")
	flags.IntVar(&s.calls, "calls", 20, "how many calls the run may make")
	flags.Int64Var(&s.tokens, "tokens", 100_000, "how many tokens the run may spend")
	flags.DurationVar(&s.patience, "patience", 10*time.Minute, "how long the run may take, people's time included")
	flags.StringVar(&s.record, "record", "", "write what was called and answered to this file, its fields redacted by their class")
	flags.StringVar(&s.replay, "replay", "", "make the calls of this file again instead")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintln(complaints, "agentloop: takes no arguments but its flags")
		return 2
	}
	keep := newSecrets(s.key(environment))
	out, complaints = shown{out, keep}, shown{complaints, keep}
	run := func() error { return play(ctx, s, environment, keep, out) }
	if s.replay != "" {
		run = func() error { return replay(ctx, s, out) }
	}
	switch err := run(); {
	case errors.Is(err, errNoAnswer), errors.Is(err, errNotTheSame):
		fmt.Fprintln(complaints, "agentloop:", err)
		return 1
	case err != nil:
		fmt.Fprintln(complaints, "agentloop:", err)
		return 2
	}
	return 0
}

// play runs one request from the question to the answer.
func play(ctx context.Context, s settings, environment func(string) string, keep secrets, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	var rec *trace.Recorder
	h, err := newHost(ctx, s, out, func(cfg *tool.Config) (err error) {
		if rec, err = trace.NewRecorder(trace.Config{Now: cfg.Now, Canaries: keep.canary, Notes: keep.note}); err == nil {
			rec.Wire(cfg)
		}
		return err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close(ctx)) }()
	recorded, err := rec.Run(h.run)
	if err != nil {
		return err
	}
	h.calls = recorded
	m, err := h.newModel(ctx, s, environment)
	if err != nil {
		return err
	}
	answer, err := h.answer(ctx, m, s.ask)
	if err == nil {
		h.say("model    %s", line(answer))
	}
	if s.record == "" {
		return err
	}
	return errors.Join(err, save(rec, h.run.ID(), s.record, s.ask, answer)) // what went wrong is worth a replay too
}
