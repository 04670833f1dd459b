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

CREATE TABLE IF NOT EXISTS approval_schema (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
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
    FOREACH t IN ARRAY ARRAY['approval_policy', 'approval_proposal', 'approval_decision', 'approval_end'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY approval_tenant ON %I USING (tenant_id = current_setting(''toolcontract.tenant'', true))', t);
        EXECUTE format('CREATE POLICY approval_worker ON %I TO toolcontract_worker USING (true) WITH CHECK (true)', t);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO toolcontract_worker', t);
    END LOOP;
    PERFORM pg_advisory_xact_lock(hashtext('toolcontract/grant'), hashtext(current_schema())); -- two grants at once would fail
    IF NOT has_schema_privilege('toolcontract_worker', current_schema(), 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO toolcontract_worker', current_schema());
    END IF;
END $$;
GRANT SELECT ON approval_schema TO toolcontract_worker;
