package samples

import (
	"context"
	"encoding/json/jsontext"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/contracttest"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
)

// Adapter is one good adapter, to be checked for false alarms.
type Adapter struct {
	Name    string
	New     func() (*contracttest.Fixture, error)
	Options []contracttest.Option
}

func adapter(name string, definitions func(s *Shop) []tool.Definition, opts ...contracttest.Option) (Adapter, error) {
	return adjusted(name, definitions, func(*tool.Config) {}, opts...)
}

func adjusted(name string, definitions func(s *Shop) []tool.Definition, adjust func(*tool.Config), opts ...contracttest.Option) (Adapter, error) {
	shop := NewShop()
	c, err := tool.NewCatalog(definitions(shop)...)
	if err != nil {
		return Adapter{}, fmt.Errorf("samples: %s: %w", name, err)
	}
	return Adapter{name, func() (*contracttest.Fixture, error) { return shop.Fixture(c, adjust) }, opts}, nil
}

func only(d ...tool.Definition) func(*Shop) []tool.Definition {
	return func(*Shop) []tool.Definition { return d }
}

// Good returns good adapters of different shapes.
func Good() ([]Adapter, error) {
	var list []Adapter
	var errs []error
	add := func(a Adapter, err error) { list, errs = append(list, a), append(errs, err) }
	add(adapter("look-up", only(GetCustomer(), ListWarehouses())))
	add(adapter("paged-with-retry", only(ListOrders())))
	add(adapter("deep-union", func(s *Shop) []tool.Definition { return []tool.Definition{s.Refund()} }))
	add(adapter("recursive", only(Tree())))
	add(adapter("maps-and-sets", only(Search())))
	add(adapter("numbers", only(Quote())))
	add(adapter("formats-and-nulls", only(Settings())))
	add(adapter("big-pages", only(bigPage())))
	add(adapter("commands", only(command())))
	machine, err := remote()
	if err != nil {
		return nil, fmt.Errorf("samples: ssh: %w", err)
	}
	add(adapter("ssh", only(machine)))
	add(adapter("async-job", func(s *Shop) []tool.Definition { return []tool.Definition{s.job()} }))
	add(adapter("queued-and-unversioned", func(s *Shop) []tool.Definition { return []tool.Definition{s.note(), s.queued()} }))
	add(adapter("sent-again", func(s *Shop) []tool.Definition { return []tool.Definition{s.Pay()} }))
	add(adapter("checked", only(booking()),
		contracttest.Examples("book_v1", jsontext.Value(`{"from":"2026-03-01","to":"2026-03-04","guests":2}`)),
		contracttest.Expect("input/book_v1/**", contracttest.Refusal{Code: dates})))
	add(adjusted("two-approvers-and-middleware", func(s *Shop) []tool.Definition { return []tool.Definition{s.Tag()} }, func(cfg *tool.Config) {
		cfg.Policy = approval.Everything(approval.Requirement{Level: approval.Two, Role: "lead", Group: "eu"})
		cfg.Middleware = append(cfg.Middleware, func(next tool.Handler) tool.Handler {
			return func(ctx context.Context, i tool.Invocation) envelope.Result { return next(ctx, i) }
		})
	}))
	add(adjusted("nobody-approves", func(s *Shop) []tool.Definition { return []tool.Definition{s.Refund(), s.Tag()} }, func(cfg *tool.Config) {
		cfg.Policy = approval.Everything(approval.Requirement{Level: approval.None})
	}))
	return list, errors.Join(errs...)
}

type pageIn struct {
	Size   int      `json:"size" jsonschema:"minimum=1,maximum=500"`
	Fields []string `json:"fields,omitzero" jsonschema:"maxItems=50,maxLength=40"`
}

type row struct {
	ID   string `json:"id" jsonschema:"maxLength=40" redact:"trusted"`
	Text string `json:"text" jsonschema:"maxLength=400"`
}

type pageOut struct {
	Rows []row `json:"rows" jsonschema:"maxItems=500"`
}

// bigPage answers much: its limits are its own.
func bigPage() tool.Definition {
	s := spec("page", "Read a large page.")
	s.Output = validate.Limits{Bytes: 1 << 20}
	s.Input = validate.Limits{Bytes: 8 << 10, Depth: 8}
	return tool.Tool[pageIn, pageOut]{
		Spec: s,
		Handle: func(_ context.Context, _ tool.Caller, in pageIn) (pageOut, error) {
			var out pageOut
			for i := range in.Size {
				out.Rows = append(out.Rows, row{fmt.Sprint(i), strings.Repeat("text ", 60)})
			}
			return out, nil
		},
	}
}

type commandIn struct {
	Unit  string   `json:"unit" jsonschema:"pattern=^[a-z][a-z0-9-]{0\\,30}\\.service$"`
	Lines int      `json:"lines,omitzero" jsonschema:"minimum=1,maximum=1000"`
	Flags []string `json:"flags,omitzero" jsonschema:"maxItems=3,uniqueItems=true,enum=utc,enum=reverse,enum=quiet"`
}

type commandOut struct {
	Exit   int    `json:"exit" jsonschema:"minimum=0,maximum=255"`
	Stdout string `json:"stdout" jsonschema:"maxLength=4000"`
}

// command builds an argument vector; the machine behind it is out of reach half of the time.
func command() tool.Definition {
	return tool.Tool[commandIn, commandOut]{
		Spec: spec("read_log", "Read a unit's log."),
		Handle: func(_ context.Context, _ tool.Caller, in commandIn) (commandOut, error) {
			if len(in.Flags) == 2 {
				return commandOut{}, envelope.New(envelope.UpstreamUnavailable).After(time.Second)
			}
			return commandOut{Stdout: "unit " + in.Unit}, nil
		},
	}
}

const dates envelope.Code = "DATES"

type bookIn struct {
	From   string `json:"from" jsonschema:"format=date"`
	To     string `json:"to" jsonschema:"format=date"`
	Guests int    `json:"guests" jsonschema:"minimum=1,maximum=8"`
}

type bookOut struct {
	Nights int `json:"nights" jsonschema:"minimum=0"`
}

// booking refuses, by a Check, what no schema can.
func booking() tool.Definition {
	s := spec("book", "Say how many nights that is.")
	s.Failures = []envelope.Failure{{Code: dates, Message: "the stay must end after it begins"}}
	return tool.Tool[bookIn, bookOut]{
		Spec: s,
		Check: func(_ context.Context, _ tool.Caller, in bookIn) error {
			if in.From >= in.To {
				return envelope.New(dates)
			}
			return nil
		},
		Handle: func(context.Context, tool.Caller, bookIn) (bookOut, error) { return bookOut{Nights: 3}, nil },
	}
}

type noteIn struct {
	Text string `json:"text" jsonschema:"minLength=1,maxLength=500"`
}

type noteOut struct{ tool.Evidence }

// note appends: its target has no version, and its provider promises nothing.
func (s *Shop) note() tool.Definition {
	return tool.Write[noteIn, noteIn, noteOut]{
		Spec: spec("add_note", "Add a note."), Class: tool.Reversible, Unversioned: true,
		Preview: func(_ context.Context, _ tool.Caller, in noteIn) (tool.Draft[noteIn], error) {
			return tool.Draft[noteIn]{Plan: in, Target: approval.Target{Type: "notes", ID: "all"}, Summary: "Add a note"}, nil
		},
		Commit: func(ctx context.Context, cmd tool.Approved[noteIn]) (noteOut, error) {
			c, err := s.commit(ctx, "commit_add_note_v1", approval.Target{ID: "all", Version: s.version("all")}, cmd.ProviderKey)
			return noteOut{tool.Evidence{CommittedAt: c.at}}, err
		},
	}
}

type payIn struct {
	Account string `json:"account" jsonschema:"pattern=^acct_[0-9]{4}$"`
	Amount  int64  `json:"amount_minor" jsonschema:"minimum=1,maximum=100000"`
}

// Pay has a target without a version and a provider that gives one key one answer: what is lost is sent again.
func (s *Shop) Pay() tool.Definition { return s.PayWith(Fault{}) }

// PayWith is Pay with faults.
func (s *Shop) PayWith(f Fault) tool.Definition {
	f.NoVersion = true
	return tool.Write[payIn, payIn, tagOut]{
		Spec: spec("pay", "Pay an account."), Class: tool.Irreversible, Contract: idem.ReplaySafe, DedupFor: 24 * time.Hour, Unversioned: true,
		Preview: func(_ context.Context, _ tool.Caller, in payIn) (tool.Draft[payIn], error) {
			return tool.Draft[payIn]{
				Plan: in, Target: approval.Target{Type: "account", ID: in.Account}, Summary: "Pay an account",
				Consequence: approval.Consequence{AmountMinor: new(in.Amount), Currency: "EUR"},
			}, nil
		},
		Commit: func(ctx context.Context, cmd tool.Approved[payIn]) (tagOut, error) {
			c, err := f.commit(ctx, s, "commit_pay_v1", approval.Target{ID: cmd.Plan.Account}, cmd.ProviderKey)
			return tagOut{tool.Evidence{CommittedAt: c.at}}, err
		},
	}
}

// queued is sent by a worker.
func (s *Shop) queued() tool.Definition {
	return tool.Write[tagIn, tagIn, tagOut]{
		Spec: spec("mail_order", "Send a mail."), Class: tool.Irreversible, Contract: idem.StatusQueryable, Queued: true,
		Preview: func(_ context.Context, _ tool.Caller, in tagIn) (tool.Draft[tagIn], error) {
			return tool.Draft[tagIn]{Plan: in, Target: approval.Target{Type: "mail", ID: in.OrderID, Version: s.version(in.OrderID)}, Summary: "Send a mail"}, nil
		},
		Current: s.current,
		Commit: func(ctx context.Context, cmd tool.Approved[tagIn]) (tagOut, error) {
			c, err := s.commit(ctx, "commit_mail_order_v1", cmd.Target, cmd.ProviderKey)
			return tagOut{evidence(c)}, err
		},
		Status: func(ctx context.Context, cmd tool.Approved[tagIn], _ string) (tagOut, error) {
			c, err := s.status(ctx, "commit_mail_order_v1", cmd.ProviderKey)
			return tagOut{evidence(c)}, err
		},
	}
}

// job is accepted at once and done later; it can be asked for by its receipt.
func (s *Shop) job() tool.Definition {
	var mu sync.Mutex
	asked := map[string]int{}
	return tool.Write[tagIn, tagIn, tagOut]{
		Spec: spec("export_order", "Export an order."), Class: tool.Reversible, Contract: idem.StatusQueryable, RunFor: time.Hour,
		Preview: func(_ context.Context, _ tool.Caller, in tagIn) (tool.Draft[tagIn], error) {
			return tool.Draft[tagIn]{Plan: in, Target: approval.Target{Type: "export", ID: in.OrderID, Version: s.version(in.OrderID)}, Summary: "Export an order"}, nil
		},
		Current: s.current,
		Commit: func(ctx context.Context, cmd tool.Approved[tagIn]) (tagOut, error) {
			if _, err := s.commit(ctx, "commit_export_order_v1", cmd.Target, cmd.ProviderKey); err != nil {
				return tagOut{}, err
			}
			return tagOut{}, envelope.Running("job-" + cmd.ProviderKey)
		},
		Status: func(ctx context.Context, cmd tool.Approved[tagIn], _ string) (tagOut, error) {
			c, err := s.status(ctx, "commit_export_order_v1", cmd.ProviderKey)
			mu.Lock()
			defer mu.Unlock()
			asked[cmd.ProviderKey]++
			if err == nil && asked[cmd.ProviderKey] < 2 {
				return tagOut{}, envelope.Running("job-" + cmd.ProviderKey)
			}
			return tagOut{evidence(c)}, err
		},
	}
}
