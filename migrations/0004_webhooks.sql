-- Webhooks: registrations, their deliveries, and one line per webhook that says when its earliest delivery is due.

CREATE TABLE core.webhook (
  account_id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  events text[] NOT NULL,
  description text,
  retry_policy text NOT NULL,
  -- JSON object, encrypted
  headers bytea,
  -- encrypted
  secret bytea NOT NULL,
  -- signs beside the new one until then
  previous_secret bytea,
  previous_secret_until timestamptz,
  secret_last4 text NOT NULL,
  status text NOT NULL,
  disabled_reason text,
  disabled_at timestamptz,
  -- failed attempts since the last success, and when the first of them ended
  failed_attempts integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, webhook_id)
) WITH (fillfactor = 70);

-- One event for one webhook. The body is made from core.event at each attempt.
-- due_at: when the next attempt is due, or the end of the lease while one runs; null when the delivery is over.
-- attempt: attempts begun, and the fence of their outcomes. attempts: JSON list of those that ended.
CREATE TABLE core.delivery (
  account_id text COLLATE "C" NOT NULL,
  delivery_id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  event_sequence bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  event_type text NOT NULL,
  status text NOT NULL,
  attempt integer NOT NULL,
  due_at timestamptz,
  http_status integer,
  error_code text,
  latency_ms integer,
  response_snippet text,
  -- JSON object, masked
  request_headers text,
  attempts text,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (account_id, delivery_id)
) WITH (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX delivery_due ON core.delivery (account_id, webhook_id, due_at, delivery_id) WHERE due_at IS NOT NULL;
CREATE INDEX delivery_by_webhook ON core.delivery (account_id, webhook_id, delivery_id);
CREATE INDEX delivery_age ON core.delivery (created_at);

-- health: 0 unknown, 1 the last attempt succeeded, 2 it failed. due_at: null when nothing is due, ever.
-- Each health has its own slots for attempts and so is searched by itself: what must wait never hides what need not.
CREATE TABLE core.delivery_line (
  account_id text COLLATE "C" NOT NULL,
  webhook_id text COLLATE "C" NOT NULL,
  health smallint NOT NULL,
  due_at timestamptz,
  PRIMARY KEY (account_id, webhook_id)
) WITH (
  fillfactor = 60,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX delivery_line_due ON core.delivery_line (health, due_at) WHERE due_at IS NOT NULL;

-- As in 0003: plans of hot statements are made for the worst case, whatever the tables hold at the moment.
INSERT INTO core.worst_case (target, same, columns, example) VALUES ('core.delivery', '{account_id, webhook_id}',
  $$delivery_id, webhook_id, event_sequence, event_id, event_type, status, attempt, due_at, created_at$$,
  $$n::text, n::text, n, n::text, n::text, n::text, 0, timestamptz '2024-01-01 00:00:00Z' + n * interval '1 second', timestamptz '2024-01-01 00:00:00Z' + n * interval '1 second'$$);

INSERT INTO core.worst_case (target, same, columns, example) VALUES ('core.delivery_line', '{account_id, health}',
  $$webhook_id, health, due_at$$,
  $$n::text, n, timestamptz '2024-01-01 00:00:00Z' + n * interval '1 second'$$);

-- How often an account replaced the secret that signs what is told to URLs of single pieces of work; no row: never.
CREATE TABLE core.webhook_secret (
  account_id text COLLATE "C" PRIMARY KEY,
  generation integer NOT NULL,
  rotated_at timestamptz NOT NULL
);
