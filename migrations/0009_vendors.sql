-- Outside vendors: whether they answer, what was sent to them, and what they cost beyond what callers paid.

-- One row per vendor and capability that once failed. state: closed, open, half_open (one call is trying it).
-- retry_at: closed: no call until then, for the vendor asked for it; open: from then on one call may try; half_open: from then on that
-- call counts as lost. openings: how often it opened in a row.
CREATE TABLE core.vendor_health (
  vendor text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  state text NOT NULL,
  reason text,
  since timestamptz,
  retry_at timestamptz,
  openings integer NOT NULL DEFAULT 0,
  PRIMARY KEY (vendor, capability)
) WITH (fillfactor = 50);

-- Calls of the last half minute by second, as all processes have counted them.
CREATE TABLE core.vendor_calls (
  vendor text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  second timestamptz NOT NULL,
  calls bigint NOT NULL,
  failures bigint NOT NULL,
  PRIMARY KEY (vendor, capability, second)
) WITH (fillfactor = 50);

-- What is to be told of a vendor that went down. told_through: the last account that has been told, in the order of their ids; null when all have.
CREATE TABLE core.vendor_notice (
  vendor text COLLATE "C" PRIMARY KEY,
  noticed_at timestamptz NOT NULL,
  data text NOT NULL,
  told_through text COLLATE "C"
);

-- One row for each time that a vendor was asked for work which outlives a call; committed before the first byte leaves.
-- state: sending, accepted (reference is known), refused (surely not at work), unknown, ended. What later calls need stands here, not in
-- the operator's file of that day; the key only by its name.
CREATE TABLE core.vendor_attempt (
  account_id text COLLATE "C" NOT NULL,
  attempt_id text COLLATE "C" NOT NULL,
  -- `module:id`, as the owner of its hold
  work text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  vendor text COLLATE "C" NOT NULL,
  model text NOT NULL,
  adapter text NOT NULL,
  base_url text NOT NULL,
  key_name text,
  asset_hosts text[] NOT NULL,
  -- JSON: milliseconds by name
  timeouts text NOT NULL,
  -- JSON; emptied when the work is deleted
  request text NOT NULL,
  -- random; what the vendor may give back to us
  token text COLLATE "C" NOT NULL,
  quote_nanos bigint NOT NULL,
  state text NOT NULL,
  reason text,
  reference text,
  -- JSON: what else later calls need
  details text,
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (account_id, attempt_id)
) WITH (fillfactor = 70);
CREATE INDEX vendor_attempt_work ON core.vendor_attempt (account_id, work, attempt_id);
CREATE INDEX vendor_attempt_token ON core.vendor_attempt (token);
CREATE INDEX vendor_attempt_live ON core.vendor_attempt (vendor) WHERE ended_at IS NULL;
CREATE INDEX vendor_attempt_age ON core.vendor_attempt (ended_at) WHERE ended_at IS NOT NULL;

-- What vendors billed, by day and cause: `sold` is what callers paid for, everything else the operator's loss.
CREATE TABLE core.vendor_bill (
  account_id text COLLATE "C" NOT NULL,
  day timestamptz NOT NULL,
  vendor text COLLATE "C" NOT NULL,
  cause text COLLATE "C" NOT NULL,
  bills bigint NOT NULL,
  billed_nanos bigint NOT NULL,
  captured_nanos bigint NOT NULL,
  PRIMARY KEY (account_id, day, vendor, cause)
) WITH (fillfactor = 70);
CREATE INDEX vendor_bill_day ON core.vendor_bill (day);

-- Vendors that an account is never routed to, by capability.
CREATE TABLE core.routing (
  account_id text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  exclude text[] NOT NULL,
  PRIMARY KEY (account_id, capability)
);
