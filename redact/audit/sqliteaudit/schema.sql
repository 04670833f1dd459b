-- One row a decision; nothing in it is a value of a call or a result. Empty text is "does not apply".
CREATE TABLE audit_event (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again, so that a gap shows
  at              TEXT NOT NULL,                     -- RFC 3339, UTC, nine digits of a second: sorts as time
  kind            TEXT NOT NULL CHECK (kind <> ''),
  tenant          TEXT NOT NULL,
  subject         TEXT NOT NULL,
  run             TEXT NOT NULL,
  tool            TEXT NOT NULL,
  request_id      TEXT NOT NULL,
  operation       TEXT NOT NULL,
  proposal        TEXT NOT NULL,
  code            TEXT NOT NULL,
  field           TEXT NOT NULL,
  fields          TEXT NOT NULL CHECK (json_valid(fields)),  -- an array of declared names
  digests         TEXT NOT NULL CHECK (json_valid(digests)), -- an object: name, keyed digest
  outcome         TEXT NOT NULL,
  authorized_by   TEXT NOT NULL,
  policy_version  TEXT NOT NULL,
  adapter_version TEXT NOT NULL,
  source          TEXT NOT NULL
) STRICT;

CREATE INDEX audit_event_tenant ON audit_event (tenant, at);
CREATE INDEX audit_event_request ON audit_event (request_id) WHERE request_id <> '';
CREATE INDEX audit_event_operation ON audit_event (operation) WHERE operation <> '';

CREATE TRIGGER audit_event_unchanged BEFORE UPDATE ON audit_event BEGIN SELECT raise(ABORT, 'audit events are not changed'); END;
CREATE TRIGGER audit_event_undeleted BEFORE DELETE ON audit_event BEGIN SELECT raise(ABORT, 'audit events are not deleted'); END;

-- Sealed items; request stands for a request's id, times are in milliseconds of Unix time.
CREATE TABLE quarantine_parcel (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  request TEXT    NOT NULL,
  kept    INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  sealed  BLOB    NOT NULL
) STRICT;

CREATE INDEX quarantine_parcel_request ON quarantine_parcel (request, id);
CREATE INDEX quarantine_parcel_expires ON quarantine_parcel (expires);

PRAGMA user_version = 1;
