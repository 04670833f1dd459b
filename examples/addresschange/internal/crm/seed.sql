-- Invented people and places.
INSERT INTO customers (tenant, id, name, version, line1, line2, city, country) VALUES
  ('acme',   'cus_9Qm4', 'Ines Vogt',     17, '17 Example Lane', '',       'Kiel',      'DE'),
  ('acme',   'cus_4Hk2', 'Tomas Brandt',  17, '3 Mill Court',    '',       'Bremen',    'DE'),
  ('acme',   'cus_7Rw8', 'Aoife Daly',     4, '12 Quay Street',  'Flat 2', 'Galway',    'IE'),
  ('acme',   'cus_2Zt6', 'Sven Lindahl',   9, '8 Norra Vägen',   '',       'Uppsala',   'SE'),
  ('acme',   'cus_5Pd1', 'Mara Keller',   31, '40 Ringweg',      '',       'Basel',     'CH'),
  ('globex', 'cus_8Xe3', 'Noor Haddad',    2, '9 Palm Walk',     '',       'Rotterdam', 'NL');

INSERT INTO address_book (tenant, customer_id, id, line1, line2, city, country) VALUES
  ('acme', 'cus_9Qm4', 'addr_1', '17 Example Lane', '',        'Kiel',     'DE'),
  ('acme', 'cus_9Qm4', 'addr_2', '4 Harbour Row',   'Floor 3', 'Lübeck',   'DE'),
  ('acme', 'cus_4Hk2', 'addr_1', '3 Mill Court',    '',        'Bremen',   'DE'),
  ('acme', 'cus_4Hk2', 'addr_7', '21 Dyke Road',    '',        'Emden',    'DE'),
  ('acme', 'cus_7Rw8', 'addr_3', '1 Abbey Lane',    '',        'Sligo',    'IE'),
  ('acme', 'cus_2Zt6', 'addr_5', '2 Strandgatan',   '',        'Visby',    'SE'),
  ('acme', 'cus_5Pd1', 'addr_9', '7 Seestrasse',    '',        'Zug',      'CH');

INSERT INTO orders (number, tenant, customer_id, status, placed_at, total_minor, currency) VALUES
  (1001, 'acme',   'cus_9Qm4', 'shipped',   '2026-01-12T10:20:00Z',  4990, 'EUR'),
  (1002, 'acme',   'cus_4Hk2', 'open',      '2026-01-30T08:05:00Z', 12900, 'EUR'),
  (1003, 'acme',   'cus_9Qm4', 'cancelled', '2026-02-03T16:41:00Z',  2450, 'EUR'),
  (1004, 'acme',   'cus_9Qm4', 'open',      '2026-02-19T11:11:00Z',  8800, 'EUR'),
  (1005, 'globex', 'cus_8Xe3', 'open',      '2026-02-20T09:00:00Z',   700, 'EUR'),
  (1006, 'acme',   'cus_7Rw8', 'shipped',   '2026-02-21T13:37:00Z',  3150, 'EUR'),
  (1007, 'acme',   'cus_9Qm4', 'open',      '2026-02-28T18:02:00Z', 15900, 'EUR'),
  (1008, 'acme',   'cus_5Pd1', 'open',      '2026-03-01T07:45:00Z',  6400, 'CHF');

INSERT INTO warehouses (tenant, id, city, country) VALUES
  ('acme',   'wh_north', 'Hamburg',   'DE'),
  ('acme',   'wh_west',  'Galway',    'IE'),
  ('globex', 'wh_main',  'Rotterdam', 'NL');

INSERT INTO refund_cases (tenant, ref, state, charged, currency) VALUES
  ('acme',   'case_A1b2C3d4E5f6G7h8', 'open',   4990, 'EUR'),
  ('acme',   'case_Z9y8X7w6V5u4T3s2', 'closed', 2450, 'EUR'),
  ('globex', 'case_Q1q2Q3q4Q5q6Q7q8', 'open',    700, 'EUR');
