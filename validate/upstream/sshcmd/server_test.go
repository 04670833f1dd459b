package sshcmd_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
)

// server is an SSH server on this machine that hands what it is asked to run to a shell, as sshd does.
type server struct {
	address string
	hostKey string

	mu       sync.Mutex
	commands []string
	logins   int
	refuses  bool // variables
	drop     bool // the connection, once the command has begun
}

func signer(t *testing.T) ssh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	s, err := ssh.NewSignerFromKey(key)
	require.NoError(t, err)
	return s
}

func publicLine(s ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(s.PublicKey())))
}

// listen starts a server that lets the user agent in by the given key.
func listen(t *testing.T, user ssh.Signer) *server {
	t.Helper()
	host := signer(t)
	s := &server{hostKey: publicLine(host)}
	cfg := &ssh.ServerConfig{PublicKeyCallback: func(meta ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if meta.User() != "agent" || string(key.Marshal()) != string(user.PublicKey().Marshal()) {
			return nil, errors.New("nobody here knows you")
		}
		return nil, nil
	}}
	cfg.AddHostKey(host)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.address = l.Addr().String()
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() { s.serve(conn, cfg) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		served.Wait()
	})
	return s
}

func (s *server) serve(conn net.Conn, cfg *ssh.ServerConfig) {
	defer func() { _ = conn.Close() }()
	inner, channels, requests, err := ssh.NewServerConn(conn, cfg)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.logins++
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go ssh.DiscardRequests(requests)
	var sessions sync.WaitGroup
	for c := range channels {
		channel, asked, err := c.Accept()
		if err != nil {
			return
		}
		sessions.Go(func() { s.session(ctx, inner, channel, asked) })
	}
	cancel() // the client has gone
	sessions.Wait()
}

func (s *server) session(ctx context.Context, conn ssh.Conn, channel ssh.Channel, asked <-chan *ssh.Request) {
	defer func() { _ = channel.Close() }()
	env := []string{"PATH=/usr/bin:/bin"}
	for r := range asked {
		switch r.Type {
		case "env":
			var v struct{ Name, Value string }
			refused := ssh.Unmarshal(r.Payload, &v) != nil || s.refuses
			_ = r.Reply(!refused, nil)
			env = append(env, v.Name+"="+v.Value)
		case "exec":
			var v struct{ Command string }
			_ = r.Reply(ssh.Unmarshal(r.Payload, &v) == nil, nil)
			s.mu.Lock()
			s.commands = append(s.commands, v.Command)
			s.mu.Unlock()
			if s.drop {
				_, _ = io.WriteString(channel, "{")
				_ = conn.Close()
				return
			}
			s.exec(ctx, channel, v.Command, env)
			return
		default:
			_ = r.Reply(false, nil)
		}
	}
}

// exec runs the text in a shell: what a quoting fault would reach.
func (s *server) exec(ctx context.Context, channel ssh.Channel, command string, env []string) {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, channel, channel, channel.Stderr()
	cmd.WaitDelay = 100 * time.Millisecond // what the shell began may hold the channel
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		_, _ = channel.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Signal        string
			Dumped        bool
			Message, Lang string
		}{"KILL", false, "", ""}))
	case errors.As(err, &exit):
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(exit.ExitCode())}))
	default:
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{0}))
	}
}

func (s *server) seen() (logins int, commands []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.logins, append([]string(nil), s.commands...)
}
