-- Analytics: people and the names they are known by, beside the blocks of events.

CREATE SCHEMA analytics;

-- Made with an account's first event. numbers: the last number that a distinct ID was given. changes: counts joins and deletions of people.
CREATE TABLE analytics.account (
  account_id text COLLATE "C" NOT NULL,
  numbers integer NOT NULL,
  changes bigint NOT NULL,
  PRIMARY KEY (account_id)
) WITH (fillfactor = 50);

-- What a person is known by. Events hold the number, which never changes and is never given again; person is the number of one of the
-- person's IDs, and changes when people are joined. changed: which of the account's changes that was; 0: it is as it was made.
CREATE TABLE analytics.alias (
  account_id text COLLATE "C" NOT NULL,
  distinct_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  person integer NOT NULL,
  changed bigint NOT NULL,
  PRIMARY KEY (account_id, distinct_id)
);
CREATE INDEX alias_person ON analytics.alias (account_id, person, number);
CREATE INDEX alias_changed ON analytics.alias (account_id, changed) WHERE changed > 0;

-- Of people who were identified, joined or given properties; of the others there is nothing to keep. ids: how many they have.
CREATE TABLE analytics.person (
  account_id text COLLATE "C" NOT NULL,
  person integer NOT NULL,
  ids integer NOT NULL,
  is_identified boolean NOT NULL,
  -- JSON
  properties text NOT NULL,
  created_ms bigint NOT NULL,
  updated_ms bigint NOT NULL,
  PRIMARY KEY (account_id, person)
);

-- Numbers of deleted people: no question counts their events, and a sweep removes these from the blocks. Then the row goes.
CREATE TABLE analytics.deleted (
  account_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  changed bigint NOT NULL,
  PRIMARY KEY (account_id, number)
);

-- UUIDs of events, by the sequence numbers of when they came, for 7 days.
CREATE TABLE analytics.seen (
  account_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  uuid bytea NOT NULL,
  PRIMARY KEY (account_id, uuid, seq)
) PARTITION BY RANGE (seq);

INSERT INTO core.partitioned (parent, period) VALUES ('analytics.seen', 'day');

SELECT core.distribute();
