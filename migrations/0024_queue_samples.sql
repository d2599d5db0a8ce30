-- One row a minute of each queue that holds messages or changed. seq is the start of the minute and the partition column.
CREATE TABLE queue.sample (
  account_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  seq bigint NOT NULL,
  -- since the sample before
  published bigint NOT NULL,
  acknowledged bigint NOT NULL,
  -- at the end of the minute, delayed messages and those in flight included
  depth bigint NOT NULL,
  oldest_age_seconds integer NOT NULL,
  PRIMARY KEY (account_id, queue_id, seq)
) PARTITION BY RANGE (seq);

INSERT INTO core.partitioned (parent, period) VALUES ('queue.sample', 'day');

SELECT core.distribute();

-- What queues did, minute by minute. The counts of a queue gain what was ever published and acknowledged, and total what its last sample saw;
-- an older release that still runs counts neither.
ALTER TABLE queue.delta
  ADD COLUMN published integer NOT NULL DEFAULT 0,
  ADD COLUMN acknowledged integer NOT NULL DEFAULT 0;
ALTER TABLE queue.total
  ADD COLUMN published bigint NOT NULL DEFAULT 0,
  ADD COLUMN acknowledged bigint NOT NULL DEFAULT 0,
  ADD COLUMN sampled_seq bigint NOT NULL DEFAULT 0,
  ADD COLUMN sampled_published bigint NOT NULL DEFAULT 0,
  ADD COLUMN sampled_acknowledged bigint NOT NULL DEFAULT 0,
  ADD COLUMN sampled_depth bigint NOT NULL DEFAULT 0;
