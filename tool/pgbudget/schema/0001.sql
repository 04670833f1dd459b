-- What runs have used, and the parallel work that is under way. Nothing here is a value of a call. Names compare by their
-- bytes. All times are the database's.

CREATE FUNCTION budget_now() RETURNS timestamptz
    LANGUAGE sql VOLATILE
    AS $$ SELECT clock_timestamp() $$;

CREATE TABLE budget_run (
    tenant_id  text COLLATE "C" NOT NULL,
    run_id     text COLLATE "C" NOT NULL,
    calls      bigint NOT NULL CHECK (calls >= 0),
    tokens     bigint NOT NULL CHECK (tokens >= 0),
    started_at timestamptz NOT NULL,
    until_at   timestamptz NOT NULL, -- the latest end that a reservation named
    PRIMARY KEY (tenant_id, run_id)
);

CREATE INDEX budget_run_over ON budget_run (until_at);

-- A process that holds reservations. When its lease is over they count no longer.
CREATE TABLE budget_holder (
    holder_id   uuid PRIMARY KEY,
    lease_until timestamptz NOT NULL
);

-- One reservation of parallel work.
CREATE TABLE budget_place (
    place_id  uuid PRIMARY KEY,
    tenant_id text COLLATE "C" NOT NULL,
    run_id    text COLLATE "C" NOT NULL,
    holder_id uuid NOT NULL,
    parallel  bigint NOT NULL CHECK (parallel > 0),
    until_at  timestamptz NOT NULL
);

CREATE INDEX budget_place_run ON budget_place (tenant_id, run_id);
CREATE INDEX budget_place_holder ON budget_place (holder_id);

CREATE TABLE IF NOT EXISTS budget_schema (version integer NOT NULL);

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
    FOREACH t IN ARRAY ARRAY['budget_run', 'budget_place'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY budget_tenant ON %I USING (tenant_id = current_setting(''toolcontract.tenant'', true))', t);
        EXECUTE format('CREATE POLICY budget_worker ON %I TO toolcontract_worker USING (true) WITH CHECK (true)', t);
    END LOOP;
    PERFORM pg_advisory_xact_lock(hashtext('toolcontract/grant'), hashtext(current_schema())); -- two grants at once would fail
    IF NOT has_schema_privilege('toolcontract_worker', current_schema(), 'USAGE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO toolcontract_worker', current_schema());
    END IF;
END $$;
GRANT SELECT, INSERT, UPDATE, DELETE ON budget_run, budget_place, budget_holder TO toolcontract_worker;
GRANT SELECT ON budget_schema TO toolcontract_worker;

-- budget_reserve takes all of what is wanted or nothing: 0 taken, 1 used up, 2 too much under way. The run's row is locked
-- first, and read after. A place that is there already was taken by this call before: its answer was lost. Times are
-- microseconds; a limit of zero tokens or elapsed time is none.
CREATE FUNCTION budget_reserve(
    p_tenant text, p_run text, p_place uuid, p_holder uuid, p_lease bigint, p_rest bigint,
    want_calls bigint, want_parallel bigint, want_tokens bigint,
    max_calls bigint, max_parallel bigint, max_tokens bigint, max_elapsed bigint
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    r budget_run;
    t timestamptz;
    busy bigint;
    us CONSTANT interval := interval '1 microsecond';
BEGIN
    PERFORM set_config('toolcontract.tenant', p_tenant, true);
    t := budget_now();
    INSERT INTO budget_run VALUES (p_tenant, p_run, 0, 0, t, t + p_rest * us) ON CONFLICT (tenant_id, run_id) DO NOTHING;
    IF NOT FOUND THEN
        t := NULL; -- read after the lock
    END IF;
    SELECT * INTO r FROM budget_run WHERE tenant_id = p_tenant AND run_id = p_run FOR UPDATE;
    IF NOT FOUND THEN
        RAISE serialization_failure USING MESSAGE = 'the run was purged meanwhile';
    END IF;
    t := coalesce(t, budget_now());
    IF EXISTS (SELECT FROM budget_place WHERE place_id = p_place) THEN
        RETURN 0;
    END IF;
    IF t + p_rest * us > r.until_at THEN
        UPDATE budget_run SET until_at = t + p_rest * us WHERE tenant_id = p_tenant AND run_id = p_run;
    END IF;
    IF want_calls > max_calls - r.calls
        OR max_elapsed > 0 AND t - r.started_at >= max_elapsed * us
        OR max_tokens > 0 AND want_tokens > max_tokens - r.tokens THEN
        RETURN 1;
    END IF;
    IF want_parallel > 0 THEN
        SELECT coalesce(sum(p.parallel), 0) INTO busy
            FROM budget_place p JOIN budget_holder h USING (holder_id)
            WHERE p.tenant_id = p_tenant AND p.run_id = p_run AND p.until_at > t AND h.lease_until > t;
        IF want_parallel > max_parallel - busy THEN
            RETURN 2;
        END IF;
        INSERT INTO budget_place VALUES (p_place, p_tenant, p_run, p_holder, want_parallel, t + p_rest * us);
        INSERT INTO budget_holder AS h VALUES (p_holder, t + p_lease * us)
            ON CONFLICT (holder_id) DO UPDATE SET lease_until = EXCLUDED.lease_until
            WHERE h.lease_until < t + p_lease * us / 2;
    END IF;
    UPDATE budget_run SET calls = calls + want_calls, tokens = tokens + want_tokens WHERE tenant_id = p_tenant AND run_id = p_run;
    RETURN 0;
END $$;

-- budget_settle ends a reservation, once: where the place is gone nothing is given back again.
CREATE FUNCTION budget_settle(p_tenant text, p_run text, p_place uuid, back_calls bigint, back_tokens bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('toolcontract.tenant', p_tenant, true);
    IF back_calls <> 0 OR back_tokens <> 0 THEN
        PERFORM FROM budget_run WHERE tenant_id = p_tenant AND run_id = p_run FOR UPDATE;
    END IF;
    IF p_place IS NOT NULL THEN
        DELETE FROM budget_place WHERE place_id = p_place;
        IF NOT FOUND THEN
            RETURN false;
        END IF;
    END IF;
    IF back_calls <> 0 OR back_tokens <> 0 THEN
        UPDATE budget_run SET calls = greatest(calls - back_calls, 0), tokens = greatest(tokens - back_tokens, 0)
            WHERE tenant_id = p_tenant AND run_id = p_run;
    END IF;
    RETURN true;
END $$;
