-- Vault: credentials of other services that calls go out with, whose secrets nobody reads back.
CREATE SCHEMA vault;

CREATE TABLE vault.connection (
  account_id text COLLATE "C" NOT NULL,
  connection text COLLATE "C" NOT NULL,
  -- `bearer`, `basic`, `header`, `query`, `oauth2`, `client_credentials`, `sigv4`
  kind text COLLATE "C" NOT NULL,
  -- the name of the header or of the parameter of the query; empty of other kinds
  field text COLLATE "C" NOT NULL,
  -- as JSON, as are allow, keys and approve
  hosts text COLLATE "C" NOT NULL,
  -- null: every method and path
  allow text COLLATE "C",
  -- null: all keys with the scope
  keys text COLLATE "C",
  -- methods that wait for an approval
  approve text COLLATE "C" NOT NULL,
  -- headers that are added, by name, encrypted; null: none
  headers bytea,
  -- of an MCP server, as JSON: its path, and the tools that may be called; null: it is relayed as none
  mcp text COLLATE "C",
  per_minute integer,
  per_day integer,
  -- the queue that is told when it breaks
  notify_queue text COLLATE "C",
  -- the credential, encrypted with account, name, kind, field and hosts; null: nobody has connected it yet
  sealed bytea,
  -- tells one secret from another, and nothing of them
  fingerprint text COLLATE "C",
  -- `ready`, `pending`, `broken`
  status text COLLATE "C" NOT NULL,
  broken_reason text COLLATE "C",
  -- of OAuth
  provider text COLLATE "C",
  -- when the access token ends; null: it does not, or there is none
  token_ends_at timestamptz,
  -- from when on it is refreshed; null: it does not end
  refresh_at timestamptz,
  -- who refreshes it: the number of the lease, and until when others wait
  refresh_number bigint NOT NULL DEFAULT 0,
  refresh_ends_at timestamptz,
  -- calls of this minute and day
  minute_at timestamptz,
  minute_calls integer NOT NULL DEFAULT 0,
  day_at timestamptz,
  day_calls integer NOT NULL DEFAULT 0,
  last_used_at timestamptz,
  last_used_by text COLLATE "C",
  expires_at timestamptz,
  -- grows with each change of rule or secret
  version integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, connection)
) WITH (fillfactor = 70);
CREATE INDEX connection_token_end ON vault.connection (token_ends_at) WHERE token_ends_at IS NOT NULL;

CREATE TABLE vault.call (
  account_id text COLLATE "C" NOT NULL,
  call_id text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  connection text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  host text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  -- what the target answered; null: nothing yet, or never
  status integer,
  bytes_in bigint NOT NULL DEFAULT 0,
  bytes_out bigint NOT NULL DEFAULT 0,
  latency_ms integer,
  -- why it failed; null: it did not
  code text COLLATE "C",
  hold_id text COLLATE "C" NOT NULL,
  -- when it is taken for lost; null: it has ended
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, call_id)
) WITH (fillfactor = 70);
CREATE INDEX call_due ON vault.call (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX call_age ON vault.call (created_at);

-- Servers of OAuth that connections are made with.
CREATE TABLE vault.provider (
  account_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  -- null: the addresses below were named
  issuer text COLLATE "C",
  authorization_url text COLLATE "C" NOT NULL,
  token_url text COLLATE "C" NOT NULL,
  -- it names itself in each answer to a browser (RFC 9207)
  names_itself boolean NOT NULL,
  client_id text COLLATE "C" NOT NULL,
  -- encrypted with account, name, client and addresses; null: there is none
  client_secret bytea,
  -- as JSON
  scopes text COLLATE "C" NOT NULL,
  -- `post`, `basic`, `none`
  auth text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, provider)
);

-- Pages on which a person connects an account at a provider. Each is good once.
CREATE TABLE vault.connect (
  account_id text COLLATE "C" NOT NULL,
  connect_id text COLLATE "C" NOT NULL,
  -- the key, or the person, who made it: looked at again when it ends
  starter_id text COLLATE "C" NOT NULL,
  connection text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  -- as JSON, as are allow and keys
  hosts text COLLATE "C" NOT NULL,
  allow text COLLATE "C",
  keys text COLLATE "C",
  -- the provider as it was, encrypted
  plan bytea NOT NULL,
  used_at timestamptz,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, connect_id)
);
CREATE INDEX connect_age ON vault.connect (expires_at);

-- What a queue is to be told of a connection, written in the commit that changed it.
CREATE TABLE vault.notice (
  account_id text COLLATE "C" NOT NULL,
  notice_id text COLLATE "C" NOT NULL,
  queue text COLLATE "C" NOT NULL,
  payload text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, notice_id)
);
CREATE INDEX notice_due ON vault.notice (account_id, due_at) WHERE due_at IS NOT NULL;

SELECT core.distribute();
