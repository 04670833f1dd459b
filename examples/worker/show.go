package main

import (
	"bufio"
	"context"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcontract/toolcontract/idem"
)

// show starts everything, kills one worker, and prints what came of it.
func show(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	drop, err := makeSchema(ctx)
	if err != nil {
		return err
	}
	defer drop()
	b, err := openBank(ctx)
	if err != nil {
		return err
	}
	defer b.server.Close() //nolint:errcheck // ends with the program
	if err := errors.Join(os.Setenv(bankVariable, b.address), migrate(ctx)); err != nil {
		return err
	}
	h, err := newHost(ctx)
	if err != nil {
		return err
	}
	defer h.close()

	ids, err := submitted(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("A submitting process queued %d transfers and ended.\n", len(ids))
	killed := make(chan int, 1)
	b.third = func(pid int) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		killed <- pid
	}
	one, err := startWorker(ctx, "worker one")
	if err != nil {
		return err
	}
	two, err := startWorker(ctx, "worker two")
	if err != nil {
		return err
	}
	fmt.Println("Worker one and worker two take them from the outbox.")
	select {
	case pid := <-killed:
		name, left := "worker one", two
		if pid == two.Process.Pid {
			name, left = "worker two", one
		}
		fmt.Printf("The bank has done the third request of %s and not answered it; %s is killed (SIGKILL).\n\n", name, name)
		err = wait(ctx, h.ledger, ids)
		_ = left.Process.Signal(syscall.SIGTERM)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	_ = one.Wait()
	_ = two.Wait()
	if err != nil {
		return err
	}
	return table(ctx, h.ledger, b, ids)
}

// submitted runs the submitting process and returns its proposals.
func submitted(ctx context.Context) ([]string, error) {
	cmd, err := self(ctx, "-as", "submit")
	if err != nil {
		return nil, err
	}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("submit: %w", err)
	}
	var ids []string
	for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
		ids = append(ids, s.Text())
	}
	return ids, nil
}

func startWorker(ctx context.Context, name string) (*exec.Cmd, error) {
	cmd, err := self(ctx, "-as", "work", "-name", name)
	if err != nil {
		return nil, err
	}
	return cmd, cmd.Start()
}

func self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path, args...) //nolint:gosec // this program
	cmd.Stderr = os.Stderr
	return cmd, nil
}

// wait returns when every operation has ended.
func wait(ctx context.Context, ledger idem.Ledger, ids []string) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		open := 0
		for _, id := range ids {
			rec, err := ledger.Find(ctx, key(id))
			if err != nil {
				return err
			}
			if !rec.State.Terminal() {
				open++
			}
		}
		if open == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d operations have not ended: %w", open, context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func key(proposal string) idem.Key {
	return idem.Key{Tenant: tenant, Operation: idem.OperationID(tenant, proposal)}
}

// table sets the ledger's word beside the bank's.
func table(ctx context.Context, ledger idem.Ledger, b *bank, ids []string) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "account\tledger\tattempts\trequests at the bank\teffects at the bank\t")
	fmt.Fprintln(w, "───────\t──────\t────────\t────────────────────\t───────────────────\t")
	wrong, twice := 0, 0
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, id := range ids {
		rec, err := ledger.Find(ctx, key(id))
		if err != nil {
			return err
		}
		account := fmt.Sprintf("acct_%02d", i+1)
		workers := make([]string, 0, len(rec.Attempts))
		for _, a := range rec.Attempts {
			workers = append(workers, a.Worker)
		}
		if len(slices.Compact(workers)) > 1 || b.asked[account] > 1 {
			twice++
		}
		if rec.State != idem.Succeeded || b.payments[account] != 1 {
			wrong++
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t\n", account, rec.State, strings.Join(workers, ", then "), b.asked[account], b.payments[account])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch {
	case wrong > 0:
		return &wrongError{strconv.Itoa(wrong) + " transfers do not have exactly one effect"}
	case twice == 0:
		return &wrongError{"no transfer was asked for twice: the killed worker left nothing behind"}
	}
	fmt.Printf("\n✓ one effect each; %d asked for twice, because the worker that had sent it was killed before it knew\n", twice)
	return nil
}

var errNoServer = errors.New("no PostgreSQL answers: set TOOLCONTRACT_POSTGRES to a connection string, or run one, for example\n" +
	"  docker run -d -p 5432:5432 -e POSTGRES_HOST_AUTH_METHOD=trust -e POSTGRES_DB=test postgres:17")

// makeSchema makes a PostgreSQL schema of the example's own.
func makeSchema(ctx context.Context) (drop func(), err error) {
	dsn := os.Getenv("TOOLCONTRACT_POSTGRES")
	if dsn == "" {
		dsn = "postgres://postgres@127.0.0.1:5432/test"
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, errNoServer
	}
	schema := "example_worker_" + strconv.Itoa(os.Getpid())
	if _, err := conn.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
		return nil, err
	}
	return func() {
		ctx := context.WithoutCancel(ctx)
		_, _ = conn.Exec(ctx, "DROP SCHEMA "+schema+" CASCADE")
		_ = conn.Close(ctx)
	}, errors.Join(os.Setenv(dsnVariable, dsn), os.Setenv(schemaVariable, schema))
}

func proposalID(data jsontext.Value) (string, error) {
	var v struct {
		ProposalID string `json:"proposal_id"`
	}
	return v.ProposalID, json.Unmarshal(data, &v)
}
