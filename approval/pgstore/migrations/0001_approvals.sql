-- Proposals, what was decided about them, and what ended them. Times are nanoseconds since 1970 in UTC: a timestamptz
-- would round the nanoseconds of an expiry. Bodies are sealed; they become NULL when their retention ends, and
-- nothing else in a row ever changes. Names compare by their bytes.

CREATE FUNCTION approval_now_ns() RETURNS bigint
    LANGUAGE sql VOLATILE
    AS $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000 $$;

CREATE TABLE approval_policy (
    tenant_id text COLLATE "C" PRIMARY KEY,
    version   bigint NOT NULL -- the highest that the tenant's proposals were made under
);

CREATE TABLE approval_proposal (
    tenant_id         text COLLATE "C" NOT NULL,
    proposal_id       text COLLATE "C" NOT NULL,
    digest            text COLLATE "C" NOT NULL,
    run_id            text NOT NULL,
    tool              text NOT NULL,
    requester_kind    text NOT NULL CHECK (requester_kind IN ('person', 'service')),
    requester_subject text NOT NULL,
    policy_version    bigint NOT NULL,
    level             text NOT NULL CHECK (level IN ('none', 'one', 'two')),
    created_ns        bigint NOT NULL,
    expires_ns        bigint NOT NULL CHECK (expires_ns > created_ns),
    body              bytea,
    PRIMARY KEY (tenant_id, proposal_id)
);

CREATE INDEX approval_proposal_live ON approval_proposal (tenant_id, expires_ns);
CREATE INDEX approval_proposal_alike ON approval_proposal (tenant_id, digest);
CREATE INDEX approval_proposal_over ON approval_proposal (expires_ns);
CREATE INDEX approval_proposal_kept ON approval_proposal (expires_ns) WHERE body IS NOT NULL;

CREATE TABLE approval_decision (
    tenant_id        text COLLATE "C" NOT NULL,
    proposal_id      text COLLATE "C" NOT NULL,
    n                integer NOT NULL CHECK (n >= 0),
    decision_id      text COLLATE "C" NOT NULL,
    approved         boolean NOT NULL,
    approver_kind    text NOT NULL CHECK (approver_kind IN ('person', 'service', 'policy')),
    approver_tenant  text COLLATE "C" NOT NULL,
    approver_subject text COLLATE "C" NOT NULL,
    decided_ns       bigint NOT NULL,
    body             bytea,
    PRIMARY KEY (tenant_id, proposal_id, n),
    UNIQUE (tenant_id, proposal_id, decision_id),
    UNIQUE (tenant_id, proposal_id, approver_tenant, approver_subject),
    FOREIGN KEY (tenant_id, proposal_id) REFERENCES approval_proposal ON DELETE CASCADE
);

-- One row at most: a proposal is consumed by one operation or withdrawn, never both.
CREATE TABLE approval_end (
    tenant_id    text COLLATE "C" NOT NULL,
    proposal_id  text COLLATE "C" NOT NULL,
    operation_id text,
    by_kind      text CHECK (by_kind IN ('person', 'service', 'policy')),
    by_tenant    text,
    by_subject   text,
    ended_ns     bigint NOT NULL,
    PRIMARY KEY (tenant_id, proposal_id),
    FOREIGN KEY (tenant_id, proposal_id) REFERENCES approval_proposal ON DELETE CASCADE,
    CHECK ((operation_id IS NULL) <> (by_kind IS NULL)),
    CHECK ((by_kind IS NULL) = (by_tenant IS NULL) AND (by_kind IS NULL) = (by_subject IS NULL))
);

CREATE FUNCTION approval_refuse_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION '%: rows are immutable', TG_TABLE_NAME; END $$;

CREATE TRIGGER approval_proposal_immutable BEFORE UPDATE ON approval_proposal
    FOR EACH ROW WHEN (NOT (NEW.body IS NULL
        AND (NEW.tenant_id, NEW.proposal_id, NEW.digest, NEW.run_id, NEW.tool, NEW.requester_kind, NEW.requester_subject,
             NEW.policy_version, NEW.level, NEW.created_ns, NEW.expires_ns)
          = (OLD.tenant_id, OLD.proposal_id, OLD.digest, OLD.run_id, OLD.tool, OLD.requester_kind, OLD.requester_subject,
             OLD.policy_version, OLD.level, OLD.created_ns, OLD.expires_ns)))
    EXECUTE FUNCTION approval_refuse_change();

CREATE TRIGGER approval_decision_immutable BEFORE UPDATE ON approval_decision
    FOR EACH ROW WHEN (NOT (NEW.body IS NULL
        AND (NEW.tenant_id, NEW.proposal_id, NEW.n, NEW.decision_id, NEW.approved, NEW.approver_kind, NEW.approver_tenant,
             NEW.approver_subject, NEW.decided_ns)
          = (OLD.tenant_id, OLD.proposal_id, OLD.n, OLD.decision_id, OLD.approved, OLD.approver_kind, OLD.approver_tenant,
             OLD.approver_subject, OLD.decided_ns)))
    EXECUTE FUNCTION approval_refuse_change();

CREATE TRIGGER approval_end_immutable BEFORE UPDATE ON approval_end
    FOR EACH ROW EXECUTE FUNCTION approval_refuse_change();

CREATE TRIGGER approval_policy_rises BEFORE UPDATE ON approval_policy
    FOR EACH ROW WHEN (NEW.version < OLD.version OR NEW.tenant_id <> OLD.tenant_id)
    EXECUTE FUNCTION approval_refuse_change();

ALTER TABLE approval_policy ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval_proposal ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval_decision ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval_end ENABLE ROW LEVEL SECURITY;

CREATE POLICY approval_tenant ON approval_policy USING (tenant_id = current_setting('toolcontract.tenant_id', true));
CREATE POLICY approval_tenant ON approval_proposal USING (tenant_id = current_setting('toolcontract.tenant_id', true));
CREATE POLICY approval_tenant ON approval_decision USING (tenant_id = current_setting('toolcontract.tenant_id', true));
CREATE POLICY approval_tenant ON approval_end USING (tenant_id = current_setting('toolcontract.tenant_id', true));
