package sqliteledger

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"time"

	"github.com/toolcontract/toolcontract/envelope"
	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/idem/internal/stored"
	"github.com/toolcontract/toolcontract/internal/crashpoint"
)

// write runs f in a writing transaction and commits it unless f fails.
func (l *Ledger) write(ctx context.Context, f func(q querier) error) error {
	return patiently(ctx, func() error {
		tx, err := l.writer.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := f(l.writing.in(tx)); err != nil {
			_ = tx.Rollback() // the cause is err; a transaction that could not be rolled back dies with its connection
			return err
		}
		return tx.Commit()
	})
}

// update runs step on the row of k and commits what it changed, also when step refused: a refusal is no failure.
func (l *Ledger) update(ctx context.Context, op string, k idem.Key, reap bool, step func(r *row) error) (stored.View, error) {
	var v stored.View
	var refusal error
	err := l.write(ctx, func(q querier) error {
		r, err := l.load(ctx, q, k)
		if err != nil {
			return err
		}
		if reap {
			r.Reap(r.now)
		}
		restored := r.Restored
		refusal = step(r)
		r.Explain()
		if restored && !r.Restored {
			if _, err := q.ExecContext(ctx, "UPDATE ledger_meta SET waiting = waiting - 1"); err != nil {
				return err
			}
		}
		if err := save(ctx, q, &r.Row); err != nil {
			return err
		}
		v, err = look(ctx, q, r)
		return err
	})
	if err != nil {
		return stored.View{}, wrap(op, err)
	}
	if v.Due() {
		l.bell.Ring()
	}
	return v, refusal
}

func wrap(op string, err error) error { return stored.Wrap("sqlite", op, err) }

// Admit implements [idem.Ledger].
func (l *Ledger) Admit(ctx context.Context, c idem.Command, consumedBefore bool) (idem.Record, idem.Admission, error) {
	if err := c.Validate(); err != nil {
		return idem.Record{}, "", err
	}
	if consumedBefore { // most likely there: no need to wait for the file
		if v, err := l.peek(ctx, c.Key); !errors.Is(err, idem.ErrNotFound) {
			return l.replay(ctx, c, v, err)
		}
	}
	body, err := l.vault.SealBody(ctx, c.Key, c.Body)
	if err != nil {
		return idem.Record{}, "", wrap("admit", err)
	}
	var v stored.View
	there := false
	err = l.write(ctx, func(q querier) error {
		fresh, err := l.insertNew(ctx, q, c, consumedBefore, body)
		if err != nil {
			return err
		}
		if fresh != nil {
			v = stored.View{Row: fresh, Now: fresh.CreatedAt}
			crashpoint.Hit(crashpoint.InAdmit)
			return nil
		}
		r, err := l.load(ctx, q, c.Key)
		if err == nil {
			there = true
			v, err = look(ctx, q, r)
		}
		return err
	})
	if there || err != nil {
		return l.replay(ctx, c, v, wrap("admit", err))
	}
	l.bell.Ring()
	v.Command.Body = c.Body
	return v.Record(v.Now, nil, nil), idem.Admitted, nil
}

// insertNew returns no row where the key is there already.
func (l *Ledger) insertNew(ctx context.Context, q querier, c idem.Command, forgotten bool, body []byte) (*stored.Row, error) {
	r := new(stored.Row)
	var there, waiting bool
	var ms int64
	err := q.QueryRowContext(ctx, l.sql.admission, c.Key.Tenant, c.Key.Operation, c.Resource).Scan(&there, &waiting, &r.Slot.Seq, &r.Slot.Open, &ms)
	switch {
	case err != nil || there:
		return nil, err
	case waiting:
		return nil, idem.ErrBusy
	}
	if r.Entry, err = idem.NewEntry(time.UnixMilli(ms).UTC(), c, forgotten, &r.Slot); err != nil {
		return nil, err
	}
	r.Sealed.Body = body
	return r, insert(ctx, q, r)
}

// replay answers from a row that is there.
func (l *Ledger) replay(ctx context.Context, c idem.Command, v stored.View, err error) (idem.Record, idem.Admission, error) {
	var gone *idem.Gone
	switch {
	case errors.As(err, &gone):
		return stored.Tombstone(c.Key, gone), "", err
	case err != nil:
		return idem.Record{}, "", err
	case v.Overdue(v.Now):
		if v, err = l.update(ctx, "admit", v.Command.Key, true, nothing); err != nil {
			return idem.Record{}, "", err
		}
	}
	if v.Command.RequestHash != c.RequestHash {
		return idem.Record{}, "", idem.ErrConflict
	}
	how := idem.InProgress
	if v.State.Terminal() {
		how = idem.Replayed
	}
	rec, err := l.vault.Record(ctx, v)
	return rec, how, wrap("admit", err)
}

func nothing(*row) error { return nil }

// take is update for a step that hands out a claim.
func (l *Ledger) take(ctx context.Context, op string, k idem.Key, lease time.Duration, step func(r *row) (idem.Claim, error)) (idem.Claim, error) {
	var c idem.Claim
	v, err := l.update(ctx, op, k, true, func(r *row) (err error) {
		c, err = step(r)
		return err
	})
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
	token := rand.Text()
	return l.take(ctx, "claim", k, lease, func(r *row) (idem.Claim, error) {
		return r.Claim(r.now, &r.Slot, r.waiting, token, worker, lease)
	})
}

// ClaimOpen implements [idem.Ledger].
func (l *Ledger) ClaimOpen(ctx context.Context, k idem.Key, worker string, lease time.Duration) (idem.Claim, error) {
	token := rand.Text()
	return l.take(ctx, "claim open", k, lease, func(r *row) (idem.Claim, error) {
		return r.ClaimOpen(r.now, token, worker, lease)
	})
}

// Resend implements [idem.Ledger].
func (l *Ledger) Resend(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	token := rand.Text()
	return l.take(ctx, "resend", c.Key, lease, func(r *row) (idem.Claim, error) {
		return r.Resend(r.now, c, r.waiting, token, lease)
	})
}

// Renew implements [idem.Ledger].
func (l *Ledger) Renew(ctx context.Context, c idem.Claim, lease time.Duration) (idem.Claim, error) {
	var renewed idem.Claim
	_, err := l.update(ctx, "renew", c.Key, true, func(r *row) (err error) {
		renewed, err = r.Renew(r.now, c, lease)
		return err
	})
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
	v, err := l.update(ctx, "finish", c.Key, false, func(r *row) error {
		return r.FinishSealed(r.now, c, o, s)
	})
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

// keep stores a late outcome as evidence.
func (l *Ledger) keep(ctx context.Context, v stored.View, c idem.Claim, o idem.Outcome) error {
	e, ok := v.Late(v.Now, c, o)
	if !ok {
		return nil
	}
	s, err := l.vault.SealLate(ctx, c.Key, e)
	if err != nil {
		return err
	}
	return l.write(ctx, func(q querier) error {
		now, err := l.now(ctx, q)
		if err != nil {
			return err
		}
		return run(ctx, q, stmt{`INSERT INTO agent_evidence SELECT tenant_id, operation_id, ?, ?, ?, ?, ?, ? FROM agent_command
			WHERE tenant_id = ? AND operation_id = ? AND tomb_at IS NULL ON CONFLICT DO NOTHING`, []any{
			e.Generation, o.State, toMicros(now), o.Receipt, s.Result, s.Failure, c.Key.Tenant, c.Key.Operation,
		}})
	})
}

// Close implements [idem.Ledger].
func (l *Ledger) Close(ctx context.Context, k idem.Key, to idem.State, reason envelope.Code) (idem.Record, error) {
	v, refusal := l.update(ctx, "close", k, true, func(r *row) error {
		return r.Close(r.now, to, reason)
	})
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
	v, err := l.update(ctx, "resolve", k, true, func(r *row) error {
		return r.ResolveSealed(r.now, res, s)
	})
	if err != nil {
		return idem.Record{}, err
	}
	return l.vault.Show(ctx, v), nil
}

// peek reads a row without waiting for writers.
func (l *Ledger) peek(ctx context.Context, k idem.Key) (stored.View, error) {
	r, err := loaded(scan(l.reading.queryRow(ctx, l.reader, l.sql.one, k.Tenant, k.Operation)))
	switch {
	case err != nil:
		return stored.View{}, err
	case r.late || r.Dispatches > 1: // more than one statement has to see the same
		return l.peekWhole(ctx, k)
	}
	return look(ctx, l.reader, r)
}

func (l *Ledger) peekWhole(ctx context.Context, k idem.Key) (v stored.View, err error) {
	tx, err := l.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return stored.View{}, err
	}
	defer tx.Rollback() //nolint:errcheck // it wrote nothing
	q := l.reading.in(tx)
	r, err := l.load(ctx, q, k)
	if err != nil {
		return stored.View{}, err
	}
	return look(ctx, q, r)
}

// Find implements [idem.Ledger].
func (l *Ledger) Find(ctx context.Context, k idem.Key) (idem.Record, error) {
	v, err := l.peek(ctx, k)
	var gone *idem.Gone
	switch {
	case errors.As(err, &gone):
		return stored.Tombstone(k, gone), err
	case err != nil:
		return idem.Record{}, wrap("find", err)
	case v.Overdue(v.Now):
		if v, err = l.update(ctx, "find", k, true, nothing); err != nil {
			return idem.Record{}, err
		}
	}
	rec, err := l.vault.Record(ctx, v)
	return rec, wrap("find", err)
}

// Resource implements [idem.Ledger].
func (l *Ledger) Resource(ctx context.Context, tenant, resource string) (seq int64, open string, err error) {
	err = l.reader.QueryRowContext(ctx, `SELECT coalesce(r.seq, m.floor), coalesce(r.open_operation, '')
		FROM ledger_meta m LEFT JOIN agent_resource r ON r.tenant_id = ? AND r.resource = ?`, tenant, resource).Scan(&seq, &open)
	return seq, open, wrap("resource", err)
}
