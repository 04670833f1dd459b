package main

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/tool/trace"
)

// shop is the system that the tools act on. It knows nothing of models. Every question to it goes through trace.Do, so that
// a recorded run can be replayed without it.
type shop struct {
	now      func() time.Time
	mu       sync.Mutex
	articles []article
}

type article struct {
	SKU     string `json:"sku" jsonschema:"maxLength=8" redact:"trusted"`
	Name    string `json:"name" jsonschema:"maxLength=80" redact:"trusted"`
	Cents   int    `json:"cents" jsonschema:"minimum=0,maximum=10000000"`
	Version int    `json:"version" jsonschema:"minimum=1"`
}

func newShop(now func() time.Time) *shop {
	return &shop{now: now, articles: []article{{"A-77", "Harbour lamp", 8990, 9}, {"A-78", "Harbour lamp, small", 4990, 2}, {"B-12", "Kettle", 499, 7}}}
}

type query struct {
	Text  string `json:"text" jsonschema:"description=Words of the article's name.,minLength=1,maxLength=80"`
	Limit int    `json:"limit,omitzero" jsonschema:"description=How many articles at most.,minimum=1,maximum=20"`
}

type found struct {
	Articles []article `json:"articles" jsonschema:"maxItems=20"`
}

type price struct {
	SKU   string `json:"sku" jsonschema:"description=The article's number.,pattern=^[A-Z]-[0-9]{2}$"`
	Cents int    `json:"cents" jsonschema:"description=The new price in cents.,minimum=1,maximum=10000000"`
}

type priced struct{ tool.Evidence }

func (s *shop) catalogue() (*tool.Catalog, error) { return tool.NewCatalog(s.find(), s.setPrice()) }

// clerk is what the model may do: find articles, propose prices, and commit what was approved.
func clerk(c *tool.Catalog) (tool.Role, error) {
	return c.Role("clerk", "find_articles_v1", "preview_set_price_v1", "commit_set_price_v1")
}

func (s *shop) find() tool.Tool[query, found] {
	return tool.Tool[query, found]{
		Spec:   tool.Spec{Name: "find_articles", Version: 1, Description: "Find articles by words of their name.", Timeout: time.Second, ClosedWorld: true},
		Handle: func(ctx context.Context, _ tool.Caller, in query) (found, error) { return s.search(ctx, in) },
	}
}

func (s *shop) search(ctx context.Context, q query) (found, error) {
	return trace.Do(ctx, "shop.search", q, func(context.Context) (found, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		out := found{Articles: []article{}}
		for _, a := range s.articles {
			if strings.Contains(strings.ToLower(a.Name), strings.ToLower(q.Text)) && (q.Limit == 0 || len(out.Articles) < q.Limit) {
				out.Articles = append(out.Articles, a)
			}
		}
		return out, nil
	})
}

func (s *shop) setPrice() tool.Write[price, price, priced] {
	return tool.Write[price, price, priced]{
		Spec: tool.Spec{
			Name: "set_price", Version: 1, Timeout: 2 * time.Second, ClosedWorld: true,
			Description: "Set an article's price. Preview says what would change; commit does it once a person has approved the proposal.",
		},
		Class: tool.Reversible,
		Preview: func(ctx context.Context, _ tool.Caller, in price) (tool.Draft[price], error) {
			a, err := s.article(ctx, in.SKU)
			if err != nil {
				return tool.Draft[price]{}, err
			}
			return tool.Draft[price]{
				Plan: in, Target: approval.Target{Type: "article", ID: a.SKU, Version: strconv.Itoa(a.Version)},
				Summary:     "Set the price of " + a.Name + " (" + a.SKU + ")",
				Diffs:       []approval.Diff{{Field: "cents", Before: strconv.Itoa(a.Cents), After: strconv.Itoa(in.Cents)}},
				Consequence: approval.Consequence{Environment: "production", Records: new(1)},
			}, nil
		},
		Current: func(ctx context.Context, _ tool.Caller, t approval.Target) (string, error) {
			a, err := s.article(ctx, t.ID)
			return strconv.Itoa(a.Version), err
		},
		Commit: func(ctx context.Context, cmd tool.Approved[price]) (priced, error) {
			version, err := strconv.Atoi(cmd.Target.Version)
			if err != nil {
				return priced{}, envelope.NotSent(err)
			}
			envelope.Sent(ctx)
			d, err := s.set(ctx, order{cmd.Plan.SKU, cmd.Plan.Cents, version})
			return priced{tool.Evidence{NewVersion: strconv.Itoa(d.Version), CommittedAt: d.At}}, err
		},
	}
}

type number struct {
	SKU string `json:"sku" jsonschema:"maxLength=8" redact:"trusted"`
}

func (s *shop) article(ctx context.Context, sku string) (article, error) {
	return trace.Do(ctx, "shop.article", number{sku}, func(context.Context) (article, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, a := range s.articles {
			if a.SKU == sku {
				return a, nil
			}
		}
		return article{}, envelope.New(envelope.NotFound).At("sku")
	})
}

// order is a new price, on the condition that the article still has the version.
type order struct {
	SKU     string `json:"sku" jsonschema:"maxLength=8" redact:"trusted"`
	Cents   int    `json:"cents"`
	Version int    `json:"version"`
}

type ordered struct {
	Version int       `json:"version"`
	At      time.Time `json:"at"`
}

func (s *shop) set(ctx context.Context, o order) (ordered, error) {
	return trace.Do(ctx, "shop.set", o, func(context.Context) (ordered, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range s.articles {
			a := &s.articles[i]
			switch {
			case a.SKU != o.SKU:
			case a.Version != o.Version:
				return ordered{}, envelope.Refused(envelope.New(envelope.VersionConflict))
			default:
				a.Cents, a.Version = o.Cents, a.Version+1
				return ordered{a.Version, s.now()}, nil
			}
		}
		return ordered{}, envelope.Refused(envelope.New(envelope.NotFound))
	})
}
