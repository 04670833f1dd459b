package approvaltest_test

import (
	"time"

	"github.com/toolcontract/toolcontract/approval"
)

func purgeDefects() []defect {
	return []defect{
		{
			rule: "purge/erases what is over", what: "keeps the bodies", also: []string{"purge/a tombstone answers"},
			store: hooked(func(f *faulty) {
				f.purge = func(c ctx, bodies, tombstones time.Duration) (int, error) {
					if bodies > 0 && tombstones >= bodies {
						bodies = tombstones
					}
					return f.memory().Purge(c, bodies, tombstones)
				}
			}),
		},
		{
			rule: "purge/spares what is not", what: "is early by a nanosecond", also: []string{"purge/erases what is over", "purge/a tombstone answers"},
			store: hooked(func(f *faulty) {
				f.purge = func(c ctx, bodies, tombstones time.Duration) (int, error) {
					if bodies > 0 && tombstones >= bodies {
						bodies, tombstones = bodies-1, tombstones-1
					}
					return f.memory().Purge(c, bodies, tombstones)
				}
			}),
		},
		{
			rule: "purge/a tombstone answers", what: "forgets the operation", also: []string{"purge/erases what is over"},
			store: hooked(func(f *faulty) {
				f.consume = func(c ctx, tenant, id, digest, op string) (approval.Record, bool, error) {
					if r := f.peek(c, tenant, id); r.State == approval.Consumed && r.Proposal.Plan == nil {
						return approval.Record{}, false, approval.ErrNotFound
					}
					return f.Store.Consume(c, tenant, id, digest, op)
				}
			}),
		},
		{
			rule: "purge/ends tombstones", what: "keeps them", also: []string{"purge/erases what is over"},
			store: hooked(func(f *faulty) {
				f.purge = func(c ctx, bodies, tombstones time.Duration) (int, error) {
					if bodies > 0 && tombstones >= bodies {
						tombstones += 1000 * time.Hour
					}
					return f.memory().Purge(c, bodies, tombstones)
				}
			}),
		},
		{
			rule: "purge/refuses what keeps nothing", what: "takes zero for at once",
			store: hooked(func(f *faulty) {
				f.purge = func(c ctx, bodies, tombstones time.Duration) (int, error) {
					return f.memory().Purge(c, max(1, bodies), max(1, tombstones))
				}
			}),
		},
	}
}
