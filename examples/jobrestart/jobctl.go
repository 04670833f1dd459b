package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json/v2"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcontract/toolcontract/validate/upstream"
)

// recorded is what jobctl printed and how it ended, in shape.
//
//go:embed testdata/jobctl.jsonl
var recorded []byte

type recording struct {
	Name   string `json:"name"`
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	Exit   int    `json:"exit"`
}

func recordings() (map[string]recording, error) {
	out := map[string]recording{}
	lines := bufio.NewScanner(bytes.NewReader(recorded))
	for lines.Scan() {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r, json.RejectUnknownMembers(true)); err != nil {
			return nil, fmt.Errorf("the recordings: %w", err)
		}
		out[r.Name] = r
	}
	return out, lines.Err()
}

// The variables by which this program knows that it is to be jobctl, what to print, and what time it is there.
const asJobctl, jobctlTime = "JOBRESTART_RECORDING", "JOBRESTART_TIME"

// jobctl plays a recording, if this process is to be jobctl: the ids and the key are those of its arguments, as with
// the real one.
func jobctl(args []string, out, complaints io.Writer) (exit int, ok bool) {
	name, ok := os.LookupEnv(asJobctl)
	if !ok {
		return 0, false
	}
	all, err := recordings()
	if err != nil {
		return 70, true
	}
	r := all[name]
	fill := []string{"$now", os.Getenv(jobctlTime)}
	for _, a := range args {
		if flag, value, ok := strings.Cut(strings.TrimPrefix(a, "--"), "="); ok {
			fill = append(fill, "$"+flag, value)
		}
	}
	fmt.Fprint(out, strings.NewReplacer(fill...).Replace(r.Stdout))
	fmt.Fprint(complaints, r.Stderr)
	return r.Exit, true
}

// tape runs jobctl and says which recording each of its verbs plays. It counts what was run.
type tape struct {
	self string // this program
	now  func() time.Time

	mu    sync.Mutex
	plays map[string]string // by verb; "missing": there is no such program
	ran   []string
}

var _ upstream.Runner = (*tape)(nil)

const missing = "missing"

func (t *tape) play(verb, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plays[verb] = name
}

// count says how often a verb was run.
func (t *tape) count(verb string) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range t.ran {
		if v == verb {
			n++
		}
	}
	return n
}

func (t *tape) local(name string) upstream.Local {
	l := upstream.Local{Path: t.self, Env: map[string]string{
		asJobctl: name, jobctlTime: t.now().Add(-30 * time.Second).Format(time.RFC3339), // it looked half a minute ago
	}}
	if name == missing {
		l.Path = "/opt/jobctl/bin/jobctl-that-is-being-upgraded"
	}
	return l
}

// Check implements upstream.Runner.
func (t *tape) Check(args []string) error { return t.local("").Check(args) }

// Run implements upstream.Runner.
func (t *tape) Run(ctx context.Context, j upstream.Job) (int, error) {
	t.mu.Lock()
	verb := j.Args[0]
	name := t.plays[verb]
	if name != missing {
		t.ran = append(t.ran, verb)
	}
	t.mu.Unlock()
	j.Args = slices.Clone(j.Args)
	return t.local(name).Run(ctx, j)
}
