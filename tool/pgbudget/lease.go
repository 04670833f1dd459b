package pgbudget

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"uuid"
)

// purgeEvery is how often what is over is deleted, in renewals.
const purgeEvery = 20

// keep renews the lease, gives back what is in doubt, and purges. What fails is tried again the next time.
func (s *Store) keep(life context.Context) {
	tick := time.NewTicker(s.cfg.Lease / 3)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-life.Done():
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(life, s.cfg.Lease/3)
		s.renew(ctx)
		s.clear(ctx)
		if n%purgeEvery == 0 {
			_, _ = s.Purge(ctx) // again in a while
		}
		cancel()
	}
}

func (s *Store) renew(ctx context.Context) {
	s.mu.Lock()
	holds := len(s.places) > 0
	s.mu.Unlock()
	if !holds {
		return
	}
	_, _ = s.pool.Exec(ctx, `UPDATE budget_holder SET lease_until = budget_now() + $2 * interval '1 microsecond' WHERE holder_id = $1`,
		s.holder, micro(s.cfg.Lease)) // the next renewal comes before the lease is over
}

// clear gives back what may have been taken by calls that failed.
func (s *Store) clear(ctx context.Context) {
	s.mu.Lock()
	lost := s.lost
	s.lost = nil
	s.mu.Unlock()
	for i, p := range lost {
		if err := s.settle(ctx, p, &p.id); err != nil {
			s.mu.Lock()
			s.lost = append(s.lost, lost[i:]...)
			s.mu.Unlock()
			return
		}
	}
}

// Shutdown stops the renewal and gives back the parallel work that this process still holds. Calls after it work, and
// nobody renews what they reserve.
func (s *Store) Shutdown(ctx context.Context) error {
	s.stop()
	s.done.Wait()
	s.clear(ctx)
	s.mu.Lock()
	var held []place
	for k, ids := range s.places {
		for _, id := range ids {
			held = append(held, place{placeKey: k, id: id})
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, p := range held {
		if err := s.settle(ctx, p, &p.id); err != nil {
			errs = append(errs, err)
			continue
		}
		s.forget(p)
	}
	return errors.Join(errs...)
}

func (s *Store) forget(p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places[p.placeKey] = slices.DeleteFunc(s.places[p.placeKey], func(id uuid.UUID) bool { return id == p.id })
	if len(s.places[p.placeKey]) == 0 {
		delete(s.places, p.placeKey)
	}
}

// Purge deletes the runs whose time is over, and what processes held that are gone, and returns how many rows. It goes
// over all tenants: the pool's role must be the tables' owner, or one that row-level security does not bind. The store
// calls it by itself now and then.
func (s *Store) Purge(ctx context.Context) (int, error) {
	n := 0
	for _, statement := range []string{
		`DELETE FROM budget_place p WHERE p.until_at < budget_now() OR NOT EXISTS (
			SELECT FROM budget_holder h WHERE h.holder_id = p.holder_id AND h.lease_until > budget_now() - interval '1 hour')`,
		`DELETE FROM budget_run r WHERE r.until_at < budget_now() AND NOT EXISTS (
			SELECT FROM budget_place p WHERE p.tenant_id = r.tenant_id AND p.run_id = r.run_id)`,
		`DELETE FROM budget_holder h WHERE h.lease_until < budget_now() - interval '1 hour' AND NOT EXISTS (
			SELECT FROM budget_place p WHERE p.holder_id = h.holder_id)`,
	} {
		tag, err := s.pool.Exec(ctx, statement)
		if err != nil {
			return n, fmt.Errorf("pgbudget: purge: %w", err)
		}
		n += int(tag.RowsAffected())
	}
	return n, nil
}
