package sqliteledger

import (
	"context"
	"database/sql"
	"encoding/json/v2"
	"errors"
	"slices"
	"time"

	"github.com/toolcontract/toolcontract/idem"
	"github.com/toolcontract/toolcontract/internal/storable"
)

// Next implements [idem.Ledger]. It sees a tenant as soon as it has a row.
func (l *Ledger) Next(ctx context.Context, tools []string, lease time.Duration) (idem.Delivery, error) {
	if lease <= 0 {
		return idem.Delivery{}, idem.ErrInvalid
	}
	if k, err := l.due(ctx, l.reading.on(l.reader), tools); err != nil || k == (idem.Key{}) { // an empty outbox is seen without waiting for writers
		return idem.Delivery{}, wrap("next", emptyOr(err))
	}
	var d idem.Delivery
	err := l.write(ctx, func(q querier) error {
		k, err := l.due(ctx, q, tools)
		if err != nil || k == (idem.Key{}) {
			return emptyOr(err)
		}
		l.turns.Served(tools, k.Tenant) // while others wait for the file: the next Next goes on from here
		r, err := l.load(ctx, q, k)
		if err != nil {
			return err
		}
		r.Reap(r.now)
		d = r.Deliver(r.now, lease)
		return save(ctx, q, &r.Row)
	})
	if err != nil {
		return idem.Delivery{}, wrap("next", err)
	}
	return d, nil
}

func emptyOr(err error) error {
	if err == nil {
		return idem.ErrEmpty
	}
	return err
}

// due returns the key of the row whose turn it is, the zero key for none. Each tenant costs a step into the index for
// each tool, however long its queue is.
func (l *Ledger) due(ctx context.Context, q querier, tools []string) (k idem.Key, err error) {
	last := l.turns.Last(tools)
	if tools == nil {
		if tools, err = waitingTools(ctx, q); err != nil {
			return idem.Key{}, err
		}
	}
	names, err := json.Marshal(slices.DeleteFunc(slices.Clone(tools), func(t string) bool { return !storable.Text(t) }))
	if err != nil {
		return idem.Key{}, err
	}
	for _, from := range slices.Compact([]string{last, ""}) { // the tenants after the last, and then from the first on
		err = q.QueryRowContext(ctx, l.sql.due, string(names), from).Scan(&k.Tenant, &k.Operation)
		if !errors.Is(err, sql.ErrNoRows) {
			return k, err
		}
	}
	return idem.Key{}, nil
}

// dueAfter is the oldest due row of the first tenant after ?2 that has one, for the tools in the list ?1. It goes from
// tenant to tenant, and stops at that one.
func dueAfter(clock string) string {
	first := func(column, where string) string {
		return "(SELECT min((SELECT min(" + column + ") FROM command_outbox WHERE tool = t.value AND " + where + ")) FROM json_each(?1) t)"
	}
	return `WITH RECURSIVE tenant (id) AS (SELECT ` + first("tenant_id", "tenant_id > ?2") + `
			UNION ALL SELECT ` + first("tenant_id", "tenant_id > tenant.id") + ` FROM tenant WHERE id IS NOT NULL),
		due (id, at) AS MATERIALIZED (SELECT id, at FROM (SELECT id, ` + first("available_at", "tenant_id = tenant.id") + ` AS at FROM tenant)
			WHERE at <= 1000 * ` + clock + ` LIMIT 1)
		SELECT o.tenant_id, o.operation_id FROM due, command_outbox o
		WHERE o.tool IN (SELECT value FROM json_each(?1)) AND o.tenant_id = due.id AND o.available_at = due.at ORDER BY o.operation_id LIMIT 1`
}

// waitingTools returns the tools that stand in the outbox.
func waitingTools(ctx context.Context, q querier) ([]string, error) {
	rows, err := q.QueryContext(ctx, `WITH RECURSIVE each (tool) AS (SELECT min(tool) FROM command_outbox
		UNION ALL SELECT (SELECT min(tool) FROM command_outbox o WHERE o.tool > each.tool) FROM each WHERE each.tool IS NOT NULL)
		SELECT tool FROM each WHERE tool IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says it
	tools := []string{}
	for rows.Next() {
		var t string
		if err := rows.Scan(&t); err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, rows.Err()
}
