-- Accounts, keys, wallet, ledger, idempotency, usage, events, background leases.
-- Every table of an account has account_id first in its primary key; hot tables have no foreign keys (docs/sql-rules.md).

-- The one clock of money, leases and windows. A test clock replaces the function by one with a literal offset.
CREATE FUNCTION core.clock_now() RETURNS timestamptz
  LANGUAGE sql STABLE PARALLEL SAFE
  AS $$ SELECT statement_timestamp() $$;

-- Where the tables lie on a distributed engine (Citus), told by their keys: rows of a table with account_id first in its primary key go
-- to the node of their account; a table that names accounts under another key is a directory, which every node holds whole; all else
-- stays on the coordinator. Called after each migration. Does nothing elsewhere, nor to tables that lie right.
CREATE FUNCTION core.distribute() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  setting text;
  t record;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN RETURN; END IF;
  PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true);
  -- Workers know these from the role: a session tells them only the SET LOCAL of its transactions. Of a pool of one, because a transaction
  -- that has looked at all accounts over several connections to a worker cannot join what it then writes over two of them.
  FOREACH setting IN ARRAY '{lock_timeout = ''2s'', TimeZone = ''UTC'', jit = off, citus.propagate_set_commands = ''local'',
                             citus.max_adaptive_executor_pool_size = 1}'::text[] LOOP
    EXECUTE format('ALTER ROLE CURRENT_USER IN DATABASE %I SET %s', current_database(), setting);
  END LOOP;
  FOR t IN
    SELECT c.oid::regclass AS name, k.attname = 'account_id' AS is_of_account
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'account_id'
      JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
      JOIN pg_attribute k ON k.attrelid = c.oid AND k.attnum = i.indkey[0]
     WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
     ORDER BY c.oid <> 'core.account'::regclass, c.oid
  LOOP
    IF NOT t.is_of_account THEN
      PERFORM create_reference_table(t.name::text);
    ELSIF t.name = 'core.account'::regclass THEN
      PERFORM create_distributed_table('core.account', 'account_id', colocate_with => 'none');
    ELSE
      PERFORM create_distributed_table(t.name::text, 'account_id', colocate_with => 'core.account');
    END IF;
  END LOOP;
END $$;

-- What a table holds at its worst (0003 says why): `same` are columns in which all rows may agree, `columns` and `example` make a row for
-- each n from 1 to 2000, all different.
CREATE TABLE core.worst_case (
  target text PRIMARY KEY,
  same text[] NOT NULL,
  columns text NOT NULL,
  example text NOT NULL,
  shown boolean NOT NULL DEFAULT false
);

-- Shows the planner once what tables hold at their worst, and switches their automatic analysis off. Called when all migrations are
-- committed: a distributed engine lets n_distinct be set only shard by shard, beside the transaction.
CREATE FUNCTION core.show_worst_cases() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  c record;
  agree text;
BEGIN
  FOR c IN SELECT * FROM core.worst_case WHERE NOT shown ORDER BY target LOOP
    agree := 'ALTER TABLE %s ' || (SELECT string_agg(format('ALTER COLUMN %I SET (n_distinct = 1)', name), ', ') FROM unnest(c.same) name);
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
      PERFORM run_command_on_shards(c.target::regclass, agree);
    ELSE
      EXECUTE format(agree, c.target);
    END IF;
    EXECUTE format('ALTER TABLE %s SET (autovacuum_analyze_threshold = 2000000000, autovacuum_analyze_scale_factor = 100)', c.target);
    EXECUTE format('INSERT INTO %s (account_id, %s) SELECT ''statistics '' || n, %s FROM generate_series(1, 2000) n', c.target, c.columns, c.example);
    EXECUTE format('ANALYZE %s', c.target);
    EXECUTE format('DELETE FROM %s WHERE account_id LIKE ''statistics %%''', c.target);
    UPDATE core.worst_case SET shown = true WHERE target = c.target;
  END LOOP;
END $$;

CREATE TABLE core.setting (
  name text PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE core.account (
  account_id text COLLATE "C" PRIMARY KEY,
  project_id text NOT NULL,
  tier text NOT NULL DEFAULT 'standard',
  name text,
  -- somebody has shown that it is theirs, or the operator vouches for it
  email text,
  email_bound boolean NOT NULL DEFAULT false,
  -- none, required, pending, verified, rejected: the operator says so
  kyc_status text NOT NULL DEFAULT 'none',
  -- whether mail is sent about spending and about payments
  mails boolean NOT NULL DEFAULT true,
  -- asked to be deleted; until then a person can take it back
  purge_at timestamptz,
  -- how far that is: asked, silent (its webhooks are told nothing more), purging, purged; null: nobody has asked
  purge_step text,
  -- whether the operator had suspended it before
  was_suspended boolean NOT NULL DEFAULT false,
  -- why it has no sign-up credit; null: it has, or none is given
  trial_withheld text,
  -- most that is charged in a UTC month without the payer
  charge_limit_nanos bigint NOT NULL DEFAULT 500000000000,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
-- How the operator looks for accounts.
CREATE INDEX account_name ON core.account (lower(name) text_pattern_ops) WHERE name IS NOT NULL;
CREATE INDEX account_email ON core.account (lower(email) text_pattern_ops) WHERE email IS NOT NULL;
CREATE INDEX account_purge ON core.account (purge_at) WHERE purge_step IN ('asked', 'silent', 'purging');

-- An address that somebody is to show to be theirs, by a code or a link that is mailed there; the last one that was asked for.
CREATE TABLE core.email_binding (
  account_id text COLLATE "C" PRIMARY KEY,
  email text NOT NULL,
  code_hash bytea NOT NULL,
  link_hash bytea NOT NULL,
  tries integer NOT NULL,
  expires_at timestamptz NOT NULL
);

-- One row per account: what a lane locks. last_seq hands out the account's time-ordered sequence numbers.
CREATE TABLE core.wallet (
  account_id text COLLATE "C" PRIMARY KEY,
  balance_nanos bigint NOT NULL CHECK (balance_nanos >= 0),
  held_nanos bigint NOT NULL CHECK (held_nanos >= 0),
  last_seq bigint NOT NULL,
  day_start timestamptz NOT NULL,
  day_used_nanos bigint NOT NULL,
  day_held_nanos bigint NOT NULL,
  month_start timestamptz NOT NULL,
  month_used_nanos bigint NOT NULL,
  month_held_nanos bigint NOT NULL,
  budget_period text,
  budget_cap_nanos bigint,
  budget_alert_nanos bigint,
  budget_alerted_for timestamptz,
  last_grant_nanos bigint NOT NULL,
  low_balance_armed boolean NOT NULL,
  suspended boolean NOT NULL DEFAULT false,
  -- dispute, debt, or null
  frozen_reason text,
  -- taken back beyond what the wallet had; every later credit pays it first
  debt_nanos bigint NOT NULL DEFAULT 0 CHECK (debt_nanos >= 0),
  -- auto-recharge: below which balance (null: never), when it is to be looked at, and the one charge that may be under way
  recharge_trigger_nanos bigint,
  recharge_due_at timestamptz,
  recharge_attempt_id text COLLATE "C"
) WITH (fillfactor = 40);
CREATE INDEX wallet_recharge ON core.wallet (recharge_due_at) WHERE recharge_due_at IS NOT NULL;

CREATE TABLE core.credit_grant (
  account_id text COLLATE "C" NOT NULL,
  grant_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  amount_nanos bigint NOT NULL,
  remaining_nanos bigint NOT NULL CHECK (remaining_nanos >= reserved_nanos),
  reserved_nanos bigint NOT NULL CHECK (reserved_nanos >= 0),
  -- remaining_nanos = 0; a column of its own so that charges stay heap-only updates under the partial index
  spent boolean NOT NULL,
  note text,
  expires_at timestamptz,
  warned_days smallint,
  -- what it was given for, and the id of that: at most one grant for each
  source text,
  source_id text COLLATE "C",
  -- of test money: ended by the first start with real money
  test_mode boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, grant_id)
) WITH (fillfactor = 40);
CREATE INDEX credit_grant_test ON core.credit_grant (account_id) WHERE test_mode AND NOT spent;
CREATE UNIQUE INDEX credit_grant_source ON core.credit_grant (account_id, source, source_id) WHERE source IS NOT NULL;
CREATE INDEX credit_grant_open ON core.credit_grant (account_id) WHERE NOT spent;
CREATE INDEX credit_grant_expiry ON core.credit_grant (expires_at) WHERE NOT spent AND expires_at IS NOT NULL;

CREATE TABLE core.hold (
  account_id text COLLATE "C" NOT NULL,
  hold_id text COLLATE "C" NOT NULL,
  capability text NOT NULL,
  key_id text NOT NULL,
  units bigint NOT NULL,
  amount_nanos bigint NOT NULL,
  captured_nanos bigint NOT NULL DEFAULT 0,
  grant_ids text[] NOT NULL,
  grant_nanos bigint[] NOT NULL,
  day_start timestamptz NOT NULL,
  month_start timestamptz NOT NULL,
  status text NOT NULL,
  -- who renews it while the work lives, or alone ends it: a process, or a module's work as `module:id`
  owner text NOT NULL,
  created_at timestamptz NOT NULL,
  -- null: never by itself
  expires_at timestamptz,
  settled_at timestamptz,
  PRIMARY KEY (account_id, hold_id)
);
CREATE INDEX hold_expiry ON core.hold (expires_at) WHERE status = 'active';
CREATE INDEX hold_settled ON core.hold (settled_at) WHERE settled_at IS NOT NULL;

-- Tables cut into partitions by their sequence number, one for each UTC day or month. The running service makes them ahead and drops
-- them; whoever meets a missing one makes it.
CREATE TABLE core.partitioned (
  parent text PRIMARY KEY,
  period text NOT NULL CHECK (period IN ('day', 'month'))
);
INSERT INTO core.partitioned (parent, period) VALUES ('core.ledger', 'month');

-- The ledger: one entry per (batch, capability, key) and one per grant, expiry or capture. Append-only. entry_seq is dated, and so
-- the partition column.
CREATE TABLE core.ledger (
  account_id text COLLATE "C" NOT NULL,
  entry_seq bigint NOT NULL,
  batch_id bigint NOT NULL,
  kind text NOT NULL,
  capability text,
  key_id text,
  units bigint NOT NULL,
  price_version text,
  amount_nanos bigint NOT NULL,
  balance_after_nanos bigint NOT NULL,
  reference text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, entry_seq)
) PARTITION BY RANGE (entry_seq);
CREATE INDEX ledger_by_key ON core.ledger (account_id, key_id, entry_seq) WHERE key_id IS NOT NULL;

-- What dropped months of the ledger came to. With the entries that are left they go on proving wallet, counters and usage.
CREATE TABLE core.ledger_total (
  account_id text COLLATE "C" NOT NULL,
  -- its first day
  month date NOT NULL,
  kind text COLLATE "C" NOT NULL,
  -- '' for none, here and below
  capability text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  entries bigint NOT NULL,
  units bigint NOT NULL,
  amount_nanos bigint NOT NULL,
  PRIMARY KEY (account_id, month, kind, capability, key_id)
);

-- Up to which entry the ledger of an account is in its totals.
CREATE TABLE core.ledger_folded (
  account_id text COLLATE "C" PRIMARY KEY,
  through_seq bigint NOT NULL
);

CREATE TABLE core.idempotency (
  account_id text COLLATE "C" NOT NULL,
  -- keyed hash of capability and key, 132 bits in base64url
  key_hash text COLLATE "C" NOT NULL,
  fingerprint text COLLATE "C" NOT NULL,
  -- null while the call that claimed the key is running under a hold
  answer bytea,
  -- set when the answer holds a secret: it is stored encrypted, and replayed to this key only
  key_id text,
  hold_id text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key_hash)
);
-- keys whose call is running under a hold: few at any time
CREATE INDEX idempotency_hold ON core.idempotency (account_id, hold_id) WHERE hold_id IS NOT NULL;
-- Indexes of retention, here and elsewhere, are ordered trees in the order of the deletion, not BRIN: new rows fill the room that
-- deleted ones leave anywhere, and after some rounds every range of pages looks old (7,143 of 7,143 pages read to find nothing).
CREATE INDEX idempotency_expiry ON core.idempotency (expires_at) WHERE hold_id IS NULL;

CREATE TABLE core.api_key (
  account_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  project_id text NOT NULL,
  name text,
  scopes text[],
  prefix text NOT NULL,
  last4 text NOT NULL,
  spend_cap_nanos bigint,
  spend_cap_period text,
  -- what counts against the cap, under the wallet lock; kept only while there is one
  spend_window_start timestamptz,
  spend_used_nanos bigint NOT NULL DEFAULT 0,
  spend_held_nanos bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  revoked_reason text,
  flagged_at timestamptz,
  PRIMARY KEY (account_id, key_id)
) WITH (fillfactor = 70);
CREATE INDEX api_key_revoked ON core.api_key (revoked_at) WHERE revoked_at IS NOT NULL AND spend_cap_nanos IS NULL;

-- Secret hash -> account and key: the one look-up without an account. Every node of a distributed engine holds it whole.
CREATE TABLE core.api_secret (
  secret_hash bytea PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  is_current boolean NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz
);
CREATE INDEX api_secret_key ON core.api_secret (account_id, key_id);
CREATE INDEX api_secret_of_key ON core.api_secret (key_id);

-- Billable units that modules accepted, counted by their effects beside the ledger; the doctor compares the two.
CREATE TABLE core.accepted_units (
  account_id text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  units bigint NOT NULL,
  PRIMARY KEY (account_id, capability)
) WITH (fillfactor = 40);

CREATE TABLE core.usage_hour (
  account_id text COLLATE "C" NOT NULL,
  hour timestamptz NOT NULL,
  capability text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  request_count bigint NOT NULL,
  error_count bigint NOT NULL,
  units bigint NOT NULL,
  spend_nanos bigint NOT NULL,
  PRIMARY KEY (account_id, hour, capability, key_id)
) WITH (fillfactor = 60);
-- What is to be added to its day, and to its month, when it is old: those have their figures in the row of their first hour.
CREATE INDEX usage_hour_hours ON core.usage_hour (hour) WHERE date_part('hour', hour AT TIME ZONE 'UTC') <> 0;
CREATE INDEX usage_hour_days ON core.usage_hour (hour) WHERE date_part('day', hour AT TIME ZONE 'UTC') <> 1;

-- Events as their transactions wrote them; the sequencer moves committed rows to core.event and numbers them.
CREATE TABLE core.event_outbox (
  account_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  data text NOT NULL,
  request_id text,
  created_at timestamptz NOT NULL,
  -- in the order in which events are numbered
  PRIMARY KEY (account_id, created_at, event_id)
);

CREATE TABLE core.event_sequence (
  account_id text COLLATE "C" PRIMARY KEY,
  last_sequence bigint NOT NULL
);

CREATE TABLE core.event (
  account_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  type text NOT NULL,
  data text NOT NULL,
  request_id text,
  test boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, sequence)
);
CREATE UNIQUE INDEX event_by_id ON core.event (account_id, event_id);
CREATE INDEX event_age ON core.event (created_at);

-- Processes of this deployment, by heartbeat.
CREATE TABLE core.process (
  process_id text PRIMARY KEY,
  role text NOT NULL,
  -- of the file of vendors that it works with
  vendors_digest text NOT NULL DEFAULT '',
  started_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL
);

-- When an account is to be served next, for each kind of background work. It goes to the end of the line each time it is served, so
-- accounts take turns. told: how often something was said to be due; a claim that knows less does not put the account off.
CREATE TABLE core.turn (
  account_id text COLLATE "C" NOT NULL,
  work text COLLATE "C" NOT NULL,
  due_at timestamptz,
  told bigint NOT NULL,
  PRIMARY KEY (account_id, work)
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX turn_due ON core.turn (work, due_at) WHERE due_at IS NOT NULL;

-- One row per background task: who runs it and until when nobody else may.
CREATE TABLE core.sweep_lease (
  name text PRIMARY KEY,
  holder text NOT NULL,
  lease_until timestamptz NOT NULL,
  position text
);

-- Who was given sign-up credit: keyed hashes of an identity, a mailbox, or one of a network's three places of a day. A directory: found
-- without an account, and kept when the account is gone.
CREATE TABLE core.sign_up_claim (
  claim_hash text COLLATE "C" PRIMARY KEY,
  -- null: it is gone
  account_id text COLLATE "C",
  created_at timestamptz NOT NULL
);
CREATE INDEX sign_up_claim_account ON core.sign_up_claim (account_id);

-- An account that went over into another: on the one that is left (`is_leaving`) what it gave away, and whether that has arrived; on the
-- other that it has come, once.
CREATE TABLE core.absorption (
  account_id text COLLATE "C" NOT NULL,
  other_account_id text COLLATE "C" NOT NULL,
  is_leaving boolean NOT NULL,
  content text,
  begun_at timestamptz NOT NULL,
  arrived_at timestamptz,
  PRIMARY KEY (account_id, other_account_id, is_leaving)
);
CREATE INDEX absorption_under_way ON core.absorption (begun_at) WHERE is_leaving AND arrived_at IS NULL;
