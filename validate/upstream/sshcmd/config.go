package sshcmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/toolcontract/toolcontract/validate/upstream"
)

// Config says where and what a Runner runs. It is plain data; New checks it.
type Config struct {
	Address string // host and port; must be set
	// HostKeys are the machine's public keys, as a line of known_hosts or authorized_keys has them without a host:
	// "ssh-ed25519 AAAA…". One must be given; a second is for the time of a change.
	HostKeys []string
	// Command is the program and its fixed arguments, before those of a question. Each is held to the rule for
	// arguments.
	Command []string
	// Client gives the user and how the caller's tenant authenticates, for each connection, after the arguments were
	// checked. Its HostKeyCallback and HostKeyAlgorithms must be unset: the pinned keys stand in their place.
	Client func(ctx context.Context, by upstream.Caller) (*ssh.ClientConfig, error)
	// Timeout bounds dialling, handshake and authentication; zero: 15 seconds.
	Timeout time.Duration
	// Dial connects; nil: TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Runner runs one command on one machine, each time over a connection of its own. Make it with New; immutable and safe
// for concurrent use.
type Runner struct {
	cfg        Config
	keys       [][]byte // marshalled
	algorithms []string
}

var _ upstream.Runner = (*Runner)(nil)

// New returns a Runner; the error joins all faults of the configuration.
func New(cfg Config) (*Runner, error) {
	r := &Runner{cfg: cfg}
	r.cfg.Command, r.cfg.HostKeys = slices.Clone(cfg.Command), nil
	var faults []error
	if _, port, err := net.SplitHostPort(cfg.Address); err != nil || port == "" {
		faults = append(faults, errors.New("address: must be a host and a port"))
	}
	if len(cfg.HostKeys) == 0 {
		faults = append(faults, errors.New("host_keys: the machine must be known by its key"))
	}
	for i, line := range cfg.HostKeys {
		if err := r.pin(line); err != nil {
			faults = append(faults, fmt.Errorf("host_keys[%d]: %w", i, err))
		}
	}
	if len(cfg.Command) == 0 {
		faults = append(faults, errors.New("command: must be set"))
	} else if err := words(cfg.Command); err != nil {
		faults = append(faults, fmt.Errorf("command: %w", err))
	}
	if cfg.Client == nil {
		faults = append(faults, errors.New("client: must be set"))
	}
	if cfg.Timeout < 0 {
		faults = append(faults, errors.New("timeout: must not be negative"))
	}
	if r.cfg.Timeout == 0 {
		r.cfg.Timeout = 15 * time.Second
	}
	if r.cfg.Dial == nil {
		r.cfg.Dial = (&net.Dialer{}).DialContext
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("sshcmd: %w", err)
	}
	return r, nil
}

func (r *Runner) pin(line string) error {
	key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil || len(options) > 0 || len(rest) > 0 {
		return errors.New("not one public key")
	}
	if _, ok := key.(*ssh.Certificate); ok {
		return errors.New("a certificate is not a key")
	}
	r.keys = append(r.keys, key.Marshal())
	algorithms := []string{key.Type()}
	if key.Type() == ssh.KeyAlgoRSA { // RFC 8332: the key's name stays, SHA-1 does not
		algorithms = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
	}
	for _, a := range algorithms {
		if !slices.Contains(r.algorithms, a) {
			r.algorithms = append(r.algorithms, a)
		}
	}
	return nil
}

var errWord = errors.New("sshcmd: an argument is more to a shell than one word, or too long")

// word is what every shell takes for itself: no white space, quotes, expansions, operators, globs or comments, no "~"
// and no "=" that begins a word (zsh expands both), no empty word.
var word = regexp.MustCompile(`^[A-Za-z0-9_@+:,./-][A-Za-z0-9_@+=:,./-]{0,255}$`)

// mostWords bounds a command line.
const mostWords = 64

func words(list []string) error {
	if len(list) > mostWords {
		return errWord
	}
	for i, w := range list {
		if !word.MatchString(w) || i == 0 && w[0] == '-' {
			return errWord
		}
	}
	return nil
}

// Check implements [upstream.Runner]: each argument must match ^[A-Za-z0-9_@+:,./-][A-Za-z0-9_@+=:,./-]{0,255}$, at
// most 64 words in all.
func (r *Runner) Check(args []string) error { return words(slices.Concat(r.cfg.Command, args)) }
