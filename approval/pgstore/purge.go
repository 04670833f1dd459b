package pgstore

import (
	"context"
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

// purgeBatch is how many proposals one transaction of Purge touches.
const purgeBatch = 500

// forget deletes proposals that expired so long ago; their decisions and ends go with them.
const forget = `DELETE FROM approval_proposal WHERE (tenant_id, proposal_id) IN (
	SELECT tenant_id, proposal_id FROM approval_proposal WHERE expires_ns <= (SELECT approval_now_ns()) - $1 ORDER BY expires_ns LIMIT $2 FOR UPDATE SKIP LOCKED)`

// erase takes the bodies of proposals that expired so long ago, and of their decisions.
const erase = `WITH over AS (
		SELECT tenant_id, proposal_id FROM approval_proposal
		WHERE expires_ns <= (SELECT approval_now_ns()) - $1 AND body IS NOT NULL ORDER BY expires_ns LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED),
	decisions AS (
		UPDATE approval_decision d SET body = NULL FROM over WHERE d.tenant_id = over.tenant_id AND d.proposal_id = over.proposal_id)
	UPDATE approval_proposal p SET body = NULL FROM over WHERE p.tenant_id = over.tenant_id AND p.proposal_id = over.proposal_id`

// Purge implements [approval.Purger]. It is for all tenants, so it is the tables' owner who calls it, or a
// role in toolcontract_worker. It is a
// transaction for each few hundred proposals; what it has done stays done when it ends with an error. Rows that others
// lock are left for the next time.
func (s *Store) Purge(ctx context.Context, bodies, tombstones time.Duration) (int, error) {
	if err := approval.CheckRetention(bodies, tombstones); err != nil {
		return 0, err
	}
	gone, err := s.purge(ctx, forget, tombstones)
	if err != nil {
		return gone, err
	}
	erased, err := s.purge(ctx, erase, bodies)
	return gone + erased, err
}

func (s *Store) purge(ctx context.Context, statement string, age time.Duration) (int, error) {
	total := 0
	for {
		n, err := retry(ctx, "purge", func() (int, error) {
			tag, err := s.pool.Exec(ctx, statement, age.Nanoseconds(), purgeBatch)
			return int(tag.RowsAffected()), err
		})
		if total += n; err != nil || n < purgeBatch {
			return total, err
		}
	}
}
