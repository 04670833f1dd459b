package samples

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json/v2"
	"errors"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/toolcontract/toolcontract/tool"
	"github.com/toolcontract/toolcontract/validate"
	"github.com/toolcontract/toolcontract/validate/upstream"
	"github.com/toolcontract/toolcontract/validate/upstream/sshcmd"
)

type unitIn struct {
	Unit string `json:"unit" jsonschema:"pattern=^[a-z][a-z0-9-]{0\\,30}\\.service$"`
}

type unitOut struct {
	Unit  string `json:"unit" jsonschema:"pattern=^[a-z][a-z0-9-]{0\\,30}\\.service$"`
	State string `json:"state" jsonschema:"enum=active,enum=failed,enum=inactive"`
}

// remote asks another machine over SSH: a handshake, a pinned host key and a command for each call.
func remote() (tool.Definition, error) {
	m, err := newMachine()
	if err != nil {
		return nil, err
	}
	runner, err := sshcmd.New(sshcmd.Config{
		Address: "machine.example:22", HostKeys: []string{string(ssh.MarshalAuthorizedKey(m.host.PublicKey()))},
		Command: []string{"/usr/bin/unitctl", "show"}, Dial: m.dial,
		Client: func(context.Context, upstream.Caller) (*ssh.ClientConfig, error) {
			return &ssh.ClientConfig{User: "agent", Auth: []ssh.AuthMethod{ssh.PublicKeys(m.user)}}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	client, err := upstream.NewCommand(upstream.Command[unitIn, unitOut]{
		Operation: upstream.Operation[unitIn, unitOut]{
			Name: "units.show",
			Same: func(asked unitIn, got unitOut) error { return validate.Same("unit", asked.Unit, got.Unit) },
		},
		Runner: runner, Args: func(in unitIn) ([]string, error) { return []string{in.Unit}, nil },
	})
	if err != nil {
		return nil, err
	}
	return tool.Tool[unitIn, unitOut]{
		Spec: spec("show_unit", "Show the state of a unit."),
		Handle: func(ctx context.Context, by tool.Caller, in unitIn) (unitOut, error) {
			return client.Ask(ctx, upstream.Caller{Tenant: by.Principal.Tenant, Tool: by.Tool, RequestID: by.RequestID}, in)
		},
	}, nil
}

// machine is an SSH server for one connection at a time, which runs one program.
type machine struct {
	host, user ssh.Signer
	cfg        *ssh.ServerConfig
}

func newMachine() (*machine, error) {
	_, hostKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	_, userKey, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	m := &machine{}
	var errUser error
	m.host, err = ssh.NewSignerFromKey(hostKey)
	m.user, errUser = ssh.NewSignerFromKey(userKey)
	if err := errors.Join(err, errUser); err != nil {
		return nil, err
	}
	m.cfg = &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if string(key.Marshal()) != string(m.user.PublicKey().Marshal()) {
			return nil, errors.New("samples: nobody here knows you")
		}
		return &ssh.Permissions{}, nil
	}}
	m.cfg.AddHostKey(m.host)
	return m, nil
}

// dial connects to a server that serves this connection and ends with it.
func (m *machine) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	l, err := new(net.ListenConfig).Listen(ctx, network, "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		defer l.Close() //nolint:errcheck // it served its one connection
		if conn, err := l.Accept(); err == nil {
			m.serve(conn)
		}
	}()
	return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
}

func (m *machine) serve(conn net.Conn) {
	defer conn.Close()                                //nolint:errcheck // the client has gone
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) //nolint:forbidigo // a network's deadline is of real time
	_, channels, requests, err := ssh.NewServerConn(conn, m.cfg)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for c := range channels {
		channel, asked, err := c.Accept()
		if err != nil {
			return
		}
		go m.session(channel, asked)
	}
}

func (*machine) session(channel ssh.Channel, asked <-chan *ssh.Request) {
	defer channel.Close() //nolint:errcheck // the client has gone
	for r := range asked {
		var v struct{ Command string }
		if r.Type != "exec" || ssh.Unmarshal(r.Payload, &v) != nil {
			_ = r.Reply(false, nil)
			continue
		}
		_ = r.Reply(true, nil)
		words := strings.Fields(v.Command)
		unit := strings.Trim(words[len(words)-1], "'")
		if body, err := json.Marshal(unitOut{Unit: unit, State: "active"}); err == nil {
			_, _ = channel.Write(body)
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{0}))
		return
	}
}
