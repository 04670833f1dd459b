CREATE TABLE customers (
  tenant  TEXT NOT NULL,
  id      TEXT NOT NULL,
  name    TEXT NOT NULL,
  version INTEGER NOT NULL,
  line1   TEXT NOT NULL,
  line2   TEXT NOT NULL,
  city    TEXT NOT NULL,
  country TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE address_book (
  tenant      TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  id          TEXT NOT NULL,
  line1       TEXT NOT NULL,
  line2       TEXT NOT NULL,
  city        TEXT NOT NULL,
  country     TEXT NOT NULL,
  PRIMARY KEY (tenant, customer_id, id),
  FOREIGN KEY (tenant, customer_id) REFERENCES customers (tenant, id)
) STRICT;

CREATE TABLE orders (
  number      INTEGER PRIMARY KEY,
  tenant      TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  status      TEXT NOT NULL CHECK (status IN ('open', 'shipped', 'cancelled')),
  placed_at   TEXT NOT NULL,
  total_minor INTEGER NOT NULL,
  currency    TEXT NOT NULL,
  FOREIGN KEY (tenant, customer_id) REFERENCES customers (tenant, id)
) STRICT;

CREATE TABLE warehouses (
  tenant  TEXT NOT NULL,
  id      TEXT NOT NULL,
  city    TEXT NOT NULL,
  country TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;

CREATE TABLE refund_cases (
  tenant       TEXT NOT NULL,
  ref          TEXT NOT NULL,
  state        TEXT NOT NULL CHECK (state IN ('open', 'closed')),
  charged      INTEGER NOT NULL,
  currency     TEXT NOT NULL,
  PRIMARY KEY (tenant, ref)
) STRICT;

-- Every write request that arrived, whatever became of it: a request sent twice stands here twice.
CREATE TABLE requests (
  number      INTEGER PRIMARY KEY,
  received_at TEXT NOT NULL,
  key         TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  answer      TEXT NOT NULL CHECK (answer IN ('changed', 'stale version', 'no such customer'))
) STRICT;

-- Every effect, as other systems read it. No constraint forbids a second effect of one key: it would be seen here.
CREATE TABLE change_feed (
  number       INTEGER PRIMARY KEY,
  changed_at   TEXT NOT NULL,
  tenant       TEXT NOT NULL,
  customer_id  TEXT NOT NULL,
  from_version INTEGER NOT NULL,
  to_version   INTEGER NOT NULL,
  key          TEXT NOT NULL,
  changed_by   TEXT NOT NULL,
  line1        TEXT NOT NULL,
  line2        TEXT NOT NULL,
  city         TEXT NOT NULL,
  country      TEXT NOT NULL
) STRICT;
CREATE INDEX change_feed_key ON change_feed (tenant, key);
