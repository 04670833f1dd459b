-- Proposals, what was decided about them, and what ended them. Times are nanoseconds since 1970 in UTC.
-- Bodies are sealed; they become NULL when their retention ends, and nothing else in a row ever changes.

CREATE TABLE approval_policy (
    tenant_id TEXT    NOT NULL PRIMARY KEY,
    version   INTEGER NOT NULL -- the highest that the tenant's proposals were made under
) STRICT, WITHOUT ROWID;

CREATE TABLE approval_proposal (
    tenant_id         TEXT    NOT NULL,
    proposal_id       TEXT    NOT NULL,
    digest            TEXT    NOT NULL,
    run_id            TEXT    NOT NULL,
    tool              TEXT    NOT NULL,
    requester_kind    TEXT    NOT NULL CHECK (requester_kind IN ('person', 'service')),
    requester_subject TEXT    NOT NULL,
    policy_version    INTEGER NOT NULL,
    level             TEXT    NOT NULL CHECK (level IN ('none', 'one', 'two')),
    created_ns        INTEGER NOT NULL,
    expires_ns        INTEGER NOT NULL CHECK (expires_ns > created_ns),
    body              BLOB,
    PRIMARY KEY (tenant_id, proposal_id)
) STRICT;

CREATE INDEX approval_proposal_live ON approval_proposal (tenant_id, expires_ns);
CREATE INDEX approval_proposal_alike ON approval_proposal (tenant_id, digest);
CREATE INDEX approval_proposal_over ON approval_proposal (expires_ns);
CREATE INDEX approval_proposal_kept ON approval_proposal (expires_ns) WHERE body IS NOT NULL;

CREATE TABLE approval_decision (
    tenant_id        TEXT    NOT NULL,
    proposal_id      TEXT    NOT NULL,
    n                INTEGER NOT NULL CHECK (n >= 0),
    decision_id      TEXT    NOT NULL,
    approved         INTEGER NOT NULL CHECK (approved IN (0, 1)),
    approver_kind    TEXT    NOT NULL CHECK (approver_kind IN ('person', 'service', 'policy')),
    approver_tenant  TEXT    NOT NULL,
    approver_subject TEXT    NOT NULL,
    decided_ns       INTEGER NOT NULL,
    body             BLOB,
    PRIMARY KEY (tenant_id, proposal_id, n),
    UNIQUE (tenant_id, proposal_id, decision_id),
    UNIQUE (tenant_id, proposal_id, approver_tenant, approver_subject),
    FOREIGN KEY (tenant_id, proposal_id) REFERENCES approval_proposal ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- One row at most: a proposal is consumed by one operation or withdrawn, never both.
CREATE TABLE approval_end (
    tenant_id    TEXT    NOT NULL,
    proposal_id  TEXT    NOT NULL,
    operation_id TEXT,
    by_kind      TEXT,
    by_tenant    TEXT,
    by_subject   TEXT,
    ended_ns     INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, proposal_id),
    FOREIGN KEY (tenant_id, proposal_id) REFERENCES approval_proposal ON DELETE CASCADE,
    CHECK ((operation_id IS NULL) <> (by_kind IS NULL)),
    CHECK ((by_kind IS NULL) = (by_tenant IS NULL) AND (by_kind IS NULL) = (by_subject IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER approval_proposal_immutable BEFORE UPDATE ON approval_proposal
WHEN NOT (NEW.body IS NULL
    AND NEW.tenant_id = OLD.tenant_id AND NEW.proposal_id = OLD.proposal_id AND NEW.digest = OLD.digest
    AND NEW.run_id = OLD.run_id AND NEW.tool = OLD.tool AND NEW.requester_kind = OLD.requester_kind
    AND NEW.requester_subject = OLD.requester_subject AND NEW.policy_version = OLD.policy_version
    AND NEW.level = OLD.level AND NEW.created_ns = OLD.created_ns AND NEW.expires_ns = OLD.expires_ns)
BEGIN
    SELECT RAISE(ABORT, 'approval_proposal: rows are immutable');
END;

CREATE TRIGGER approval_decision_immutable BEFORE UPDATE ON approval_decision
WHEN NOT (NEW.body IS NULL
    AND NEW.tenant_id = OLD.tenant_id AND NEW.proposal_id = OLD.proposal_id AND NEW.n = OLD.n
    AND NEW.decision_id = OLD.decision_id AND NEW.approved = OLD.approved AND NEW.approver_kind = OLD.approver_kind
    AND NEW.approver_tenant = OLD.approver_tenant AND NEW.approver_subject = OLD.approver_subject
    AND NEW.decided_ns = OLD.decided_ns)
BEGIN
    SELECT RAISE(ABORT, 'approval_decision: rows are immutable');
END;

CREATE TRIGGER approval_end_immutable BEFORE UPDATE ON approval_end
BEGIN
    SELECT RAISE(ABORT, 'approval_end: rows are immutable');
END;

CREATE TRIGGER approval_policy_rises BEFORE UPDATE ON approval_policy
WHEN NEW.version < OLD.version OR NEW.tenant_id <> OLD.tenant_id
BEGIN
    SELECT RAISE(ABORT, 'approval_policy: versions rise');
END;
