-- Times are microseconds since 1970, 0 is none.

CREATE TABLE ledger_meta (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    floor   INTEGER NOT NULL, -- sequence of a resource never seen
    waiting INTEGER NOT NULL  -- rows of a restore that wait for an operator
) STRICT;
INSERT INTO ledger_meta VALUES (1, 0, 0);

CREATE TABLE agent_command (
    tenant_id        TEXT NOT NULL,
    operation_id     TEXT NOT NULL,
    request_hash     TEXT NOT NULL,
    run_id           TEXT NOT NULL,
    resource         TEXT NOT NULL,
    command          TEXT NOT NULL, -- JSON of what the library made
    seq              INTEGER NOT NULL,
    state            TEXT NOT NULL CHECK (state IN ('pending', 'dispatching', 'running', 'succeeded', 'failed', 'denied', 'expired', 'cancelled', 'unknown')),
    generation       INTEGER NOT NULL,
    token            TEXT NOT NULL, -- of the claim that holds the row, '' for none
    finished         TEXT NOT NULL, -- what the last Finish is known by, hashed, until the row changes
    worker           TEXT NOT NULL,
    dispatches       INTEGER NOT NULL,
    turn             INTEGER NOT NULL,
    doubtful         INTEGER NOT NULL,
    forgotten        INTEGER NOT NULL,
    restored         INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL,
    expires_at       INTEGER NOT NULL,
    lease_until      INTEGER NOT NULL,
    retry_at         INTEGER NOT NULL,
    sent_at          INTEGER NOT NULL,
    idle_since       INTEGER NOT NULL,
    running_until    INTEGER NOT NULL,
    provider_receipt TEXT NOT NULL,
    reason           TEXT NOT NULL, -- code that a pending row was closed for
    body             BLOB,          -- sealed, like the next three
    result           BLOB,
    failure          BLOB,
    word             BLOB,          -- an operator's resolution
    ended_at         INTEGER,       -- NULL until terminal, and of a tombstone
    tomb_at          INTEGER,       -- of a tombstone: when it had ended
    PRIMARY KEY (tenant_id, operation_id)
) STRICT;

CREATE INDEX agent_command_unknown ON agent_command (tenant_id, created_at, operation_id) WHERE state = 'unknown';
CREATE INDEX agent_command_ended ON agent_command (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX agent_command_tomb ON agent_command (tomb_at) WHERE tomb_at IS NOT NULL;

-- One row for every command that is not terminal.
CREATE TABLE command_outbox (
    tenant_id    TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    tool         TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    available_at INTEGER NOT NULL, -- when Next offers it
    due_by       INTEGER NOT NULL, -- when Sweep has to look at it, 0 for never
    PRIMARY KEY (tenant_id, operation_id),
    FOREIGN KEY (tenant_id, operation_id) REFERENCES agent_command (tenant_id, operation_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX command_outbox_tool ON command_outbox (tool, available_at);
CREATE INDEX command_outbox_due ON command_outbox (due_by) WHERE due_by > 0;

CREATE TABLE agent_resource (
    tenant_id      TEXT NOT NULL,
    resource       TEXT NOT NULL,
    seq            INTEGER NOT NULL,
    open_operation TEXT NOT NULL, -- '' for none
    PRIMARY KEY (tenant_id, resource)
) STRICT, WITHOUT ROWID;

CREATE TABLE agent_attempt (
    tenant_id    TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    generation   INTEGER NOT NULL,
    started_at   INTEGER NOT NULL,
    ended_at     INTEGER NOT NULL,
    outcome      TEXT NOT NULL,
    worker       TEXT NOT NULL,
    PRIMARY KEY (tenant_id, operation_id, generation),
    FOREIGN KEY (tenant_id, operation_id) REFERENCES agent_command (tenant_id, operation_id)
) STRICT, WITHOUT ROWID;

-- Outcomes of fenced claims, which changed nothing.
CREATE TABLE agent_evidence (
    tenant_id    TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    generation   INTEGER NOT NULL,
    state        TEXT NOT NULL,
    at           INTEGER NOT NULL,
    receipt      TEXT NOT NULL,
    result       BLOB,
    failure      BLOB,
    PRIMARY KEY (tenant_id, operation_id, generation, state),
    FOREIGN KEY (tenant_id, operation_id) REFERENCES agent_command (tenant_id, operation_id)
) STRICT;
