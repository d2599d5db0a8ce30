-- Module realtime: channels, what was published to them, and who is there.

CREATE SCHEMA realtime;

-- What an account has set, and the API key that its app is. key_id null: nobody has asked for the app yet.
CREATE TABLE realtime.app (
  account_id text COLLATE "C" PRIMARY KEY,
  key_id text COLLATE "C",
  history_seconds integer NOT NULL,
  client_events boolean NOT NULL,
  updated_at timestamptz NOT NULL
);

-- What was published, for as long as it is delivered and up to an hour of history: one row for each channel, in the account's sequence.
-- data: JSON text; null: that of the row data_seq, whose publish named several channels.
CREATE TABLE realtime.message (
  account_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  channel text COLLATE "C" NOT NULL,
  event text NOT NULL,
  data text,
  data_seq bigint,
  -- the connection that does not get it
  socket_id text,
  -- who sent it, as subscribers see it
  user_id text,
  PRIMARY KEY (account_id, seq)
) PARTITION BY RANGE (seq);
CREATE INDEX message_channel ON realtime.message (account_id, channel, seq);

-- The same again of accounts whose history is longer than an hour.
CREATE TABLE realtime.kept_message (LIKE realtime.message INCLUDING ALL) PARTITION BY RANGE (seq);

-- Processes that have subscribers. One that has not renewed its lease in time is ended by another one, and its rows below are deleted.
CREATE TABLE realtime.process (
  process_id text COLLATE "C" NOT NULL PRIMARY KEY,
  is_ended boolean NOT NULL,
  lease_until timestamptz NOT NULL
);

-- A channel is occupied while it has a row. subscriptions: those of one process.
CREATE TABLE realtime.occupancy (
  account_id text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  process_id text COLLATE "C" NOT NULL,
  subscriptions integer NOT NULL,
  PRIMARY KEY (account_id, channel, process_id)
);
CREATE INDEX occupancy_process ON realtime.occupancy (process_id, account_id);

-- A user is a member of a presence channel while it has a row. user_info: JSON.
CREATE TABLE realtime.presence (
  account_id text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  process_id text COLLATE "C" NOT NULL,
  user_info text NOT NULL,
  PRIMARY KEY (account_id, channel, user_id, process_id)
);

SELECT core.distribute();

ALTER TABLE core.partitioned DROP CONSTRAINT partitioned_period_check;
ALTER TABLE core.partitioned ADD CONSTRAINT partitioned_period_check CHECK (period IN ('hour', 'day', 'month'));
INSERT INTO core.partitioned (parent, period) VALUES ('realtime.message', 'hour'), ('realtime.kept_message', 'day');
