-- Blocks: records of many kinds, packed by columns.

-- A block holds records of one account and one kind, of one span of time (an hour, of most kinds). seq: the sequence number of its first
-- record's time, which gives it its partition. block_id: one of the account's sequence numbers.
CREATE TABLE core.block (
  account_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  block_id bigint NOT NULL,
  from_ms bigint NOT NULL,
  to_ms bigint NOT NULL,
  records integer NOT NULL,
  -- of its columns without their compression
  bytes integer NOT NULL,
  -- how often it was merged; 0: it is as it was committed
  level smallint NOT NULL,
  -- when a merged block took its place: it can be read for a while, and is listed no more
  replaced_ms bigint,
  -- the kind's own, of few bytes
  summary bytea NOT NULL,
  -- a Bloom filter, in buckets of 64 bytes
  marks bytea NOT NULL,
  -- names of the columns, and where each begins in the body, from 0; the last one is the end
  names text[] NOT NULL,
  starts integer[] NOT NULL,
  -- null: in the asset store, under asset_key
  body bytea,
  asset_key text COLLATE "C",
  PRIMARY KEY (account_id, kind, seq, block_id, level)
) PARTITION BY RANGE (seq);
-- What is not compressed again can be read in parts.
ALTER TABLE core.block ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE core.block ALTER COLUMN marks SET STORAGE EXTERNAL;
-- What waits to be merged, what was replaced, what was committed lately, and what has grown old.
CREATE INDEX block_small ON core.block (kind, account_id, from_ms) INCLUDE (records) WHERE level = 0 AND replaced_ms IS NULL;
CREATE INDEX block_replaced ON core.block (kind, replaced_ms) WHERE replaced_ms IS NOT NULL;
CREATE INDEX block_recent ON core.block (account_id, kind, block_id) WHERE level = 0;
CREATE INDEX block_asset ON core.block (account_id, asset_key) WHERE asset_key IS NOT NULL;
CREATE INDEX block_age ON core.block (kind, seq) INCLUDE (account_id);

-- How long an account keeps its blocks of a kind, where it is not as long as usual. swept_day: up to which day the sweep has looked.
CREATE TABLE core.block_keeping (
  account_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  keep_days integer NOT NULL,
  swept_day integer NOT NULL,
  PRIMARY KEY (account_id, kind)
);

INSERT INTO core.partitioned (parent, period) VALUES ('core.block', 'day');

SELECT core.distribute();
