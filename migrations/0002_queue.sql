-- Queues. One table of messages for all queues; two indexes on it for standard queues (docs/architecture.md, "Queue storage").

CREATE SCHEMA queue;

CREATE TABLE queue.queue (
  account_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  type text NOT NULL,
  message_retention_days smallint NOT NULL,
  max_message_size_kb smallint NOT NULL,
  visibility_timeout_default integer NOT NULL,
  delivery_delay_seconds integer NOT NULL,
  enable_priority boolean NOT NULL,
  -- whether priority was ever on: then messages may stand in several bands
  has_bands boolean NOT NULL,
  dlq_id bigint,
  -- earlier dead-letter queues: messages of this queue may still lie there
  former_dlq_ids bigint[] NOT NULL DEFAULT '{}',
  max_receive_count integer NOT NULL,
  paused boolean NOT NULL DEFAULT false,
  -- grows with every change: statements that use remembered settings check it
  revision integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, name)
);
CREATE UNIQUE INDEX queue_by_id ON queue.queue (account_id, queue_id);
CREATE INDEX queue_by_dlq ON queue.queue (account_id, dlq_id) WHERE dlq_id IS NOT NULL;

-- seq is the account's time-ordered number (milliseconds in the upper bits): publish order, message id and publish time in one.
-- band: 10 - priority, or 127 during the last lease a message may have: expiry there means the dead-letter queue.
-- visible_at: available_at while not leased, the end of the lease while leased.
CREATE TABLE queue.message (
  account_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  seq bigint NOT NULL,
  visible_at timestamptz NOT NULL,
  band smallint NOT NULL,
  home_band smallint NOT NULL,
  priority smallint NOT NULL,
  leased boolean NOT NULL,
  attempt integer NOT NULL,
  delivery_count integer NOT NULL,
  delivery_base integer NOT NULL,
  source_queue_id bigint,
  -- when retention starts if not at publishing: dead-lettering, redrive
  retain_from timestamptz,
  group_id text COLLATE "C",
  deduplication_id text,
  headers text,
  -- why the latest nack that said so gave it back
  reason text,
  payload text NOT NULL,
  PRIMARY KEY (account_id, queue_id, seq)
) WITH (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.2,
  toast.autovacuum_vacuum_scale_factor = 0.02
);
CREATE INDEX message_ready ON queue.message (account_id, queue_id, band, visible_at, seq);
CREATE INDEX message_group ON queue.message (account_id, queue_id, group_id, seq) WHERE group_id IS NOT NULL;
CREATE INDEX message_dead ON queue.message (account_id, source_queue_id, seq) WHERE source_queue_id IS NOT NULL;

-- One row per live FIFO group. ready_at: when the head may be claimed, or when the first of its leases ends.
CREATE TABLE queue.fifo_group (
  account_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  group_id text COLLATE "C" NOT NULL,
  ready_at timestamptz NOT NULL,
  head_seq bigint NOT NULL,
  in_flight bigint[] NOT NULL,
  PRIMARY KEY (account_id, queue_id, group_id)
) WITH (fillfactor = 60);
CREATE INDEX fifo_group_ready ON queue.fifo_group (account_id, queue_id, ready_at, head_seq);

-- FIFO deduplication: the record as first accepted.
CREATE TABLE queue.dedup (
  account_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  deduplication_id text COLLATE "C" NOT NULL,
  answer text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, queue_id, deduplication_id)
);
CREATE INDEX dedup_expiry ON queue.dedup (expires_at);

-- Changes of the counts, appended by every transaction and folded into queue.total in the background.
-- live: messages in the queue; dead: messages of this queue now in its dead-letter queue.
CREATE TABLE queue.delta (
  account_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  delta_id text COLLATE "C" NOT NULL,
  live integer NOT NULL,
  dead integer NOT NULL,
  PRIMARY KEY (account_id, queue_id, delta_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE queue.total (
  account_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  live bigint NOT NULL,
  dead bigint NOT NULL,
  PRIMARY KEY (account_id, queue_id)
) WITH (fillfactor = 60);

-- Deleted queues whose messages are still to be removed.
CREATE TABLE queue.tombstone (
  account_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  PRIMARY KEY (account_id, queue_id)
);

CREATE TABLE queue.redrive (
  account_id text COLLATE "C" NOT NULL,
  redrive_id text COLLATE "C" NOT NULL,
  queue_id bigint NOT NULL,
  dlq_id bigint,
  state text NOT NULL,
  moved integer NOT NULL,
  requested integer,
  message_seqs bigint[],
  rate_per_second integer,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (account_id, redrive_id)
);
CREATE INDEX redrive_by_queue ON queue.redrive (account_id, queue_id, redrive_id);
CREATE UNIQUE INDEX redrive_one_running ON queue.redrive (account_id, queue_id) WHERE state = 'running';
CREATE INDEX redrive_running ON queue.redrive (created_at) WHERE state = 'running';
