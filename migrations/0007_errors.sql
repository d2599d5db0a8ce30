-- Error tracking. Events are cut into partitions by the day of their receipt; groups and their counts outlive them.

CREATE SCHEMA errors;

-- seq is the account's time-ordered number: event id, order and time of receipt in one, and so the partition column: a partition
-- holds the numbers of one UTC day. Partitions are made and dropped by the running service.
CREATE TABLE errors.event (
  account_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  group_id bigint NOT NULL,
  level text COLLATE "C" NOT NULL,
  title text NOT NULL,
  message text,
  environment text COLLATE "C",
  release text COLLATE "C",
  user_id text COLLATE "C",
  -- when it happened by the word of an SDK; null: when it was received
  occurred_at timestamptz,
  -- JSON object
  tags text NOT NULL,
  -- everything that only the full record shows: the block of errors.event_detail, and the line there, from 0
  detail_seq bigint NOT NULL,
  detail_line integer NOT NULL,
  -- what search and filters look for, each word behind a mark of the account: without it the index would mix all accounts
  words text[] COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, seq)
) PARTITION BY RANGE (seq);
CREATE INDEX event_by_group ON errors.event (account_id, group_id, seq);
-- New entries wait in a list that the insert which fills it sorts into the tree: of the usual 4 MB, 50 ms in one commit every second.
-- Of 512 kB, p99 of captures 28 in place of 45 ms at the same rate; of 64 kB, or without the list, captures are 0.9 and 0.8 as many.
CREATE INDEX event_words ON errors.event USING gin (words) WITH (gin_pending_list_limit = 512);

-- What only the full record of an event shows: JSON objects in UTF-8, a line each, deflated (zlib) when they are long. A block holds
-- events of one commit and one day; seq is that of the first.
CREATE TABLE errors.event_detail (
  account_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  lines bytea NOT NULL,
  PRIMARY KEY (account_id, seq)
) PARTITION BY RANGE (seq);
ALTER TABLE errors.event_detail ALTER COLUMN lines SET STORAGE EXTERNAL;

INSERT INTO core.partitioned (parent, period) VALUES ('errors.event', 'day'), ('errors.event_detail', 'day');

-- group_id is the seq of the first event. Every change happens under the wallet lock of the account.
CREATE TABLE errors.error_group (
  account_id text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  group_id bigint NOT NULL,
  title text NOT NULL,
  level text NOT NULL,
  is_resolved boolean NOT NULL,
  is_ignored boolean NOT NULL,
  assigned_to text,
  count bigint NOT NULL,
  user_count bigint NOT NULL,
  -- distinct tag names that have facets
  tag_names integer NOT NULL,
  last_seq bigint NOT NULL,
  -- events of the last 65 minutes, minute by minute: `minute;count,count,…` from the newest back
  recent text NOT NULL,
  -- events of the last 48 clock hours in the same way
  hours text NOT NULL,
  -- JSON: [kind, name, value, events] of each facet, of the kinds of errors.facet_count; null once they are rows there
  facets text,
  -- when error.captured and error.rate_anomaly were last told
  told_at timestamptz,
  anomaly_at timestamptz,
  PRIMARY KEY (account_id, fingerprint)
) WITH (fillfactor = 70);
-- Every group has a count and a last event. Only who says so gets these indexes: for a look-up by fingerprint the planner, which
-- knows nothing of how many groups one account has, took any index that begins with the account and read all of its groups.
CREATE UNIQUE INDEX error_group_by_id ON errors.error_group (account_id, group_id) WHERE last_seq > 0;
CREATE INDEX error_group_by_last ON errors.error_group (account_id, last_seq) WHERE count > 0;
CREATE INDEX error_group_by_count ON errors.error_group (account_id, count, group_id) WHERE count > 0;

-- Events per day of receipt (days since the Unix epoch) that the partitions hold; group 0 stands for the whole account.
CREATE TABLE errors.day_count (
  account_id text COLLATE "C" NOT NULL,
  group_id bigint NOT NULL,
  day integer NOT NULL,
  -- '' for none
  environment text COLLATE "C" NOT NULL,
  level text COLLATE "C" NOT NULL,
  events bigint NOT NULL,
  PRIMARY KEY (account_id, group_id, day, environment, level)
) WITH (fillfactor = 60);

-- Facets of the groups that have too many for their row, by kind: 1 user, 2 release, 3 environment, 4 tag (name and value), 5 distinct
-- values of a tag name.
CREATE TABLE errors.facet_count (
  account_id text COLLATE "C" NOT NULL,
  group_id bigint NOT NULL,
  kind smallint NOT NULL,
  name text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  events bigint NOT NULL,
  PRIMARY KEY (account_id, group_id, kind, name, value)
) WITH (fillfactor = 70);

CREATE TABLE errors.comment (
  account_id text COLLATE "C" NOT NULL,
  group_id bigint NOT NULL,
  comment_id text COLLATE "C" NOT NULL,
  text text NOT NULL,
  key_id text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, group_id, comment_id)
);

CREATE TABLE errors.activity (
  account_id text COLLATE "C" NOT NULL,
  group_id bigint NOT NULL,
  activity_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  -- null: an event did it
  key_id text,
  -- assigned: to whom, null for nobody; commented: the comment; reopened: the event
  subject text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, group_id, activity_id)
);
