package sshcmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/validate/upstream"
)

var (
	errHostKey = errors.New("sshcmd: the machine shows a key that is not pinned")
	errClient  = errors.New("sshcmd: the client's configuration decides on host keys itself")
)

// Run implements [upstream.Runner]. Credentials are set as variables of the session's environment, which the server
// must accept.
func (r *Runner) Run(ctx context.Context, j upstream.Job) (int, error) {
	if err := r.Check(j.Args); err != nil {
		return -1, unstarted(err)
	}
	client, err := r.connect(ctx, j.Caller)
	if err != nil {
		return -1, unstarted(err)
	}
	defer func() { _ = client.Close() }() // after the command's end, or to end it
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	session, err := client.NewSession()
	if err != nil {
		return -1, unstarted(err)
	}
	for _, c := range j.Credentials {
		if err := session.Setenv(c.Name, c.Value.Reveal()); err != nil {
			return -1, unstarted(fmt.Errorf("sshcmd: the server refuses a variable: %w", err))
		}
	}
	session.Stdout, session.Stderr = j.Stdout, j.Stderr
	envelope.Sent(ctx)
	// Every word is of the allowed form, so that a space is all that a shell sees between them.
	if err := session.Start(strings.Join(slices.Concat(r.cfg.Command, j.Args), " ")); err != nil {
		return -1, err
	}
	return ended(session.Wait())
}

func unstarted(err error) error { return fmt.Errorf("%w: %w", upstream.ErrNotStarted, err) }

// ended reads how a command ended; one that a signal ended, or that says nothing of its end, was lost.
func ended(err error) (int, error) {
	if err == nil {
		return 0, nil
	}
	if status, ok := errors.AsType[*ssh.ExitError](err); ok && status.Signal() == "" && status.ExitStatus() > 0 {
		return status.ExitStatus(), err
	}
	return -1, err
}

// connect dials, checks the key and authenticates within the time for it.
func (r *Runner) connect(ctx context.Context, by upstream.Caller) (*ssh.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Timeout)
	defer cancel()
	given, err := r.cfg.Client(ctx, by)
	switch {
	case err != nil:
		return nil, err
	case given == nil, given.HostKeyCallback != nil, len(given.HostKeyAlgorithms) > 0:
		return nil, errClient
	}
	cfg := *given
	cfg.HostKeyCallback, cfg.HostKeyAlgorithms = r.known, slices.Clone(r.algorithms)
	conn, err := r.cfg.Dial(ctx, "tcp", r.cfg.Address)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	inner, channels, requests, err := ssh.NewClientConn(conn, r.cfg.Address, &cfg)
	if err != nil || !stop() {
		_ = conn.Close()
		return nil, errors.Join(err, ctx.Err())
	}
	return ssh.NewClient(inner, channels, requests), nil
}

// known is the only thing that vouches for a machine.
func (r *Runner) known(_ string, _ net.Addr, key ssh.PublicKey) error {
	shown := key.Marshal()
	if slices.ContainsFunc(r.keys, func(pinned []byte) bool { return bytes.Equal(pinned, shown) }) {
		return nil
	}
	return errHostKey
}
