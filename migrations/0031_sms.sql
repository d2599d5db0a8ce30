-- SMS: what an account sends and receives, codes that prove a number, and who wants no more messages.

CREATE SCHEMA sms;

-- due_at: when the next step is due, or when the lease of the one under way ends; null once nothing is left to do. attempt: steps begun,
-- and the fence of their outcomes. sending: it may have been handed over; whoever finds it so, and did not send it, knows no more.
CREATE TABLE sms.message (
  account_id text COLLATE "C" NOT NULL,
  sms_id text COLLATE "C" NOT NULL,
  -- outbound or inbound
  direction text COLLATE "C" NOT NULL,
  -- the call that made it; key_id is empty for what a carrier brought
  key_id text COLLATE "C" NOT NULL,
  request_id text,
  to_number text COLLATE "C" NOT NULL,
  from_number text COLLATE "C" NOT NULL,
  -- a code in it is masked, except in the sandbox
  text text NOT NULL,
  -- the text with the code, encrypted; null once it was handed over
  sealed_text bytea,
  encoding text NOT NULL,
  segments integer NOT NULL,
  status text COLLATE "C" NOT NULL,
  error_code text,
  detail text,
  vendor text COLLATE "C" NOT NULL,
  -- JSON: whom it may be handed to, in this order, with prices
  chain text NOT NULL,
  captured boolean NOT NULL,
  hold_id text COLLATE "C",
  capability text COLLATE "C" NOT NULL,
  cost_nanos bigint NOT NULL DEFAULT 0,
  sending boolean NOT NULL DEFAULT false,
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  sent_at timestamptz,
  -- delivered or failed
  ended_at timestamptz,
  PRIMARY KEY (account_id, sms_id)
) WITH (fillfactor = 70);
CREATE INDEX message_due ON sms.message (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX message_made ON sms.message (account_id, created_at) WHERE direction = 'outbound';
CREATE INDEX message_pair ON sms.message (to_number, from_number, created_at) WHERE direction = 'outbound' AND NOT captured;
CREATE INDEX message_age ON sms.message (created_at);

-- What a carrier calls the parts of a message: its receipts name these.
CREATE TABLE sms.part (
  account_id text COLLATE "C" NOT NULL,
  sms_id text COLLATE "C" NOT NULL,
  number integer NOT NULL,
  vendor text COLLATE "C" NOT NULL,
  reference text COLLATE "C" NOT NULL,
  -- sent, delivered or failed
  status text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, sms_id, number)
);
CREATE INDEX part_reference ON sms.part (vendor, reference);
CREATE INDEX part_age ON sms.part (created_at);

-- Pairs of numbers in an account's sandbox: their_number gets no message from our_number.
CREATE TABLE sms.opt_out (
  account_id text COLLATE "C" NOT NULL,
  our_number text COLLATE "C" NOT NULL,
  their_number text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, our_number, their_number)
);

-- The same of numbers on carriers, whatever account sends from them.
CREATE TABLE sms.carrier_opt_out (
  our_number text COLLATE "C" NOT NULL,
  their_number text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (our_number, their_number)
);

CREATE TABLE sms.verification (
  account_id text COLLATE "C" NOT NULL,
  verification_id text COLLATE "C" NOT NULL,
  -- a number, or an address of mail
  to_address text COLLATE "C" NOT NULL,
  channel text COLLATE "C" NOT NULL,
  -- calling code of the number; empty for mail
  prefix text COLLATE "C" NOT NULL,
  -- keyed hash
  code_hash bytea NOT NULL,
  status text COLLATE "C" NOT NULL,
  attempts_left integer NOT NULL,
  -- the message that carries the code
  message_id text COLLATE "C",
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (account_id, verification_id)
);
CREATE INDEX verification_prefix ON sms.verification (account_id, prefix, created_at);
CREATE INDEX verification_age ON sms.verification (created_at);

-- When the last codes were sent to a number or an address, of whatever account; address_hash is keyed.
CREATE TABLE sms.code_sent (
  address_hash text COLLATE "C" PRIMARY KEY,
  sent_at timestamptz[] NOT NULL,
  last_at timestamptz NOT NULL
);
CREATE INDEX code_sent_age ON sms.code_sent (last_at);

SELECT core.distribute();
