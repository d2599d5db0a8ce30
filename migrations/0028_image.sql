-- Image jobs, in the form of those of videos; core.turn says when the next job of an account is due.

CREATE SCHEMA image;

-- due_at: when the next step of a live job is due, or when the lease of the step under way ends; null once nothing is left to do.
-- attempt: steps begun, and the fence of their outcomes. version: counts the changes of state; whoever ends a job has seen the last.
CREATE TABLE image.job (
  account_id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  operation text NOT NULL,
  parent_job_id text COLLATE "C",
  -- the call that made it
  key_id text COLLATE "C" NOT NULL,
  request_id text NOT NULL,
  trace_id text NOT NULL,
  entry_form text NOT NULL,
  state text COLLATE "C" NOT NULL,
  version integer NOT NULL DEFAULT 0,
  -- of the vendor that works, or is the first to be asked; model: `vendor/model`
  vendor text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  -- JSON: what is to be made; its words are emptied when the images go
  request text NOT NULL,
  -- JSON: the vendors that may be asked with their quotes, as they were when the job was accepted
  chain text NOT NULL,
  -- the place in the chain that works, or is asked next; what the vendors before it left for
  place integer NOT NULL DEFAULT 0,
  left_reason text,
  store boolean NOT NULL,
  retention_days integer NOT NULL,
  hold_id text COLLATE "C" NOT NULL,
  held_nanos bigint NOT NULL,
  storage_nanos bigint NOT NULL,
  -- which kind of background work takes its steps
  work text COLLATE "C" NOT NULL,
  due_at timestamptz,
  -- a process is at work on its step
  leased boolean NOT NULL DEFAULT false,
  attempt integer NOT NULL DEFAULT 0,
  progress_pct integer,
  current_step text,
  -- how long such work takes, as others of its kind took
  expected_ms bigint,
  created_at timestamptz NOT NULL,
  running_at timestamptz,
  deadline_at timestamptz NOT NULL,
  finished_at timestamptz,
  -- what told its end
  event_id text COLLATE "C",
  -- JSON: error, end_reason and how a cancel stands
  ended text,
  cost_nanos bigint,
  -- JSON: what was made
  made text,
  warnings text[] NOT NULL DEFAULT '{}',
  -- when its bytes go
  expires_at timestamptz,
  -- its owner deleted it; only its money is still there
  deleted boolean NOT NULL DEFAULT false,
  -- the process that took its latest step
  worker_id text,
  -- processes that died, one after the other, while they rendered the job, or fetched its images
  deaths integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, job_id)
) WITH (fillfactor = 70);
CREATE INDEX job_due ON image.job (account_id, work, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX job_live ON image.job (account_id) WHERE state IN ('queued', 'running');
CREATE INDEX job_expiry ON image.job (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX job_age ON image.job (finished_at) WHERE finished_at IS NOT NULL;

-- Who is told of the end of a job. due_at: when the next attempt is due, or when the lease of the one under way ends; null while the job
-- lives and once it was told or given up. attempt: attempts begun, and the fence of their outcomes.
CREATE TABLE image.webhook (
  account_id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  url text NOT NULL,
  status text NOT NULL,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, job_id, number)
) WITH (fillfactor = 70);
CREATE INDEX webhook_due ON image.webhook (account_id, due_at) WHERE due_at IS NOT NULL;

SELECT core.distribute();
