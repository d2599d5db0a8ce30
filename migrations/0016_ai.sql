-- Answers of models that callers asked to be kept for the same request again.
CREATE SCHEMA ai;

CREATE TABLE ai.cached_answer (
  account_id text COLLATE "C" NOT NULL,
  -- of the model that was chosen and the canonical request
  digest text COLLATE "C" NOT NULL,
  -- encrypted for the account and the digest
  sealed bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, digest)
);
CREATE INDEX cached_answer_expiry ON ai.cached_answer (expires_at);

-- Batches: calls of models that are made in the background.
CREATE TABLE ai.batch (
  account_id text COLLATE "C" NOT NULL,
  batch_id text COLLATE "C" NOT NULL,
  -- under which its requests are made
  key_id text COLLATE "C" NOT NULL,
  -- queued, running, completed, failed, cancelled, expired
  status text COLLATE "C" NOT NULL,
  -- cancelled or expired: what it is once nothing of it is under way; null: what its requests came to
  ends_as text COLLATE "C",
  total integer NOT NULL,
  succeeded integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  cost_nanos bigint NOT NULL DEFAULT 0,
  -- of its requests that wait, and of its results
  kept_bytes bigint NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (account_id, batch_id)
);
CREATE INDEX batch_expiry ON ai.batch (expires_at) WHERE finished_at IS NULL AND ends_as IS NULL;
CREATE INDEX batch_finished ON ai.batch (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE ai.batch_item (
  account_id text COLLATE "C" NOT NULL,
  batch_id text COLLATE "C" NOT NULL,
  -- its place among the requests
  item_no integer NOT NULL,
  custom_id text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  -- what is asked, encrypted; null once it is over
  request bytea,
  -- when it is due, or when its lease ends; null once it is over
  due_at timestamptz,
  leased boolean NOT NULL DEFAULT false,
  attempt integer NOT NULL DEFAULT 0,
  -- failures after which it was tried again
  tries integer NOT NULL DEFAULT 0,
  -- leases that ended while it was under way
  takeovers integer NOT NULL DEFAULT 0,
  -- its place among the results; null: it is not over
  result_no integer,
  -- encrypted; null: it failed
  response bytea,
  -- JSON {code, message}
  error text,
  cost_nanos bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, batch_id, item_no)
);
CREATE INDEX batch_item_due ON ai.batch_item (account_id, due_at, batch_id, item_no) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX batch_item_result ON ai.batch_item (account_id, batch_id, result_no) WHERE result_no IS NOT NULL;

SELECT core.distribute();
