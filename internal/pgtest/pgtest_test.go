package pgtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcontract/toolcontract/internal/pgtest"
)

func TestWith(t *testing.T) {
	t.Parallel()
	require.Equal(t, "host=a dbname=b search_path=s", pgtest.With("host=a dbname=b", "search_path", "s"))
	require.Equal(t, "postgres://a/b?search_path=s", pgtest.With("postgres://a/b", "search_path", "s"))
	require.Equal(t, "postgres://a/b?x=y&search_path=s", pgtest.With("postgres://a/b?x=y", "search_path", "s"))
}

func TestSchema(t *testing.T) {
	t.Setenv(pgtest.Variable, "host=a")
	var ran []string
	ok := t.Run("with a server", func(t *testing.T) {
		dsn := pgtest.Schema(t, func(_ context.Context, dsn, sql string) error {
			require.Equal(t, "host=a", dsn)
			ran = append(ran, sql)
			return nil
		})
		require.Regexp(t, `^host=a search_path=tc_[0-9a-f]{16}$`, dsn)
	})
	require.True(t, ok)
	require.Len(t, ran, 3)
	require.Equal(t, "SELECT 1", ran[0])
	name, found := strings.CutPrefix(ran[1], "CREATE SCHEMA ")
	require.True(t, found)
	require.Equal(t, "DROP SCHEMA "+name+" CASCADE", ran[2])
}

// recorder stands in for the test that asks.
type recorder struct {
	pgtest.T
	said string
}

type stopped struct{}

func (r *recorder) Skipf(string, ...any)  { r.said = "skip"; panic(stopped{}) }
func (r *recorder) Fatalf(string, ...any) { r.said = "fail"; panic(stopped{}) }

func (r *recorder) ask(exec pgtest.Exec) (s string) {
	defer func() {
		if _, ok := recover().(stopped); ok {
			s = r.said
		}
	}()
	return pgtest.Schema(r, exec)
}

func TestWithoutServer(t *testing.T) {
	t.Setenv(pgtest.Variable, "")
	tried := 0
	down := func(context.Context, string, string) error { tried++; return errors.New("down") }
	t.Setenv("CI", "")
	require.Equal(t, "skip", (&recorder{T: t}).ask(down))
	require.Equal(t, 2, tried, "both usual users")
	t.Setenv("CI", "1")
	require.Equal(t, "fail", (&recorder{T: t}).ask(down))
}
