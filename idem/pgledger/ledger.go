package pgledger

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
	"github.com/toolcontract/toolcontract/internal/storable"
)

func wrap(op string, err error) error { return stored.Wrap("postgres", op, err) }

// take is update for a step that hands out a claim under a fresh token.
func (l *Ledger) take(ctx context.Context, op string, k idem.Key, lease time.Duration, s func(n now, r *row, token string) (idem.Claim, error)) (idem.Claim, error) {
	var c idem.Claim
	token := rand.Text()
	v, err := l.update(ctx, op, k, true, func(n now, r *row) (err error) {
		c, err = s(n, r, token)
		return err
	}, func(r *row) bool { return r.Token == token })
	if err != nil {
		return idem.Claim{}, err
	}
	if c.Command.Body, err = l.vault.OpenBody(ctx, k, v.Sealed.Body); err != nil {
		// Nobody can send what does not open: the claim is given back.
		_, back := l.Finish(ctx, c, idem.Outcome{State: idem.Pending, RetryAfter: lease})
		return idem.Claim{}, wrap(op, errors.Join(err, back))
	}
	return c, nil
}

// Claim implements [idem.Ledger].
func (l *Ledger) Claim(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	return l.take(ctx, "claim", k, lease, func(n now, r *row, token string) (idem.Claim, error) {
		return r.Claim(n.time, &r.Slot, n.waiting, token, worker, lease)
	})
}

// ClaimOpen implements [idem.Ledger].
func (l *Ledger) ClaimOpen(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	return l.take(ctx, "claim open", k, lease, func(n now, r *row, token string) (idem.Claim, error) {
		return r.ClaimOpen(n.time, token, worker, lease)
	})
}

// Resend implements [idem.Ledger].
func (l *Ledger) Resend(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	return l.take(ctx, "resend", c.Key, lease, func(n now, r *row, token string) (idem.Claim, error) {
		return r.Resend(n.time, c, n.waiting, token, lease)
	})
}

// Renew implements [idem.Ledger].
func (l *Ledger) Renew(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	var renewed idem.Claim
	_, err := l.update(ctx, "renew", c.Key, true, func(n now, r *row) (err error) {
		renewed, err = r.Renew(n.time, c, lease)
		return err
	}, nil)
	return renewed, err
}

// Finish implements [idem.Ledger].
func (l *Ledger) Finish(ctx context.Context, c idem.Claim, o idem.Outcome) (idem.Record, error) {
	if err := o.Validate(); err != nil {
		return idem.Record{}, err
	}
	s, err := l.vault.SealOutcome(ctx, c.Key, o)
	if err != nil {
		return idem.Record{}, wrap("finish", err)
	}
	v, err := l.update(ctx, "finish", c.Key, false, func(n now, r *row) error {
		return r.FinishSealed(n.time, c, o, s)
	}, nil)
	if errors.Is(err, idem.ErrFenced) {
		if kept := l.keep(ctx, v, c, o); kept != nil {
			return idem.Record{}, wrap("keep evidence", kept)
		}
	}
	if err != nil {
		return idem.Record{}, err
	}
	rec, err := l.vault.Record(ctx, v)
	return rec, wrap("finish", err)
}

// keep stores a late outcome as evidence, once.
func (l *Ledger) keep(ctx context.Context, v stored.View, c idem.Claim, o idem.Outcome) error {
	e, ok := v.Late(v.Now, c, o)
	if !ok {
		return nil
	}
	s, err := l.vault.SealLate(ctx, c.Key, e)
	if err != nil {
		return err
	}
	return l.retry(ctx, func(conn *pgxpool.Conn) error {
		b := &pgx.Batch{}
		l.secure(b, c.Key.Tenant)
		b.Queue(`WITH kept AS (
			INSERT INTO agent_evidence SELECT tenant_id, operation_id, $3, $4, $5, $6, $7, $8 FROM agent_command
			WHERE tenant_id = $1 AND operation_id = $2 AND tomb_at IS NULL FOR UPDATE ON CONFLICT DO NOTHING RETURNING 1
		) UPDATE agent_command SET late = late + 1 WHERE tenant_id = $1 AND operation_id = $2 AND EXISTS (SELECT FROM kept)`,
			c.Key.Tenant, c.Key.Operation, e.Generation, string(o.State), e.At, o.Receipt, s.Result, s.Failure)
		return conn.SendBatch(ctx, b).Close()
	})
}

// Close implements [idem.Ledger].
func (l *Ledger) Close(ctx context.Context, k idem.Key, to idem.State, reason envelope.Code) (idem.Record, error) {
	v, refusal := l.update(ctx, "close", k, true, func(n now, r *row) error {
		return r.Close(n.time, to, reason)
	}, func(r *row) bool { return r.State == to })
	if v.Row == nil {
		return idem.Record{}, refusal
	}
	return l.vault.Show(ctx, v), refusal
}

// Resolve implements [idem.Ledger].
func (l *Ledger) Resolve(ctx context.Context, k idem.Key, res idem.Resolution) (idem.Record, error) {
	if err := res.Validate(); err != nil {
		return idem.Record{}, err
	}
	s, err := l.vault.SealResolution(ctx, k, res)
	if err != nil {
		return idem.Record{}, wrap("resolve", err)
	}
	v, err := l.update(ctx, "resolve", k, true, func(n now, r *row) error {
		return r.ResolveSealed(n.time, res, s)
	}, func(r *row) bool { return bytes.Equal(r.Sealed.Word, s.Word) })
	if err != nil {
		return idem.Record{}, err
	}
	return l.vault.Show(ctx, v), nil
}

// Find implements [idem.Ledger].
func (l *Ledger) Find(ctx context.Context, k idem.Key) (idem.Record, error) {
	v, err := l.seen(ctx, "find", k)
	var gone *idem.Gone
	if errors.As(err, &gone) {
		return stored.Tombstone(k, gone), err
	}
	if err != nil {
		return idem.Record{}, err
	}
	rec, err := l.vault.Record(ctx, v)
	return rec, wrap("find", err)
}

// seen is what whoever reads a row sees: an overdue one is put right first.
func (l *Ledger) seen(ctx context.Context, op string, k idem.Key) (stored.View, error) {
	if !storable.Text(k.Tenant, k.Operation) {
		return stored.View{}, idem.ErrNotFound
	}
	v, err := l.peek(ctx, k)
	if err != nil {
		return v, wrap(op, err)
	}
	if v.Overdue(v.Now) {
		return l.update(ctx, op, k, true, func(now, *row) error { return nil }, nil)
	}
	return v, nil
}

// peek reads a row without locking it, in one round trip where it has one attempt and no evidence.
func (l *Ledger) peek(ctx context.Context, k idem.Key) (v stored.View, err error) {
	err = l.retry(ctx, func(conn *pgxpool.Conn) (err error) {
		v, err = l.peekOn(ctx, conn, k)
		return err
	})
	return v, err
}

func (l *Ledger) peekOn(ctx context.Context, conn *pgxpool.Conn, k idem.Key) (v stored.View, err error) {
	r, now, err := l.shown(ctx, conn, k)
	if err != nil {
		return stored.View{}, err
	}
	v.Row, v.Now = &r.Row, now
	b := &pgx.Batch{}
	r.look(b, &v)
	if b.Len() == 0 {
		return v, nil
	}
	return v, l.send(ctx, conn, k.Tenant, b)
}

// Resource implements [idem.Ledger].
func (l *Ledger) Resource(ctx context.Context, tenant, resource string) (seq int64, open string, err error) {
	if !storable.Text(tenant, resource) {
		tenant, resource = "", "" // nobody's either
	}
	err = l.retry(ctx, func(conn *pgxpool.Conn) error {
		_, err := one(ctx, l, conn, tenant, `SELECT coalesce(r.seq, m.floor), coalesce(r.open_operation, '')
			FROM ledger_meta m LEFT JOIN agent_resource r ON r.tenant_id = $1 AND r.resource = $2`, []any{tenant, resource}, func(from pgx.Row) (struct{}, error) {
			return struct{}{}, from.Scan(&seq, &open)
		})
		return err
	})
	return seq, open, wrap("resource", err)
}

// one reads one row; where the tables' policies need the tenant, in one transaction with it, and still one round trip.
func one[T any](ctx context.Context, l *Ledger, conn *pgxpool.Conn, tenant, sql string, args []any, scan func(pgx.Row) (T, error)) (t T, err error) {
	if !l.rls {
		return scan(conn.QueryRow(ctx, sql, args...))
	}
	b := &pgx.Batch{}
	l.secure(b, tenant)
	b.Queue(sql, args...)
	br := conn.SendBatch(ctx, b)
	defer func() {
		if e := br.Close(); err == nil {
			err = e
		}
	}()
	if _, err := br.Exec(); err != nil {
		return t, err
	}
	return scan(br.QueryRow())
}

// send runs a batch that needs no answer but its callbacks'.
func (l *Ledger) send(ctx context.Context, conn *pgxpool.Conn, tenant string, b *pgx.Batch) error {
	if !l.rls {
		return conn.SendBatch(ctx, b).Close()
	}
	secured := &pgx.Batch{}
	l.secure(secured, tenant)
	secured.QueuedQueries = append(secured.QueuedQueries, b.QueuedQueries...)
	return conn.SendBatch(ctx, secured).Close()
}
