package pgledger

// queries are the statements that read the clock.
type queries struct {
	admit, lock, clock, peek, next, tenants, overdue, sweep, open, unknown string
	purge                                                                  [3]string // tombstones, whole rows, bodies
}

const micro = " * interval '1 microsecond'"

// makeQueries writes the statements for a clock. In a condition it is read once, by a query of its own, and can be one of
// an index; planners are told what to begin with where statistics may lead them to read every command.
func makeQueries(clock string) queries {
	once := "(SELECT " + clock + ")"
	return queries{
		clock: "SELECT " + clock + ", (SELECT waiting > 0 FROM ledger_meta)",
		// T1: one statement, one round trip. Where the key is there it inserts nothing and returns no row.
		admit: `WITH cmd AS (
			INSERT INTO agent_command (tenant_id, operation_id, request_hash, run_id, resource, command, seq, state, created_at, updated_at, expires_at, body)
			SELECT $1, $2, $3, $4, $5, $6, $7, 'pending', t.now, t.now, t.now + $8` + micro + `, $9
			FROM (SELECT ` + clock + ` AS now) t, ledger_meta m WHERE m.waiting = 0
			ON CONFLICT DO NOTHING RETURNING created_at, expires_at
		), box AS (
			INSERT INTO command_outbox (tenant_id, operation_id, tool, run_id, available_at, due_by)
			SELECT $1, $2, $10, $4, created_at + $11` + micro + `, expires_at FROM cmd
		), res AS (
			INSERT INTO agent_resource (tenant_id, resource, seq) SELECT $1, $5, m.floor FROM cmd, ledger_meta m ON CONFLICT DO NOTHING
		) SELECT created_at FROM cmd`,
		lock: "SELECT " + own + beside + ` FROM agent_command c
			JOIN agent_resource r ON r.tenant_id = c.tenant_id AND r.resource = c.resource
			LEFT JOIN command_outbox o ON o.tenant_id = c.tenant_id AND o.operation_id = c.operation_id
			WHERE c.tenant_id = $1 AND c.operation_id = $2 FOR UPDATE OF c, r`,
		peek: "SELECT " + shown + ", " + clock + " FROM agent_command c WHERE c.tenant_id = $1 AND c.operation_id = $2",
		// The first of the tenants $3 that has a row due: each of them is one step into the index for each tool, however
		// long its queue is, and those after the one that is found are not looked at. $4 passes over what others have
		// left dead at the head of a tenant's queue.
		next: `WITH due AS (
			SELECT d.tenant_id, d.operation_id, d.available_at FROM unnest($3::text[], $4::timestamptz[]) turn (tenant, since), LATERAL (
				SELECT f.* FROM unnest($1::text[]) tool (name), LATERAL (
					SELECT o.tenant_id, o.operation_id, o.available_at FROM command_outbox o
					WHERE o.tool = tool.name AND o.tenant_id = turn.tenant AND o.available_at >= turn.since AND o.available_at <= ` + once + `
					ORDER BY o.available_at LIMIT 1 FOR UPDATE SKIP LOCKED) f
				ORDER BY f.available_at LIMIT 1) d
			LIMIT 1
		) UPDATE command_outbox o SET available_at = ` + clock + ` + $2` + micro + `, turn = o.turn + 1
			FROM due, agent_command c WHERE (o.tenant_id, o.operation_id) = (due.tenant_id, due.operation_id)
			AND (c.tenant_id, c.operation_id) = (due.tenant_id, due.operation_id)
			RETURNING o.tenant_id, o.operation_id, o.tool, o.turn, c.state, c.dispatches, c.lease_until, c.running_until, due.available_at, ` + clock,
		// From tenant to tenant, with the first row of each: one step into the index. Turns go by the bytes of names, as in
		// Go. A list that is full has one more.
		tenants: `WITH RECURSIVE first (tool, tenant_id, available_at) AS (
			SELECT tool.name, f.tenant_id, f.available_at FROM unnest($1::text[]) tool (name), LATERAL (
				SELECT o.tenant_id, o.available_at FROM command_outbox o WHERE o.tool = tool.name
				ORDER BY o.tenant_id, o.available_at LIMIT 1) f
			UNION ALL
			SELECT first.tool, f.tenant_id, f.available_at FROM first, LATERAL (
				SELECT o.tenant_id, o.available_at FROM command_outbox o WHERE o.tool = first.tool AND o.tenant_id > first.tenant_id
				ORDER BY o.tenant_id, o.available_at LIMIT 1) f
		) SELECT tenant_id, min(available_at), t.now FROM (SELECT ` + clock + ` AS now) t, first WHERE available_at <= t.now
			GROUP BY tenant_id, t.now ORDER BY tenant_id COLLATE "C" <= $2::text, tenant_id COLLATE "C" LIMIT ` + itoa(circleSize+1),
		overdue: "SELECT operation_id FROM command_outbox WHERE tenant_id = $1 AND claimed AND due_by <= " + once,
		sweep: "WITH due AS MATERIALIZED (SELECT * FROM command_outbox WHERE due_by <= " + once + " LIMIT " + itoa(batch) + ") SELECT " + own + beside + ", " + clock + `
			FROM due o JOIN agent_command c ON c.tenant_id = o.tenant_id AND c.operation_id = o.operation_id
			JOIN agent_resource r ON r.tenant_id = c.tenant_id AND r.resource = c.resource
			FOR UPDATE OF c SKIP LOCKED`,
		open: `WITH o AS MATERIALIZED (SELECT operation_id FROM command_outbox WHERE tenant_id = $1 AND run_id = $4) SELECT ` + own + ", " + clock + `
			FROM o JOIN agent_command c ON c.tenant_id = $1 AND c.operation_id = o.operation_id
			WHERE (c.created_at, c.operation_id) > ($2, $3) ORDER BY c.created_at, c.operation_id`,
		unknown: "SELECT " + own + ", " + clock + ` FROM agent_command c WHERE c.tenant_id = $1 AND c.doubt_at IS NOT NULL
			AND (c.doubt_at, c.operation_id) > ($2, $3) ORDER BY c.doubt_at, c.operation_id`,
		purge: [3]string{
			purge("tomb_at", once, remove),
			purge("ended_at", once, remove+strip),
			purge("ended_at", once, bury+strip),
		},
	}
}

// purge is a statement that does something to rows older than $1 microseconds, a batch at most, and counts them.
func purge(column, now, do string) string {
	return "WITH old AS (SELECT tenant_id, operation_id FROM agent_command WHERE " + column + " <= " + now + " - $1::bigint" + micro +
		" ORDER BY " + column + " LIMIT " + itoa(batch) + " FOR UPDATE SKIP LOCKED)" + do + " SELECT count(*) FROM old"
}

const (
	ofOld  = " USING old WHERE (t.tenant_id, t.operation_id) = (old.tenant_id, old.operation_id))"
	remove = ", gone AS (DELETE FROM agent_command t" + ofOld
	strip  = ", attempts AS (DELETE FROM agent_attempt t" + ofOld + ", evidence AS (DELETE FROM agent_evidence t" + ofOld
	bury   = `, buried AS (UPDATE agent_command t SET command = '{}', body = NULL, result = NULL, failure = NULL, word = NULL, reason = '',
		worker = '', token = '', finished = '', provider_receipt = '', request_hash = '', run_id = '', attempt_worker = '', late = 0,
		tomb_at = ended_at, ended_at = NULL FROM old WHERE (t.tenant_id, t.operation_id) = (old.tenant_id, old.operation_id))`
)
