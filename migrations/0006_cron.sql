-- Scheduled jobs and their runs; core.turn says when an account's next slot, or the next end of a lease, is due.

CREATE SCHEMA cron;

CREATE TABLE cron.job (
  account_id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  -- the key that created it: its runs are booked under it
  key_id text COLLATE "C" NOT NULL,
  name text,
  task_url text NOT NULL,
  -- either this or run_at
  cron_expr text,
  timezone text NOT NULL,
  run_at timestamptz,
  status text NOT NULL,
  -- null when nothing is due, ever: paused, completed, or the one run is under way
  next_run_at timestamptz,
  -- JSON as it was sent
  payload text,
  -- JSON object, encrypted; null without custom headers
  headers bytea,
  -- encrypted
  secret bytea NOT NULL,
  secret_last4 text NOT NULL,
  -- signs beside the new one until then
  previous_secret bytea,
  previous_secret_until timestamptz,
  last_run_id text COLLATE "C",
  -- JSON: the record of the last run as it is now
  last_run text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, job_id)
) WITH (fillfactor = 70);
CREATE INDEX job_due ON cron.job (account_id, next_run_at, job_id) WHERE next_run_at IS NOT NULL;
CREATE INDEX job_completed ON cron.job (updated_at) WHERE status = 'completed';

-- One row per slot of a job. lease_until: until when the process that runs it is waited for; null when the run is over.
-- attempt: attempts begun, and the fence of their outcomes.
CREATE TABLE cron.run (
  account_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  scheduled_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  status text NOT NULL,
  attempt integer NOT NULL,
  lease_until timestamptz,
  http_status integer,
  error_code text,
  latency_ms integer,
  response_snippet text,
  cost_nanos bigint NOT NULL,
  PRIMARY KEY (account_id, run_id)
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX run_slot ON cron.run (account_id, job_id, scheduled_at);
CREATE INDEX run_lease ON cron.run (account_id, lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX run_age ON cron.run (started_at) WHERE lease_until IS NULL;

