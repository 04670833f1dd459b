package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// script is the ledger's statements for pgbench, with the same arguments but for the operation, which is :op.
type script struct {
	text string
	args []string // -D name=value
}

// newScript writes the statements down. set is the line that makes :op; the arguments that are the operation or the
// resource were the text op when the statements were sent.
func newScript(ctx context.Context, conn *pgx.Conn, rounds []roundTrip, op, set string) (script, error) {
	var s script
	var text strings.Builder
	text.WriteString(set + "\n")
	for _, r := range rounds {
		if len(r) > 1 {
			text.WriteString("\\startpipeline\n")
		}
		for _, q := range r {
			sql, err := s.statement(ctx, conn, q, op)
			if err != nil {
				return s, fmt.Errorf("%s: %w", q.sql, err)
			}
			text.WriteString(sql + ";\n")
		}
		if len(r) > 1 {
			text.WriteString("\\endpipeline\n")
		}
	}
	s.text = text.String()
	return s, nil
}

var parameter = regexp.MustCompile(`\$[0-9]+`)

// statement replaces $n by a variable of pgbench, which sends it as a parameter again, and NULL and
// the empty text by themselves: a variable cannot be either.
func (s *script) statement(ctx context.Context, conn *pgx.Conn, q sent, op string) (string, error) {
	d, err := conn.Prepare(ctx, "", q.sql)
	if err != nil {
		return "", err
	}
	names := map[string]string{}
	for i, oid := range d.ParamOIDs {
		key := "$" + strconv.Itoa(i+1)
		if q.args[i] == op {
			names[key] = ":op"
			continue
		}
		text, err := conn.TypeMap().Encode(oid, pgtype.TextFormatCode, q.args[i], []byte{})
		if err != nil {
			return "", err
		}
		switch {
		case text == nil:
			names[key] = "NULL"
			continue
		case len(text) == 0:
			names[key] = "''"
			continue
		}
		name := "v" + strconv.Itoa(len(s.args)+1)
		s.args = append(s.args, name+"="+string(text))
		names[key] = ":" + name
	}
	return parameter.ReplaceAllStringFunc(q.sql, func(p string) string { return names[p] }), nil
}

var rate = regexp.MustCompile(`tps = ([0-9.]+) \(without`)

// bench runs the script by pgbench -M prepared.
func (s script) bench(dir, name, dsn string, clients int) (side, error) {
	path, err := findPgbench()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, name+".sql")
	if err := os.WriteFile(file, []byte(s.text), 0o600); err != nil {
		return nil, err
	}
	return func(ctx context.Context, d time.Duration) (float64, error) {
		args := []string{"-M", "prepared", "-n", "-c", strconv.Itoa(clients), "-j", "2", "-T", strconv.Itoa(int(max(d.Seconds(), 1))), "-f", file}
		for _, a := range s.args {
			args = append(args, "-D", a)
		}
		out, err := exec.CommandContext(ctx, path, append(args, dsn)...).CombinedOutput() //nolint:gosec // pgbench, by this program's own arguments
		if err != nil {
			return 0, fmt.Errorf("pgbench: %w: %s", err, out)
		}
		m := rate.FindSubmatch(out)
		if m == nil || !strings.Contains(string(out), "number of failed transactions: 0 ") {
			return 0, fmt.Errorf("pgbench says something else: %s", out)
		}
		return strconv.ParseFloat(string(m[1]), 64)
	}, nil
}

func findPgbench() (string, error) {
	if p, err := exec.LookPath("pgbench"); err == nil {
		return p, nil
	}
	all, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	if err != nil || len(all) == 0 {
		return "", errors.New("no pgbench: apt-get install postgresql-contrib, or put it on PATH")
	}
	return all[len(all)-1], nil
}
