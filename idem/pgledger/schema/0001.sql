-- A time that is not known is NULL. There are no foreign keys: all rows of an operation are written in one transaction,
-- and an admission would pay for a check that finds nothing.

CREATE TABLE IF NOT EXISTS ledger_schema (version integer NOT NULL); -- how many of these scripts have run

CREATE TABLE ledger_meta (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    floor   bigint NOT NULL, -- sequence of a resource never seen
    waiting bigint NOT NULL  -- rows of a restore that wait for an operator
);
INSERT INTO ledger_meta (floor, waiting) VALUES (0, 0);

CREATE TABLE agent_command (
    tenant_id          text NOT NULL,
    operation_id       text NOT NULL,
    request_hash       text NOT NULL,
    run_id             text NOT NULL,
    resource           text NOT NULL,
    command            text NOT NULL, -- JSON of what the library made; nothing asks for its parts
    seq                bigint NOT NULL,
    state              text NOT NULL CHECK (state IN ('pending', 'dispatching', 'running', 'succeeded', 'failed', 'denied', 'expired', 'cancelled', 'unknown')),
    generation         bigint NOT NULL DEFAULT 0,
    token              text NOT NULL DEFAULT '', -- of the claim that holds the row
    finished           text NOT NULL DEFAULT '', -- what the last Finish is known by, hashed, until the row changes
    worker             text NOT NULL DEFAULT '',
    dispatches         integer NOT NULL DEFAULT 0,
    late               integer NOT NULL DEFAULT 0, -- rows of agent_evidence
    doubtful           boolean NOT NULL DEFAULT false,
    forgotten          boolean NOT NULL DEFAULT false,
    restored           boolean NOT NULL DEFAULT false,
    created_at         timestamptz NOT NULL,
    updated_at         timestamptz NOT NULL,
    expires_at         timestamptz NOT NULL,
    lease_until        timestamptz,
    retry_at           timestamptz,
    sent_at            timestamptz,
    idle_since         timestamptz,
    running_until      timestamptz,
    -- the last row of agent_attempt once more: most operations have one, and a replay is one look into one table
    attempt_generation bigint NOT NULL DEFAULT 0,
    attempt_started_at timestamptz,
    attempt_ended_at   timestamptz,
    attempt_outcome    text NOT NULL DEFAULT '',
    attempt_worker     text NOT NULL DEFAULT '',
    provider_receipt   text NOT NULL DEFAULT '',
    reason             text NOT NULL DEFAULT '', -- code that a pending row was closed for
    body               bytea, -- sealed, like the next three
    result             bytea,
    failure            bytea,
    word               bytea, -- an operator's resolution
    doubt_at           timestamptz, -- created_at while unknown
    ended_at           timestamptz, -- until a tombstone
    tomb_at            timestamptz, -- of a tombstone: when it had ended
    PRIMARY KEY (tenant_id, operation_id)
) WITH (fillfactor = 70);

-- No index and no index's condition names a column that a claim changes: a claim is a heap-only update.
CREATE INDEX agent_command_doubt ON agent_command (tenant_id, doubt_at, operation_id) WHERE doubt_at IS NOT NULL;
CREATE INDEX agent_command_ended ON agent_command (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX agent_command_tomb ON agent_command (tomb_at) WHERE tomb_at IS NOT NULL;

-- One row for every command that is not terminal.
CREATE TABLE command_outbox (
    tenant_id    text NOT NULL,
    operation_id text NOT NULL,
    tool         text NOT NULL,
    run_id       text NOT NULL,
    available_at timestamptz NOT NULL, -- when Next offers it
    due_by       timestamptz,          -- when Sweep has to look at it
    claimed      boolean NOT NULL DEFAULT false, -- dispatching or running
    turn         bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, operation_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

CREATE INDEX command_outbox_tool ON command_outbox (tool, available_at);

CREATE TABLE agent_resource (
    tenant_id      text NOT NULL,
    resource       text NOT NULL,
    seq            bigint NOT NULL,
    open_operation text NOT NULL DEFAULT '',
    PRIMARY KEY (tenant_id, resource)
) WITH (fillfactor = 80);

CREATE TABLE agent_attempt (
    tenant_id    text NOT NULL,
    operation_id text NOT NULL,
    generation   bigint NOT NULL,
    started_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    outcome      text NOT NULL,
    worker       text NOT NULL,
    PRIMARY KEY (tenant_id, operation_id, generation)
);

-- Outcomes of fenced claims, which changed nothing.
CREATE TABLE agent_evidence (
    tenant_id    text NOT NULL,
    operation_id text NOT NULL,
    generation   bigint NOT NULL,
    state        text NOT NULL,
    at           timestamptz NOT NULL,
    receipt      text NOT NULL,
    result       bytea,
    failure      bytea,
    PRIMARY KEY (tenant_id, operation_id, generation, state)
);

-- Row-level security: one tenant by its setting, workers all. The owner of the tables is not subject to it.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'toolcontract_worker') THEN
        CREATE ROLE toolcontract_worker NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- another migration made it at the same time
END $$;

DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['agent_command', 'command_outbox', 'agent_resource', 'agent_attempt', 'agent_evidence'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY tenant ON %I USING (tenant_id = current_setting(''toolcontract.tenant'', true))', t);
        EXECUTE format('CREATE POLICY worker ON %I TO toolcontract_worker USING (true) WITH CHECK (true)', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO toolcontract_worker', t);
    END LOOP;
    PERFORM pg_advisory_xact_lock(hashtext('toolcontract/grant'), hashtext(current_schema())); -- two grants at once would fail
    IF NOT has_schema_privilege('toolcontract_worker', current_schema(), 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO toolcontract_worker', current_schema());
    END IF;
END $$;
GRANT SELECT, UPDATE ON ledger_meta TO toolcontract_worker;
GRANT SELECT ON ledger_schema TO toolcontract_worker;
