package main

import (
	"context"
	"encoding/json/v2"
	"fmt"
	"strings"

	"github.com/toolcontract/toolcontract/envelope"
)

func (t *teller) scene(title string) {
	t.scenes++
	head := fmt.Sprintf("── %d · %s ", t.scenes, title)
	fmt.Fprintf(t.w, "%s%s\n\n", head, strings.Repeat("─", max(0, 100-len([]rune(head)))))
}

// say writes one line of the story.
func (t *teller) say(format string, args ...any) { fmt.Fprintf(t.w, "  "+format+"\n", args...) }

func (t *teller) gap() { fmt.Fprintln(t.w) }

// expect writes what must hold, and whether it does.
func (t *teller) expect(ok bool, format string, args ...any) {
	mark := "✓"
	if !ok {
		mark = "✗"
		t.wrong++
	}
	fmt.Fprintf(t.w, "      "+mark+" "+format+"\n", args...)
}

// must is expect for what needs no word when it holds.
func (t *teller) must(what string, err error) bool {
	if err != nil {
		t.expect(false, "%s: %v", what, err)
	}
	return err == nil
}

// name gives a reference the name by which the story calls it.
func (t *teller) name(ref, name string) { t.names[ref] = name }

// short is a reference as the story shows it.
func (t *teller) short(ref string) string {
	if name, ok := t.names[ref]; ok {
		return name + "…"
	}
	return "ref_…"
}

// call asks as a model does, and shows question and answer.
func (t *teller) call(ctx context.Context, who, name string, args any) envelope.Result {
	r := t.h.call(ctx, who, name, args)
	text, err := json.Marshal(args)
	t.must("the arguments", err)
	shown := string(text)
	for ref, name := range t.names {
		shown = strings.ReplaceAll(shown, ref, name+"…")
	}
	t.say("%-15s → %s %s", strings.TrimPrefix(who, "acme/"), name, shown)
	if r.Error == nil {
		t.say("%-15s ← ok", "")
		return r
	}
	t.say("%-15s ← %s “%s”", "", r.Error.Code, r.Error.Message)
	return r
}

// refused expects an error of a code.
func (t *teller) refused(r envelope.Result, code envelope.Code, why string) {
	t.expect(r.Error != nil && r.Error.Code == code, "%s: %s", code, why)
}
