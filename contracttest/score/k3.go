package main

import (
	"context"
	"encoding/json/jsontext"
	"fmt"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
)

// hopeless answers every call alike.
type hopeless struct {
	run    *tool.Run
	answer func(c envelope.Call) envelope.Result
}

// Tools implements contracttest.Session.
func (h hopeless) Tools() []tool.Published { return h.run.Tools() }

// Call implements contracttest.Session.
func (h hopeless) Call(_ context.Context, c envelope.Call) envelope.Result { return h.answer(c) }

// k3 looks for false alarms, and for suites that anything passes.
func k3(bool) (line string, details []string, met bool) {
	good, err := samples.Good()
	if err != nil {
		return "K3 void: " + err.Error(), nil, false
	}
	alarms := 0
	for _, a := range good {
		if err := contracttest.Check(contracttest.Make(a.New), a.Options...).Err(); err != nil {
			alarms++
			details = append(details, append([]string{a.Name + ":"}, firstLines(err.Error())...)...)
		}
	}
	failed := 0
	for name, answer := range map[string]func(c envelope.Call) envelope.Result{
		"refuse-all": func(c envelope.Call) envelope.Result {
			return envelope.Result{Tool: c.Tool, RequestID: "req_1", Error: envelope.New(envelope.InvalidArgument)}
		},
		"accept-all": func(c envelope.Call) envelope.Result {
			return envelope.Result{OK: true, Tool: c.Tool, RequestID: "req_1", Data: jsontext.Value(`{}`)}
		},
		"panics": func(envelope.Call) envelope.Result { panic("hopeless") },
	} {
		b := broken{fixture: func(f *contracttest.Fixture) {
			f.Session = func(run *tool.Run) contracttest.Session { return hopeless{run, answer} }
		}}
		fresh, err := b.make()
		if err != nil {
			return "K3 void: " + err.Error(), nil, false
		}
		if contracttest.Check(fresh).Err() == nil {
			details = append(details, name+" passes")
			continue
		}
		failed++
	}
	return fmt.Sprintf("K3 false alarms on %d good adapters: %d (goal: 0); of refuse-all, accept-all and panicking fail: %d of 3", len(good), alarms, failed), details, alarms == 0 && failed == 3 && len(good) >= 12
}
