-- Metrics: series by name and labels, beside the blocks of their samples.

CREATE SCHEMA metrics;

-- Hours are those since 1970, UTC. Of a series: in which its samples lie, and the last one in which it was counted as live.
CREATE TABLE metrics.series (
  account_id text COLLATE "C" NOT NULL,
  -- four bytes of a hash of the name, twelve of name and labels
  series_id bytea NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- a JSON object sorted by key, without the name
  labels text COLLATE "C" NOT NULL,
  first_hour integer NOT NULL,
  last_hour integer NOT NULL,
  live_hour integer NOT NULL,
  -- of what comes as differences: what they have added up to
  -- eight bytes, lowest first
  total bytea,
  PRIMARY KEY (account_id, series_id)
);
-- What is to be forgotten.
CREATE INDEX series_old ON metrics.series (greatest(last_hour, live_hour));

-- What is known of a metric, whether it has series of exactly this name or of names made of it (_bucket, _sum, _count).
CREATE TABLE metrics.metric (
  account_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  type text COLLATE "C",
  help text COLLATE "C",
  unit text COLLATE "C",
  -- has series of this very name
  is_series boolean NOT NULL,
  seen_hour integer NOT NULL,
  PRIMARY KEY (account_id, name)
);
CREATE INDEX metric_old ON metrics.metric (seen_hour);

-- The number of series that were live in an hour, and of metrics that are known.
CREATE TABLE metrics.account (
  account_id text COLLATE "C" NOT NULL,
  live_hour integer NOT NULL,
  live integer NOT NULL,
  metrics integer NOT NULL,
  PRIMARY KEY (account_id)
);

SELECT core.distribute();
