// Package sshcmd runs the commands of package upstream on another machine, over SSH.
//
// The machine is known by its pinned host key and by nothing else; the command is fixed by the definition, and an
// argument that a shell could read as anything but one word is refused, never quoted. Of standard output one JSON
// document is the answer; standard error is for the operators; the exit status decides first: all as package upstream
// has it for a local command.
//
//	runner, err := sshcmd.New(sshcmd.Config{
//		Address:  "ci-1.example.com:22",
//		HostKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA…"},
//		Command:  []string{"/usr/local/bin/jobctl", "show"},
//		Client: func(ctx context.Context, by upstream.Caller) (*ssh.ClientConfig, error) {
//			return &ssh.ClientConfig{User: "agent", Auth: keys.For(by.Tenant)}, nil
//		},
//	})
//	jobs, err := upstream.NewCommand(upstream.Command[jobQuery, jobRun]{Runner: runner, …})
//
// Guarantees: no connection is made to a machine with another key; nothing is sent to a shell that is more than one
// word for each argument; no bytes of the request leave before envelope.Sent.
//
// Not its business: a command that goes on at the other end after the connection is gone (give it a limit of its own
// there), agent and port forwarding, interactive sessions, files.
package sshcmd
