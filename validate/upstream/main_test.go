package upstream_test

import (
	"bufio"
	"context"
	"encoding/json/v2"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// helper is the variable by which the test binary, run again, knows that it is to be a command.
const helper = "UPSTREAM_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helper) != "" {
		os.Exit(act(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// act is the command that the tests run. What it does is its first argument.
func act(args []string) int {
	switch args[0] {
	case "emit": // the files' bytes on standard output and standard error, then the exit status
		for i, f := range []*os.File{os.Stdout, os.Stderr} {
			text, err := os.ReadFile(args[1+i])
			if err != nil {
				return 99
			}
			if _, err := f.Write(text); err != nil {
				return 98
			}
		}
		code, err := strconv.Atoi(args[3])
		if err != nil {
			return 97
		}
		return code
	case "about": // what it finds around itself
		return about(args[1:])
	case "flood": // so many kilobytes, then the exit status
		return flood(args[1], args[2])
	case "wait": // says so, then waits to be killed
		fmt.Println("{")
		time.Sleep(time.Minute)
	case "child": // leaves a child that holds standard output, in the same group or, with escape, in one of its own
		return child(args[1], len(args) > 2)
	case "linger":
		time.Sleep(time.Minute)
	}
	return 96
}

func about(args []string) int {
	dir, _ := os.Getwd()
	stdin, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	secret := os.Getenv("TOKEN")
	if path, ok := strings.CutPrefix(secret, "/dev/fd/"); ok {
		text, err := os.ReadFile("/dev/fd/" + path)
		if err != nil {
			return 95
		}
		secret = "through " + path + ": " + string(text)
	}
	environ := os.Environ()
	for i := range environ {
		environ[i], _, _ = strings.Cut(environ[i], "=")
	}
	text, err := json.Marshal(map[string]any{
		"args": args, "dir": dir, "stdin": len(stdin), "env": environ, "secret_length": len(secret), "by_descriptor": strings.HasPrefix(secret, "through 3: "),
	})
	if err != nil {
		return 94
	}
	fmt.Println(string(text))
	return 0
}

func flood(kilobytes, exit string) int {
	n, _ := strconv.Atoi(kilobytes)
	for range n {
		if _, err := os.Stdout.Write(make([]byte, 1024)); err != nil {
			return 93
		}
	}
	code, _ := strconv.Atoi(exit)
	return code
}

func child(pidFile string, escape bool) int {
	cmd := exec.CommandContext(context.Background(), os.Args[0], "linger")
	cmd.Env, cmd.Stdout = os.Environ(), os.Stdout
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: escape}
	if err := cmd.Start(); err != nil {
		return 92
	}
	if err := os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		return 91
	}
	fmt.Println(`{"change_id":"CR-4471","decision":"approved","reviewed_by":"harbor-desk"}`)
	return 0
}
