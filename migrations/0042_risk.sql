-- Schema risk: how often each key (ip, email, user, device) was seen, with whom, what was decided, and an account's rules and lists.
-- Keys are keyed hashes: a byte of the kind, then 15 of a hash with a secret of the account.

CREATE SCHEMA risk;

-- Sightings and distinct partners of one key in steps of time (src/modules/risk/signals/series.ts). Written under the wallet lock only.
CREATE TABLE risk.window (
  account_id text COLLATE "C" NOT NULL,
  key bytea NOT NULL,
  series bytea NOT NULL,
  -- sequence numbers of its latest decisions, 8 bytes each, the newest last
  recent bytea NOT NULL,
  last_at timestamptz NOT NULL,
  -- days since 1970 of last_at: it changes once a day, so that updates stay within their page
  last_day integer NOT NULL,
  PRIMARY KEY (account_id, key)
) WITH (fillfactor = 70);
CREATE INDEX window_last_day ON risk.window (last_day);

-- When two keys were last seen in one call; the key of the lower kind is a.
CREATE TABLE risk.pair (
  account_id text COLLATE "C" NOT NULL,
  a bytea NOT NULL,
  b bytea NOT NULL,
  last_at timestamptz NOT NULL,
  last_day integer NOT NULL,
  PRIMARY KEY (account_id, a, b)
) WITH (fillfactor = 80);
CREATE INDEX pair_b ON risk.pair (account_id, b, a);
CREATE INDEX pair_last_day ON risk.pair (last_day);

CREATE TABLE risk.decision (
  account_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  event text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  score smallint NOT NULL,
  -- the keys of the call, 16 bytes each
  keys bytea NOT NULL,
  -- JSON: the signals that are no counts; counts: the others, as varints in the order of their names
  facts text NOT NULL,
  counts bytea NOT NULL,
  -- JSON
  reasons text NOT NULL,
  PRIMARY KEY (account_id, seq)
) PARTITION BY RANGE (seq);
CREATE INDEX decision_action ON risk.decision (account_id, action, seq) WHERE action <> 'allow';
INSERT INTO core.partitioned (parent, period) VALUES ('risk.decision', 'day');

-- `entry` is `<kind>:<value>`: a value stands on one list.
CREATE TABLE risk.entry (
  account_id text COLLATE "C" NOT NULL,
  entry text COLLATE "C" NOT NULL,
  list text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  note text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  PRIMARY KEY (account_id, entry)
);
CREATE INDEX entry_expires_at ON risk.entry (expires_at) WHERE expires_at IS NOT NULL;

-- Absent: the default rules, and no lists. shapes: which kinds of entries there may be, and prefix lengths of networks, as words.
CREATE TABLE risk.settings (
  account_id text COLLATE "C" NOT NULL PRIMARY KEY,
  revision bigint NOT NULL,
  shapes text COLLATE "C" NOT NULL,
  -- JSON; null: the default rules
  rules text,
  updated_at timestamptz NOT NULL
);
