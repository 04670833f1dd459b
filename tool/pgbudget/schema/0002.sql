-- budget_take is budget_reserve, and tells what is left of the run's time after it, in microseconds. A sum that bigint
-- does not hold is its largest number.
CREATE FUNCTION budget_take(
    p_tenant text, p_run text, p_place uuid, p_holder uuid, p_lease bigint, p_rest bigint,
    want_calls bigint, want_parallel bigint, want_tokens bigint,
    max_calls bigint, max_parallel bigint, max_tokens bigint, max_elapsed bigint,
    OUT answer integer, OUT rest bigint
) LANGUAGE plpgsql AS $$
DECLARE
    r budget_run;
    t timestamptz;
    busy numeric;
    us CONSTANT interval := interval '1 microsecond';
    most CONSTANT bigint := 9223372036854775807;
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
    rest := max_elapsed - greatest(ceil(extract(epoch FROM t - r.started_at) * 1000000), 0);
    answer := 0;
    IF EXISTS (SELECT FROM budget_place WHERE place_id = p_place) THEN
        RETURN;
    END IF;
    IF t + p_rest * us > r.until_at THEN
        UPDATE budget_run SET until_at = t + p_rest * us WHERE tenant_id = p_tenant AND run_id = p_run;
    END IF;
    IF want_calls > max_calls - r.calls
        OR max_elapsed > 0 AND rest <= 0
        OR max_tokens > 0 AND want_tokens > max_tokens - r.tokens THEN
        answer := 1;
        RETURN;
    END IF;
    IF want_parallel > 0 THEN
        SELECT coalesce(sum(p.parallel), 0) INTO busy
            FROM budget_place p JOIN budget_holder h USING (holder_id)
            WHERE p.tenant_id = p_tenant AND p.run_id = p_run AND p.until_at > t AND h.lease_until > t;
        IF want_parallel > max_parallel - busy THEN
            answer := 2;
            RETURN;
        END IF;
        INSERT INTO budget_place VALUES (p_place, p_tenant, p_run, p_holder, want_parallel, t + p_rest * us);
        INSERT INTO budget_holder AS h VALUES (p_holder, t + p_lease * us)
            ON CONFLICT (holder_id) DO UPDATE SET lease_until = EXCLUDED.lease_until
            WHERE h.lease_until < t + p_lease * us / 2;
    END IF;
    UPDATE budget_run SET calls = r.calls + want_calls, tokens = r.tokens + least(want_tokens, most - r.tokens)
        WHERE tenant_id = p_tenant AND run_id = p_run;
END $$;

-- For processes of the version before.
CREATE OR REPLACE FUNCTION budget_reserve(
    p_tenant text, p_run text, p_place uuid, p_holder uuid, p_lease bigint, p_rest bigint,
    want_calls bigint, want_parallel bigint, want_tokens bigint,
    max_calls bigint, max_parallel bigint, max_tokens bigint, max_elapsed bigint
) RETURNS integer LANGUAGE sql AS $$
    SELECT answer FROM budget_take(p_tenant, p_run, p_place, p_holder, p_lease, p_rest,
        want_calls, want_parallel, want_tokens, max_calls, max_parallel, max_tokens, max_elapsed)
$$;

-- As before; what was used beyond the reservation, where less than nothing is given back, counts up to the largest number.
CREATE OR REPLACE FUNCTION budget_settle(p_tenant text, p_run text, p_place uuid, back_calls bigint, back_tokens bigint) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    most CONSTANT bigint := 9223372036854775807;
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
        UPDATE budget_run SET
            calls = greatest(calls + least(-back_calls, most - calls), 0),
            tokens = greatest(tokens + least(-back_tokens, most - tokens), 0)
            WHERE tenant_id = p_tenant AND run_id = p_run;
    END IF;
    RETURN true;
END $$;
