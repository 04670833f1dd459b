// Package pgtest gives a test a PostgreSQL schema of its own. It knows no driver: the test hands one in.
package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"strings"
	"time"
)

// Variable names a server for the tests: a connection string in either of libpq's forms.
const Variable = "TOOLCONTRACT_POSTGRES"

const advice = "no PostgreSQL for this test: set " + Variable + " to a connection string, or run one on 127.0.0.1:5432 with a database test " +
	"that this user may write to, for example: docker run -d -p 5432:5432 -e POSTGRES_HOST_AUTH_METHOD=trust -e POSTGRES_DB=test postgres:17"

// T is what is used of a test: testing.TB has it.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(f func())
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
}

// Exec runs one or more statements on a connection of its own.
type Exec func(ctx context.Context, dsn, sql string) error

// Schema creates an empty schema and returns a connection string whose search_path is that schema alone. The schema is
// dropped when the test ends. Where there is no server the test is skipped with a line that says how to get one; when
// CI is set it fails.
func Schema(t T, exec Exec) (dsn string) {
	t.Helper()
	server := find(t, exec)
	name := schemaName(t)
	if err := exec(t.Context(), server, "CREATE SCHEMA "+name); err != nil {
		t.Fatalf("create schema: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := exec(ctx, server, "DROP SCHEMA "+name+" CASCADE"); err != nil {
			t.Errorf("drop schema: %v", err)
		}
	})
	return With(server, "search_path", name)
}

// With returns the connection string with one more parameter, in the string's own form. The value holds letters,
// digits, underscores and points only.
func With(dsn, parameter, value string) string {
	switch {
	case !strings.Contains(dsn, "://"):
		return dsn + " " + parameter + "=" + value
	case strings.Contains(dsn, "?"):
		return dsn + "&" + parameter + "=" + value
	}
	return dsn + "?" + parameter + "=" + value
}

// find returns the connection string of a server that answers.
func find(t T, exec Exec) string {
	t.Helper()
	candidates := []string{"postgres://127.0.0.1:5432/test", "postgres://postgres@127.0.0.1:5432/test"}
	if dsn := os.Getenv(Variable); dsn != "" { //nolint:forbidigo // a helper of tests: how they find a server
		candidates = []string{dsn}
	}
	var err error
	for _, dsn := range candidates {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err = exec(ctx, dsn, "SELECT 1")
		cancel()
		if err == nil {
			return dsn
		}
	}
	if os.Getenv("CI") != "" { //nolint:forbidigo // a helper of tests: a skip must not pass for a success there
		t.Fatalf("%s (%v)", advice, err)
	}
	t.Skipf("%s (%v)", advice, err)
	return ""
}

func schemaName(t T) string {
	t.Helper()
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		t.Fatalf("schema name: %v", err)
	}
	return "tc_" + hex.EncodeToString(b[:])
}
