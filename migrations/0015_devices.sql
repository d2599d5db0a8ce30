-- Devices that ask for a key (RFC 8628), and the operator's links. All found without an account, so every node has them whole.

-- A device code from its start until some minutes after its end.
CREATE TABLE core.device_code (
  -- of the device code, which only the device has
  device_hash bytea PRIMARY KEY,
  -- what the person types: eight letters
  user_code text COLLATE "C" NOT NULL,
  -- how the device calls itself; nobody has verified it
  client_name text NOT NULL,
  remote_address text NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  polled_at timestamptz,
  interval_s integer NOT NULL,
  -- pending, approved, denied, redeemed
  status text NOT NULL,
  -- whose key it gets; null: nobody has approved it
  account_id text COLLATE "C",
  -- the person, the key or the operator's session whose word it is
  approved_by text COLLATE "C",
  granted_scopes text[],
  key_expires_at timestamptz,
  cap_nanos bigint,
  cap_period text,
  -- the key that it got, and its secret, sealed under the device code
  key_id text COLLATE "C",
  sealed_secret bytea,
  redeemed_at timestamptz
);
CREATE UNIQUE INDEX device_code_user_code ON core.device_code (user_code);
CREATE INDEX device_code_expires ON core.device_code (expires_at);
CREATE INDEX device_code_account ON core.device_code (account_id) WHERE account_id IS NOT NULL;

-- Wrong codes that a session, or an address, has sent.
CREATE TABLE core.device_guess (
  guesser text COLLATE "C" PRIMARY KEY,
  times integer NOT NULL,
  until timestamptz NOT NULL
);
CREATE INDEX device_guess_until ON core.device_guess (until);

-- Links with which whoever may use the command line becomes the operator, once.
CREATE TABLE core.operator_link (
  link_hash bytea PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX operator_link_account ON core.operator_link (account_id);
