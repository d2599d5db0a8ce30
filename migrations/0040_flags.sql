-- Feature flags: what they are, what changed, and a revision of each account by which processes see that something has.

CREATE SCHEMA flags;

CREATE TABLE flags.flag (
  account_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  description text,
  enabled boolean NOT NULL,
  default_variant text,
  -- JSON: variants, targeting, metadata
  definition text NOT NULL,
  bytes integer NOT NULL,
  has_targeting boolean NOT NULL,
  -- what its rule takes at most, in steps
  steps integer NOT NULL,
  -- that of the account at its last change
  revision bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key)
);

-- revision: grows with every change of a flag. bytes: of all definitions. metadata: JSON, of the set as flagd has it.
CREATE TABLE flags.account (
  account_id text COLLATE "C" PRIMARY KEY,
  revision bigint NOT NULL,
  bytes bigint NOT NULL,
  metadata text NOT NULL,
  changed_at timestamptz NOT NULL
);

-- Who changed what: the newest changes of the account. flag: as it was after the change, JSON; null: it was deleted, or is too long.
CREATE TABLE flags.change (
  account_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  action text NOT NULL,
  -- the key, or the person's session
  actor text NOT NULL,
  -- separated by spaces
  changed_fields text NOT NULL,
  flag text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key, revision)
);
CREATE INDEX change_by_revision ON flags.change (account_id, revision);

SELECT core.distribute();
