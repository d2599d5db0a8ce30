-- Alerts: rules that are looked at again and again, what became of them, and whom they tell.
CREATE SCHEMA alerts;

CREATE TABLE alerts.rule (
  account_id text COLLATE "C" NOT NULL,
  rule text COLLATE "C" NOT NULL,
  title text,
  -- what is looked at: the name of a source, and its fields as JSON
  source text COLLATE "C" NOT NULL,
  fields text NOT NULL,
  -- at most one of them
  above double precision,
  below double precision,
  for_seconds integer NOT NULL,
  every_seconds integer NOT NULL,
  -- as JSON, as are labels and notify
  by_labels text NOT NULL,
  severity text COLLATE "C" NOT NULL,
  labels text NOT NULL,
  runbook_url text,
  -- as answers show it
  notify text NOT NULL,
  -- addresses that hold a secret, by their place in notify, encrypted with account and rule; null: there is none
  sealed bytea,
  repeat_seconds integer,
  key_id text COLLATE "C" NOT NULL,
  -- grows with each change: a look that began before it changes nothing
  version integer NOT NULL,
  -- `ok`, `pending`, `firing`, `unknown`
  state text COLLATE "C" NOT NULL,
  since_at timestamptz NOT NULL,
  value double precision,
  -- series as JSON, and how many more there were
  series text NOT NULL,
  more_series integer NOT NULL DEFAULT 0,
  -- why it is unknown, or what else its owner should know
  words text,
  -- looks that failed, one after the other
  failures integer NOT NULL DEFAULT 0,
  -- whether the state unknown was told
  unknown_told boolean NOT NULL DEFAULT false,
  -- when it was last told to fire
  told_at timestamptz,
  -- the step of the last look; null: none yet
  looked_at timestamptz,
  took_ms double precision NOT NULL DEFAULT 0,
  -- it is looked at in each so many steps
  spread integer NOT NULL DEFAULT 1,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, rule)
) WITH (fillfactor = 70);
CREATE INDEX rule_due ON alerts.rule (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX rule_far ON alerts.rule (due_at);
CREATE INDEX rule_state ON alerts.rule (account_id, state, rule) WHERE state <> 'ok';

-- What changed at a look.
CREATE TABLE alerts.change (
  account_id text COLLATE "C" NOT NULL,
  change_id text COLLATE "C" NOT NULL,
  rule text COLLATE "C" NOT NULL,
  -- the step
  at timestamptz NOT NULL,
  state_before text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  value double precision,
  -- series that changed, as JSON, and how many more
  series text NOT NULL,
  more_series integer NOT NULL DEFAULT 0,
  -- notices that were written with it
  notices integer NOT NULL,
  mails integer NOT NULL,
  words text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, change_id)
);
CREATE INDEX change_of_rule ON alerts.change (account_id, rule, change_id);
CREATE INDEX change_mails ON alerts.change (account_id, created_at) WHERE mails > 0;
CREATE INDEX change_age ON alerts.change (created_at);

-- Rules, or labels, that tell nothing until a time.
CREATE TABLE alerts.silence (
  account_id text COLLATE "C" NOT NULL,
  -- of what it is about: a rule, or labels
  silence_id text COLLATE "C" NOT NULL,
  rule text COLLATE "C",
  -- as JSON
  labels text,
  words text,
  key_id text COLLATE "C" NOT NULL,
  until_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, silence_id)
);
CREATE INDEX silence_age ON alerts.silence (until_at);

-- Notices to addresses, written in the commit that they tell.
CREATE TABLE alerts.post (
  account_id text COLLATE "C" NOT NULL,
  post_id text COLLATE "C" NOT NULL,
  rule text COLLATE "C" NOT NULL,
  -- `url`, `slack`
  kind text COLLATE "C" NOT NULL,
  -- the address, encrypted with account and id
  sealed bytea NOT NULL,
  body text NOT NULL,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, post_id)
);
CREATE INDEX post_due ON alerts.post (account_id, due_at) WHERE due_at IS NOT NULL;

-- Notices to queues.
CREATE TABLE alerts.notice (
  account_id text COLLATE "C" NOT NULL,
  notice_id text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, notice_id)
);
CREATE INDEX notice_due ON alerts.notice (account_id, due_at) WHERE due_at IS NOT NULL;

SELECT core.distribute();
