-- Next goes round the tenants.
CREATE INDEX command_outbox_turn ON command_outbox (tool, tenant_id, available_at);
DROP INDEX command_outbox_tool;
