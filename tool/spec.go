package tool

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolcontract/toolcontract/approval"
	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate"
)

// Spec is what every definition says of itself, read or write. It is copied when the catalogue is built.
type Spec struct {
	// Name matches ^[a-z][a-z0-9_]{0,47}$, does not end in _v and digits, and does not begin with preview_ or commit_.
	// The wire name adds _v and the version.
	Name string
	// Version counts from 1. An incompatible change of a schema or of the meaning is a new version.
	Version int
	// Title is what people read, as in "Change an address": at most 128 bytes. Empty: made of the name. A write's two tools
	// are told apart by "Preview: " and "Commit: " before it.
	Title string
	// Description is what the model reads: 1 to 1024 bytes.
	Description string
	// Purpose says, for the data map, what the tool is for; Owner who answers for it. Both may be empty.
	Purpose, Owner string
	// Retired hides the tool from models and refuses calls, a second commit too, with UNSUPPORTED_VERSION. Workers go on
	// with operations under way, and get_operation answers what became of each.
	Retired bool
	// Timeout bounds one call of a handler. Zero is an error: two seconds for a look-up, hours for a migration.
	Timeout time.Duration
	// Failures declares domain codes and the words that the model reads; a library code replaces its message.
	// Without declaration a handler may return NOT_FOUND, PRECONDITION_FAILED, VERSION_CONFLICT, RATE_LIMITED,
	// NOT_PERMITTED, UPSTREAM_UNAVAILABLE, UPSTREAM_DENIED, UPSTREAM_REJECTED, INVALID_RESPONSE, DEADLINE_EXCEEDED and
	// UNAVAILABLE; any other code, and any other error, is INTERNAL.
	Failures []envelope.Failure
	// Input and Output bound the documents; zero fields are those of validate.Defaults.
	Input, Output validate.Limits
	// Lookups and NeverCrosses are lines of the data map: facts resolved behind the boundary, facts that cross it in no
	// direction. Empty: none are named.
	Lookups, NeverCrosses []string
	// PerRun and PerTenant bound the parallel calls of this tool in a dispatcher, a worker's handlers of its commit among
	// them: a call over it answers RATE_LIMITED, an operation waits in the outbox. A place is held until its handler has
	// returned, however late. Calls that only queue a write count apart from the handlers that run it. Zero: only the
	// run's budget bounds them.
	PerRun, PerTenant int
	// Tags are words that a policy rule can match.
	Tags []string
	// ClosedWorld says that the tool reaches the host's own systems alone. False: it may reach others, and clients are told so.
	ClosedWorld bool
}

// Class says what a callable tool does to the world. The zero value is invalid.
type Class uint8

// The classes. A definition of a write chooses Reversible or Irreversible; the others are the library's.
const (
	Reversible   Class = iota + 1 // can be undone by another write
	Irreversible                  // sends, publishes, pays, deletes, deploys
	readClass
	previewClass
)

// String returns read, preview, reversible or irreversible, "invalid" for anything else.
func (c Class) String() string {
	switch c {
	case Reversible:
		return "reversible"
	case Irreversible:
		return "irreversible"
	case readClass:
		return "read"
	case previewClass:
		return "preview"
	}
	return "invalid"
}

// Caller is on whose behalf a handler runs. It comes from the host's verified session, never from the call: resolve
// every record with Principal.Tenant.
type Caller struct {
	Principal approval.Principal
	Run       string
	Tool      string // wire name
	RequestID string
}

// Retry declares when a read is tried again. The zero value: never.
type Retry struct {
	Attempts int             // tries in all; 0 and 1: no second one
	Within   time.Duration   // no new try begins after this; zero: up to the run's deadline
	On       []envelope.Code // the codes that are worth another try; required where Attempts is above 1
}

// Definition is a Tool or a Write; nothing else.
type Definition interface {
	build() (*definition, error)
}

// definition is a Tool or Write after its checks, its types erased.
type definition struct {
	spec     Spec
	class    Class
	failures map[envelope.Code]envelope.Failure
	tools    []*callable
	write    *writeOps // nil for a read
	retry    Retry     // of a read
}

// callable is one wire name.
type callable struct {
	wire          string
	class         Class
	def           *definition
	input, output *validate.Schema
	untrusted     []string
	places        []*validate.Schema // what may be named in an answer
	serve         func(ctx context.Context, c *call, args []byte) (reply, error)
}

func (d *definition) allows(code envelope.Code) (envelope.Failure, bool) {
	if f, ok := d.failures[code]; ok {
		return f, true
	}
	if !undeclared(code) {
		return envelope.Failure{}, false
	}
	return envelope.Declared(code)
}

// undeclared reports whether a handler may return the code without declaring it.
func undeclared(code envelope.Code) bool {
	switch code {
	case envelope.NotFound, envelope.PreconditionFailed, envelope.VersionConflict, envelope.RateLimited, envelope.NotPermitted,
		envelope.UpstreamUnavailable, envelope.UpstreamDenied, envelope.UpstreamRejected, envelope.InvalidResponse,
		envelope.DeadlineExceeded, envelope.Unavailable:
		return true
	}
	return false
}

var (
	nameForm    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)
	versionTail = regexp.MustCompile(`_v[0-9]+$`)
	tagForm     = regexp.MustCompile(`^[a-z][a-z0-9_.-]{0,63}$`)
)

const (
	maxDescription = 1024
	maxTitle       = 128
)

func wireName(prefix, name string, version int) string {
	return prefix + name + "_v" + strconv.Itoa(version)
}

// faults collects everything that is wrong with one definition.
type faults struct {
	subject string
	errs    []error
}

func (f *faults) add(place, format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf("tool %q: %s: %w", f.subject, place, fmt.Errorf(format, args...)))
}

// wrap adds each of the errors joined in err, at place.
func (f *faults) wrap(place string, err error) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			f.wrap(place, e)
		}
		return
	}
	f.errs = append(f.errs, fmt.Errorf("tool %q: %s: %w", f.subject, place, err))
}

func (f *faults) err() error { return errors.Join(f.errs...) }

func (s Spec) check(f *faults) {
	switch {
	case !nameForm.MatchString(s.Name):
		f.add("name", "must match %s", nameForm)
	case versionTail.MatchString(s.Name):
		f.add("name", "must not end in a version; Version adds it")
	case strings.HasPrefix(s.Name, "preview_"), strings.HasPrefix(s.Name, "commit_"):
		f.add("name", "must not begin with preview_ or commit_; a write adds them")
	}
	if s.Version < 1 {
		f.add("version", "must be 1 or more")
	}
	if n := len(s.Description); n == 0 || n > maxDescription || !readable(s.Description) {
		f.add("description", "must be text of 1 to %d bytes", maxDescription)
	}
	if len(s.Title) > maxTitle || !readable(s.Title) {
		f.add("title", "must be text of at most %d bytes", maxTitle)
	}
	if s.Timeout <= 0 {
		f.add("timeout", "must be set")
	}
	if s.PerRun < 0 || s.PerTenant < 0 {
		f.add("per_run", "a number of parallel calls is not negative")
	}
	for _, tag := range s.Tags {
		if !tagForm.MatchString(tag) {
			f.add("tags", "each must match %s", tagForm)
		}
	}
	s.checkFailures(f)
}

func (s Spec) checkFailures(f *faults) {
	seen := map[envelope.Code]bool{}
	for i, fail := range s.Failures {
		place := "failures[" + strconv.Itoa(i) + "]"
		switch {
		case !envelope.ValidCode(fail.Code):
			f.add(place, "the code does not have the form of a code")
		case seen[fail.Code]:
			f.add(place, "the code is declared twice")
		case fail.Message == "" || len(fail.Message) > envelope.MaxMessage || !readable(fail.Message):
			f.add(place, "the message must be text of 1 to %d bytes", envelope.MaxMessage)
		case reserved(fail.Code):
			f.add(place, "the code is the library's own and no handler's to return")
		}
		seen[fail.Code] = true
	}
}

// reserved reports whether only the library may answer with code.
func reserved(code envelope.Code) bool {
	_, ours := envelope.Declared(code)
	return ours && !undeclared(code)
}

// readable reports whether s is text that a model can be shown: UTF-8 without control characters but line feed and tab.
func readable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}

// own are the codes that the tool declares.
func (s Spec) own() map[envelope.Code]bool {
	m := make(map[envelope.Code]bool, len(s.Failures))
	for _, f := range s.Failures {
		m[f.Code] = true
	}
	return m
}

func (s Spec) clone() Spec {
	s.Failures = slices.Clone(s.Failures)
	s.Lookups = slices.Clone(s.Lookups)
	s.NeverCrosses = slices.Clone(s.NeverCrosses)
	s.Tags = slices.Clone(s.Tags)
	return s
}

func (s Spec) failures() map[envelope.Code]envelope.Failure {
	m := make(map[envelope.Code]envelope.Failure, len(s.Failures))
	for _, f := range s.Failures {
		m[f.Code] = f
	}
	return m
}
