-- Webhooks in: addresses where other services send, and the last requests of each.

CREATE TABLE core.webhook_receiver (
  account_id text COLLATE "C" NOT NULL,
  receiver_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  description text COLLATE "C",
  scheme text COLLATE "C" NOT NULL,
  -- encrypted; null: the scheme has none
  secret bytea,
  header text COLLATE "C",
  encoding text COLLATE "C",
  target_kind text COLLATE "C" NOT NULL CHECK (target_kind IN ('queue', 'channel')),
  target text COLLATE "C" NOT NULL,
  -- as JSON; null: every request passes
  filter text COLLATE "C",
  disabled boolean NOT NULL,
  -- of its address: the token in it is derived from this number
  address_number integer NOT NULL,
  -- grows with each change: a request that was verified by what stood before is not published
  revision integer NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  last_received_at timestamptz,
  -- why the last request was not published; null: it was
  failing_code text COLLATE "C",
  failing_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, receiver_id)
);

CREATE TABLE core.webhook_request (
  account_id text COLLATE "C" NOT NULL,
  receiver_id text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  received_at timestamptz NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  status smallint NOT NULL,
  code text COLLATE "C",
  event text COLLATE "C",
  delivery_id text COLLATE "C",
  bytes integer NOT NULL,
  message_id text COLLATE "C",
  -- as JSON; null: too long to be kept
  message text COLLATE "C",
  PRIMARY KEY (account_id, receiver_id, request_id)
);

SELECT core.distribute();
