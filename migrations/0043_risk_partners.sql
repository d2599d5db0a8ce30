-- Schema risk: partners of a key stand in its row, not in a table of pairs, and a decision is kept as it was answered. Counts without their
-- partners would be wrong, and the module is new in this version: what was counted and decided before goes.

DROP TABLE risk.pair;
DROP TABLE risk.window;
DROP TABLE risk.decision;

-- Sightings and distinct partners of one key in steps of time (src/modules/risk/signals/series.ts). Written under the wallet lock only.
CREATE TABLE risk.window (
  account_id text COLLATE "C" NOT NULL,
  key bytea NOT NULL,
  series bytea NOT NULL,
  -- keys that it was seen with in one call, and when last (src/modules/risk/signals/partners.ts)
  partners bytea NOT NULL,
  -- sequence numbers of its latest decisions, 8 bytes each, the newest last
  recent bytea NOT NULL,
  -- days since 1970 of its last decision: it changes once a day, so that updates stay within their page
  last_day integer NOT NULL,
  PRIMARY KEY (account_id, key)
) WITH (fillfactor = 70, toast_tuple_target = 8160);
CREATE INDEX window_last_day ON risk.window (last_day);

CREATE TABLE risk.decision (
  account_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  -- the keys of the call, 16 bytes each
  keys bytea NOT NULL,
  -- JSON, as it was answered
  answer text NOT NULL,
  PRIMARY KEY (account_id, seq)
) PARTITION BY RANGE (seq);
CREATE INDEX decision_action ON risk.decision (account_id, action, seq) WHERE action <> 'allow';
