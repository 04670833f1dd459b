package mcptool

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.uber.org/zap"
)

// Config is what a server says of itself. Nothing in it is to be changed once it is in use.
type Config struct {
	// Name and Version identify the server to its clients, as "support" and "1.4.0". Both must be set: text of at most 128 bytes.
	Name, Version string
	// Title is what people read of the server. Empty: the name.
	Title string
	// Instructions is what the model reads of the server as a whole: at most 4096 bytes. Empty: nothing.
	Instructions string
	// Page returns the address of the page on which people decide about a proposal: approvalweb's Handler.ProposalPath behind the
	// host's own origin, as "https://desk.example/approvals/p/p_06f2". It is called from many goroutines at once. Empty: this proposal has
	// none. Nil: no answer carries an address.
	Page func(proposal string) string
	// MaxMessage bounds one message of a client, in bytes. Zero: 1 MiB, which must hold the largest arguments of the role.
	MaxMessage int
	// Logger gets the place and the type of what failed, never a text of it. Nil: nothing is logged.
	Logger *zap.Logger
}

const (
	maxName         = 128
	maxInstructions = 4096
	defaultMessage  = 1 << 20
)

func (c Config) check() error {
	var errs []error
	bad := func(what string) { errs = append(errs, errors.New("mcptool: config: "+what)) }
	if c.Name == "" || len(c.Name) > maxName || !readable(c.Name) {
		bad("name: must be text of 1 to 128 bytes")
	}
	if c.Version == "" || len(c.Version) > maxName || !readable(c.Version) {
		bad("version: must be text of 1 to 128 bytes")
	}
	if len(c.Title) > maxName || !readable(c.Title) {
		bad("title: must be text of at most 128 bytes")
	}
	if len(c.Instructions) > maxInstructions || !readable(c.Instructions) {
		bad("instructions: must be text of at most 4096 bytes")
	}
	if c.MaxMessage < 0 {
		bad("max_message: must not be negative")
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	if c.MaxMessage == 0 {
		c.MaxMessage = defaultMessage
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	return c
}

// failed logs the place and the type of a failure; its text may hold values.
func (c Config) failed(place string, err error) {
	c.Logger.Warn("mcptool", zap.String("place", place), zap.String("type", fmt.Sprintf("%T", err)))
}

// panicError is a panic of the host's own code. Its value is not told: it may hold anything.
type panicError struct{}

func (panicError) Error() string { return "mcptool: the host's own code panicked" }

// contained calls the host's own code, whose panic would end the process where the SDK calls us.
func contained[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if recover() != nil {
			err = panicError{}
		}
	}()
	return f()
}

func readable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}
