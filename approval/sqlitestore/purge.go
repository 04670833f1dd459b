package sqlitestore

import (
	"context"
	"database/sql"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// purgeBatch is how many proposals one transaction of Purge touches: others write in between.
const purgeBatch = 500

// Purge implements [approval.Purger]. It is a transaction for each few hundred proposals; what it has done stays done
// when it ends with an error.
func (s *Store) Purge(ctx context.Context, bodies, tombstones time.Duration) (int, error) {
	if err := approval.CheckRetention(bodies, tombstones); err != nil {
		return 0, err
	}
	now := s.now()
	gone, err := s.purge(ctx, now.Add(-tombstones), forget)
	if err != nil {
		return gone, wrap("purge", err)
	}
	erased, err := s.purge(ctx, now.Add(-bodies), erase)
	if err != nil {
		return gone + erased, wrap("purge", err)
	}
	return gone + erased, nil
}

func (s *Store) purge(ctx context.Context, until time.Time, step func(ctx context.Context, tx *sql.Tx, until int64) (int, error)) (int, error) {
	total := 0
	for {
		n := 0
		err := s.writing(ctx, func(tx *sql.Tx) error {
			var err error
			n, err = step(ctx, tx, until.UnixNano())
			return err
		})
		if err != nil {
			return total, err
		}
		total += n
		if n < purgeBatch {
			return total, nil
		}
	}
}

// forget deletes proposals that expired by then; their decisions and ends go with them.
func forget(ctx context.Context, tx *sql.Tx, until int64) (int, error) {
	return affected(tx.ExecContext(ctx, `DELETE FROM approval_proposal WHERE rowid IN (
		SELECT rowid FROM approval_proposal WHERE expires_ns <= ? LIMIT ?)`, until, purgeBatch))
}

// erase takes the bodies of proposals that expired by then, their decisions' first.
func erase(ctx context.Context, tx *sql.Tx, until int64) (int, error) {
	const batch = `SELECT tenant_id, proposal_id FROM approval_proposal WHERE expires_ns <= ? AND body IS NOT NULL ORDER BY expires_ns, rowid LIMIT ?`
	if _, err := tx.ExecContext(ctx, `UPDATE approval_decision SET body = NULL WHERE (tenant_id, proposal_id) IN (`+batch+`)`, until, purgeBatch); err != nil {
		return 0, err
	}
	return affected(tx.ExecContext(ctx, `UPDATE approval_proposal SET body = NULL WHERE (tenant_id, proposal_id) IN (`+batch+`)`, until, purgeBatch))
}

func affected(res sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}
