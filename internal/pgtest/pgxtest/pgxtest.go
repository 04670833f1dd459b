// Package pgxtest is pgtest's way to a server, by pgx, and a schema for commands that measure or kill.
package pgxtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcontract/toolcontract/internal/pgtest"
)

// Exec runs one or more statements on a connection of its own; it is a [pgtest.Exec].
func Exec(ctx context.Context, dsn, sql string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// Schema makes an empty schema on the server of the tests, for a command that is no test: the server's connection
// string, the schema's name, and what drops it with all that is in it.
func Schema(ctx context.Context, prefix string) (server, schema string, drop func(), err error) {
	server = os.Getenv(pgtest.Variable) //nolint:forbidigo // as pgtest finds it
	if server == "" {
		server = "postgres://postgres@127.0.0.1:5432/test"
	}
	schema = prefix + "_" + strconv.FormatInt(time.Now().UnixNano(), 36) //nolint:forbidigo // a name that no other has
	if err := Exec(ctx, server, "CREATE SCHEMA "+schema); err != nil {
		return "", "", nil, fmt.Errorf("no PostgreSQL: set %s, or run one on 127.0.0.1:5432 with a database test: %w", pgtest.Variable, err)
	}
	return server, schema, func() {
		_ = Exec(context.WithoutCancel(ctx), server, "DROP SCHEMA "+schema+" CASCADE") // nothing there is needed again
	}, nil
}
