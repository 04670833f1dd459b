package proctest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/proctest"
)

func TestMain(m *testing.M) {
	proctest.Main(func(arg string, begin func()) (string, error) {
		switch arg {
		case "early":
			return "", errors.New("no")
		case "late":
			begin()
			return "", errors.New("no")
		}
		begin()
		return arg + " " + strconv.Itoa(os.Getpid()), nil
	})
	os.Exit(m.Run())
}

func TestRace(t *testing.T) {
	t.Parallel()
	pids := map[string]bool{strconv.Itoa(os.Getpid()): true}
	for i, line := range proctest.Race(t, "a", "b", "c") {
		name, pid, _ := strings.Cut(line, " ")
		require.Equal(t, string(rune('a'+i)), name)
		require.False(t, pids[pid], "a process of its own")
		pids[pid] = true
	}
}

type recorder struct {
	t    *testing.T
	said string
}

func (r *recorder) Helper()                  {}
func (r *recorder) Context() context.Context { return r.t.Context() }
func (r *recorder) Fatalf(format string, args ...any) {
	r.said = fmt.Sprintf(format, args...)
	panic(r)
}

func TestAChildThatFails(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{"early": "did not get ready", "late": "a child failed"} {
		r := &recorder{t: t}
		func() {
			defer func() { _ = recover() }()
			proctest.Race(r, arg)
		}()
		require.Contains(t, r.said, want)
		require.Contains(t, r.said, "no\n", "with its complaint")
	}
}
