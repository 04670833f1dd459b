package sshcmd_test

import (
	"context"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/toolcontract/toolcontract/validate/upstream"
	"github.com/toolcontract/toolcontract/validate/upstream/sshcmd"
)

// The machine's key is pinned, the command is fixed, and an argument is one word or none.
func ExampleNew() {
	runner, err := sshcmd.New(sshcmd.Config{
		Address:  "ci-1.example.com:22",
		HostKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEJ9rN6GJh8QyTtKRsTmJzVt0pqb9TTXcYXnIYqVXTtC"},
		Command:  []string{"/usr/local/bin/jobctl", "show"},
		Client: func(_ context.Context, by upstream.Caller) (*ssh.ClientConfig, error) {
			return &ssh.ClientConfig{User: "agent-" + by.Tenant}, nil // and how it authenticates
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(runner.Check([]string{"--run", "run_4711"}))
	fmt.Println(runner.Check([]string{"--run", "run_4711; rm -rf /"}))
	// Output:
	// <nil>
	// sshcmd: an argument is more to a shell than one word, or too long
}
