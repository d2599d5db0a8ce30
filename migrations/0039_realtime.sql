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

SELECT core.distribute();

ALTER TABLE core.partitioned DROP CONSTRAINT partitioned_period_check;
ALTER TABLE core.partitioned ADD CONSTRAINT partitioned_period_check CHECK (period IN ('hour', 'day', 'month'));
INSERT INTO core.partitioned (parent, period) VALUES ('realtime.message', 'hour'), ('realtime.kept_message', 'day');
