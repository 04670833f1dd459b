// Command auditverify proves offline that a hash-chained audit file is as its writer left it, and says what it holds.
//
//	go run ./redact/audit/auditverify [-key ed25519:…] [-head 42:…] FILE
//
// FILE may be - for the standard input. With -key the file must be signed with that public key, and with -head (which
// may be given more than once) it must begin with that noted state: without them a file that was written again under
// another key, or an older copy, passes. See audit.Verify for what is found and what cannot be.
//
// The exit status is 0 for a file that is intact, 1 for one that is damaged or not what was noted, 2 where it could not
// be read.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcontract/toolcontract/redact/audit"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

const (
	intact = iota
	damaged
	unread
)

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("auditverify", flag.ContinueOnError)
	flags.SetOutput(stderr)
	key := flags.String("key", "", "the public key that the file must be signed with, as ed25519:…")
	var noted []audit.Head
	flags.Func("head", "a state that the file must begin with, as <events>:<chain>; may be repeated", func(text string) error {
		h, err := audit.ParseHead(text)
		noted = append(noted, h)
		return err
	})
	flags.Usage = func() {
		say(stderr, "usage: auditverify [-key ed25519:…] [-head <events>:<chain>] FILE\n")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return unread
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return unread
	}
	name := flags.Arg(0)
	in := stdin
	if name != "-" {
		f, err := os.Open(filepath.Clean(name))
		if err != nil {
			say(stderr, "auditverify: %v\n", err)
			return unread
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	s, err := audit.Inspect(in, noted...)
	switch {
	case errors.Is(err, audit.ErrDamaged):
		say(stdout, "%s: DAMAGED\n  %v\n", name, err)
		return damaged
	case err != nil:
		say(stderr, "auditverify: %v\n", err)
		return unread
	case *key != "" && *key != s.PublicKey:
		say(stdout, "%s: NOT THE FILE\n  it is signed with another key: %s\n", name, s.PublicKey)
		return damaged
	}
	report(stdout, name, s, *key != "", len(noted))
	return intact
}

func report(w io.Writer, name string, s audit.Summary, pinned bool, noted int) {
	say(w, "%s: intact\n", name)
	say(w, "  file   %s, begun %s\n", s.ID, s.Created.Format(time.RFC3339))
	say(w, "  events %d", s.Head.Events)
	if s.Head.Events > 0 {
		say(w, ", %s to %s", s.From.Format(time.RFC3339), s.To.Format(time.RFC3339))
	}
	say(w, "\n  key    %s", s.PublicKey)
	if !pinned {
		say(w, " (not compared: give -key)")
	}
	say(w, "\n  head   %s", s.Head)
	if noted == 0 {
		say(w, " (an older copy would pass: note it, and give it as -head next time)")
	}
	say(w, "\n")
}

// say writes; where that fails the exit status still says what was found.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
