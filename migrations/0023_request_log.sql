-- What calls of an account came to: failed, slow, those of an account that records all, and writes of the account itself. seq is the moment of
-- the call's end and the partition column, as for events of errors: a partition holds the calls of one UTC day, or month.
CREATE TABLE core.request_log (
  account_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  trace_id text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  path text NOT NULL,
  entry_form text COLLATE "C" NOT NULL,
  -- the key, or the person
  caller_id text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  code text COLLATE "C",
  message text,
  param text,
  latency_ms integer NOT NULL,
  cost_nanos bigint NOT NULL,
  bytes_in bigint,
  bytes_out bigint,
  replay boolean NOT NULL,
  vendor text COLLATE "C",
  -- JSON text where it was short, else its beginning; without secrets
  input text,
  address text,
  PRIMARY KEY (account_id, seq)
) PARTITION BY RANGE (seq);
CREATE INDEX request_log_by_id ON core.request_log (request_id);

-- The audit log: writes of the account itself, whoever made them.
CREATE TABLE core.audit_log (LIKE core.request_log INCLUDING ALL) PARTITION BY RANGE (seq);

INSERT INTO core.partitioned (parent, period) VALUES ('core.request_log', 'day'), ('core.audit_log', 'month');

-- Calls that no room was left for, by the hour.
CREATE TABLE core.request_dropped (
  account_id text COLLATE "C" NOT NULL,
  hour timestamptz NOT NULL,
  dropped bigint NOT NULL,
  PRIMARY KEY (account_id, hour)
);
CREATE INDEX request_dropped_hour ON core.request_dropped (hour);

-- Until when an account has all of its calls recorded.
CREATE TABLE core.request_recording (
  account_id text COLLATE "C" NOT NULL,
  record_all_until timestamptz NOT NULL,
  PRIMARY KEY (account_id)
);
CREATE INDEX request_recording_until ON core.request_recording (record_all_until);

SELECT core.distribute();
