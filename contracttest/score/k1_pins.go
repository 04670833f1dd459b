package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/contracttest/internal/samples"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

type pinIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=20"`
}

type widerIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=40"`
}

type openerIn struct {
	ID   string `json:"id" jsonschema:"minLength=1,maxLength=20"`
	More string `json:"more,omitzero" jsonschema:"maxLength=20"`
}

type pinOut struct{ tool.Evidence }

// catalogueOf is one read and one write, changed.
func catalogueOf[In any](change func(s *tool.Spec, w *tool.Write[In, In, pinOut])) (*tool.Catalog, error) {
	s := tool.Spec{Name: "move", Version: 1, Description: "Move a thing.", Timeout: 5 * time.Second, PerRun: 2, Input: validate.Limits{Bytes: 4096}, ClosedWorld: true}
	w := tool.Write[In, In, pinOut]{
		Class: tool.Reversible, Attempts: 2, Lifetime: time.Minute, RunFor: time.Minute,
		Preview: func(context.Context, tool.Caller, In) (tool.Draft[In], error) {
			return tool.Draft[In]{}, errors.New("never")
		},
		Commit: func(context.Context, tool.Approved[In]) (pinOut, error) { return pinOut{}, errors.New("never") },
		Status: func(context.Context, tool.Approved[In], string) (pinOut, error) { return pinOut{}, errors.New("never") },
		Cancel: func(context.Context, tool.Approved[In], string) (tool.Stopped, error) {
			return tool.NotInterruptible, nil
		},
		Current: samples.NewShop().Current,
	}
	change(&s, &w)
	w.Spec = s
	return tool.NewCatalog(w, samples.GetCustomer(), samples.ListOrders())
}

var basic = []string{"preview_move_v1", "commit_move_v1", "get_customer_v1"} //nolint:gochecknoglobals // a constant

type widening struct {
	name    string
	catalog func() (*tool.Catalog, error)
	tools   []string
}

func plainMove(change func(s *tool.Spec, w *tool.Write[pinIn, pinIn, pinOut])) func() (*tool.Catalog, error) {
	return func() (*tool.Catalog, error) { return catalogueOf(change) }
}

func widenings() []widening {
	type write = tool.Write[pinIn, pinIn, pinOut]
	spec := func(name string, change func(s *tool.Spec)) widening {
		return widening{name, plainMove(func(s *tool.Spec, _ *write) { change(s) }), basic}
	}
	of := func(name string, change func(w *write)) widening {
		return widening{name, plainMove(func(_ *tool.Spec, w *write) { change(w) }), basic}
	}
	return []widening{
		of("pin-effect-class", func(w *write) { w.Class = tool.Irreversible }),
		of("pin-contract", func(w *write) { w.Contract = idem.StatusQueryable }),
		of("pin-attempts", func(w *write) { w.Attempts = 9 }),
		of("pin-lifetime", func(w *write) { w.Lifetime = time.Hour }),
		of("pin-lifetime-of-the-policy", func(w *write) { w.Lifetime = 0 }),
		spec("pin-open-world", func(s *tool.Spec) { s.ClosedWorld = false }),
		of("pin-run-for", func(w *write) { w.RunFor = time.Hour }),
		of("pin-unversioned", func(w *write) { w.Unversioned = true }),
		of("pin-cancellation", func(w *write) { w.Cancel = nil }),
		spec("pin-timeout", func(s *tool.Spec) { s.Timeout = time.Hour }),
		spec("pin-parallel", func(s *tool.Spec) { s.PerRun = 0 }),
		spec("pin-limit", func(s *tool.Spec) { s.Input.Bytes = 1 << 20 }),
		spec("pin-limit-lifted", func(s *tool.Spec) { s.Input = validate.Limits{} }),
		{"pin-looser-schema", func() (*tool.Catalog, error) {
			return catalogueOf(func(*tool.Spec, *tool.Write[widerIn, widerIn, pinOut]) {})
		}, basic},
		{"pin-further-member", func() (*tool.Catalog, error) {
			return catalogueOf(func(*tool.Spec, *tool.Write[openerIn, openerIn, pinOut]) {})
		}, basic},
		{"role-superset", plainMove(func(*tool.Spec, *write) {}), append([]string{"list_orders_v1"}, basic...)},
	}
}

// brokenPins asks of each widening that the pin fails, and that rewriting it without a reason fails too.
func brokenPins() (killed, total int, details []string) {
	dir, err := os.MkdirTemp("", "score")
	if err != nil {
		return 0, 1, []string{err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	golden := filepath.Join(dir, "pin.json")
	list := widenings()
	total = len(list)
	if err := pinned(plainMove(func(*tool.Spec, *tool.Write[pinIn, pinIn, pinOut]) {}), basic, func(c *tool.Catalog, r []tool.Role) error {
		return errors.Join(contracttest.WritePin(c, r, golden), contracttest.CheckPin(c, r, golden))
	}); err != nil {
		return 0, total, []string{"the reference's pin: " + err.Error()}
	}
	for _, w := range list {
		err := pinned(w.catalog, w.tools, func(c *tool.Catalog, r []tool.Role) error {
			check, write := contracttest.CheckPin(c, r, golden), contracttest.WritePin(c, r, golden)
			if check == nil || write == nil || !strings.Contains(write.Error(), "widens") {
				return fmt.Errorf("survives: check %w, rewrite %w", orNone(check), orNone(write))
			}
			return nil
		})
		if err != nil {
			details = append(details, w.name+": "+err.Error())
			continue
		}
		killed++
	}
	return killed, total, details
}

func orNone(err error) error {
	if err == nil {
		return errors.New("passes")
	}
	return err
}

func pinned(build func() (*tool.Catalog, error), tools []string, f func(*tool.Catalog, []tool.Role) error) error {
	c, err := build()
	if err != nil {
		return err
	}
	role, err := c.Role("mover", tools...)
	if err != nil {
		return err
	}
	return f(c, []tool.Role{role})
}

const recordedCalls = `{"case":"good","tool":"request_review_v1","arguments":{"case_ref":"case_AAAAAAAAAAAAAAAA","reason_code":"duplicate_charge"},"verdict":"accept","answer":{"qualifies":false,"why":"recorded"},"data":{"qualifies":false,"why":"recorded"}}
{"case":"padded","tool":"request_review_v1","arguments":{"case_ref":" case_AAAAAAAAAAAAAAAA","reason_code":"other"},"verdict":"refuse","code":"INVALID_ARGUMENT","field":"case_ref"}
{"case":"unknown","tool":"request_review_v1","arguments":{"case_ref":"case_AAAAAAAAAAAAAAAA","reason_code":"other","x":1},"verdict":"refuse","code":"UNKNOWN_FIELD","field":"x"}
`

// brokenReplays asks that recorded calls are not answered in another way.
func brokenReplays() (killed, total int, details []string) {
	dir, err := os.MkdirTemp("", "score")
	if err != nil {
		return 0, 1, []string{err.Error()}
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, text := range map[string]string{"calls.jsonl": recordedCalls, "empty.jsonl": "\n", "cut.jsonl": recordedCalls[:300]} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return 0, 1, []string{err.Error()}
		}
	}
	files := os.DirFS(dir)
	check := func(b broken, glob string) error {
		fresh, err := b.make()
		if err != nil {
			return err
		}
		return contracttest.CheckReplay(fresh, files, glob).Err()
	}
	if err := check(broken{}, "calls.jsonl"); err != nil {
		return 0, 6, []string{"the reference's replay: " + err.Error()}
	}
	for name, err := range map[string]error{
		"replay-calls-the-live-upstream": check(broken{session: func(m *meddler) {
			m.first = func(c envelope.Call) { m.f.Probe.Enter(c.Tool, nil) }
		}}, "calls.jsonl"),
		"replay-other-code":      check(broken{session: taking(envelope.UnknownField, "", nil)}, "calls.jsonl"),
		"replay-other-data":      check(broken{session: answering(func(_ *meddler, _ envelope.Call, r envelope.Result) envelope.Result { r.Data = nil; return r })}, "calls.jsonl"),
		"replay-no-file":         check(broken{}, "none*.jsonl"),
		"replay-no-call":         check(broken{}, "empty.jsonl"),
		"replay-cut-record-read": check(broken{}, "cut.jsonl"),
	} {
		total++
		if err == nil {
			details = append(details, name+": survives")
			continue
		}
		killed++
	}
	return killed, total, details
}
