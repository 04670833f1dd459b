package approvalweb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"go.uber.org/zap"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/redact"
)

// Config is what the page works with. A field that does not state its zero must be set. Every function is called from many
// goroutines at once. Nothing in it is to be changed once it is in use.
type Config struct {
	// Path is where the handler is mounted, as in "/approvals": mux.Handle("/approvals/", page), without http.StripPrefix.
	// Empty: at the root.
	Path string
	// Identify says who sent the request: from the host's verified session, never from a parameter. An error, or a principal
	// that is not a valid person or service, is answered with 401 and nothing else.
	Identify func(*http.Request) (approval.Principal, error)

	Approvals approval.Store     // the dispatcher's
	Ledger    idem.Ledger        // the dispatcher's
	Authority approval.Authority // the dispatcher's; says what somebody is shown, before it says what they may do

	// Decide stores a decision after asking everything that must be asked, and audits it: tool.Dispatcher's Decide.
	Decide func(ctx context.Context, tenant, proposal string, d approval.Decision) (approval.Record, error)
	// Fresh says whether the target is still what was proposed: tool.Dispatcher's Fresh. An *envelope.Error of VERSION_CONFLICT is
	// stale; any other error means that it could not be found out. Neither can be approved.
	Fresh func(ctx context.Context, p approval.Proposal) error
	// Resolve stores what an operator says became of an operation, and audits it: tool.Dispatcher's Resolve. Nil: the
	// operator's queue is not served.
	Resolve func(ctx context.Context, k idem.Key, by approval.Principal, r idem.Resolution) (idem.Record, error)

	// Keys sign the forms: the first signs, all verify. A rotation that drops a key makes the forms that are open
	// then invalid, nothing else.
	Keys []redact.Key
	// Writes says how the page speaks of a write, by the commit's wire name. Nil, or no entry: as Write's zero.
	Writes map[string]Write
	// Words returns what the agent wrote about a proposal; it is shown last, folded up, labelled as not checked. Empty:
	// nothing is shown. Nil: nothing ever is.
	Words func(ctx context.Context, p approval.Proposal) (string, error)

	PageSize int           // of both queues; zero: 50, at most 200
	FreshFor time.Duration // how long Fresh may take; zero: five seconds
	Refresh  time.Duration // how often the script looks for news; zero: five seconds
	Logger   *zap.Logger   // gets the place and the type of what failed, never a text of it; nil: nothing is logged
}

// Write is what the host knows of a write beyond its proposals. The zero value is usable.
type Write struct {
	// Verb stands on the button that approves, as in "Replace shipping address". Empty: "Approve: " and the proposal's
	// summary, or the tool's name where that is long.
	Verb string
	// Irreversible says that the write cannot be undone even where its proposal lists nothing that cannot: the class of
	// the tool. The target's id must then be typed to approve. False: as the proposal says.
	Irreversible bool
}

const (
	defaultFreshFor = 5 * time.Second
	defaultRefresh  = 5 * time.Second
)

var pathForm = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

func (c Config) check() error {
	var errs []error
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"identify", c.Identify == nil},
		{"approvals", c.Approvals == nil},
		{"ledger", c.Ledger == nil},
		{"authority", c.Authority == nil},
		{"decide", c.Decide == nil},
		{"fresh", c.Fresh == nil},
	} {
		if f.missing {
			errs = append(errs, fmt.Errorf("approvalweb: config: %s: must be set", f.name))
		}
	}
	if !pathForm.MatchString(c.Path) {
		errs = append(errs, fmt.Errorf("approvalweb: config: path: must be empty or match %s", pathForm))
	}
	if c.PageSize < 0 || c.FreshFor < 0 || c.Refresh < 0 {
		errs = append(errs, errors.New("approvalweb: config: a size or duration is negative"))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	if c.PageSize == 0 {
		c.PageSize = approval.DefaultPage
	}
	c.PageSize = min(c.PageSize, approval.MaxPage)
	if c.FreshFor == 0 {
		c.FreshFor = defaultFreshFor
	}
	if c.Refresh == 0 {
		c.Refresh = defaultRefresh
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	return c
}
