-- Saved payment methods and automatic recharges. When a wallet is looked at stands in its row: recharge_due_at, recharge_attempt_id.

-- A payment method that the provider keeps. Nothing else of a card is stored.
CREATE TABLE core.payment_method (
  account_id text COLLATE "C" NOT NULL,
  method_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  test_mode boolean NOT NULL,
  -- the provider's name of it
  method_ref text COLLATE "C" NOT NULL,
  type text NOT NULL,
  brand text,
  last4 text,
  exp_month integer,
  exp_year integer,
  is_default boolean NOT NULL,
  -- set while it is being detached at the provider's: nothing uses or shows it any more
  removed_at timestamptz,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, method_id)
);
CREATE UNIQUE INDEX payment_method_ref ON core.payment_method (account_id, provider, method_ref);

-- A hosted page where a payer leaves a payment method and pays nothing.
CREATE TABLE core.payment_setup (
  account_id text COLLATE "C" NOT NULL,
  setup_id text COLLATE "C" NOT NULL,
  provider text NOT NULL,
  test_mode boolean NOT NULL,
  -- open, succeeded, failed, expired
  status text NOT NULL,
  return_url text,
  checkout_ref text COLLATE "C",
  checkout_url text,
  method_id text COLLATE "C",
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- when it is to be read at the provider's next, or when the lease of who does ends; null: never again
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, setup_id)
);
CREATE INDEX payment_setup_due ON core.payment_setup (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX payment_setup_open ON core.payment_setup (account_id) WHERE status = 'open';

-- How an account is recharged. Its trigger stands in the wallet while it is enabled.
CREATE TABLE core.recharge (
  account_id text COLLATE "C" PRIMARY KEY,
  enabled boolean NOT NULL,
  trigger_nanos bigint NOT NULL,
  amount_nanos bigint NOT NULL,
  -- null: the default of the account
  method_id text COLLATE "C",
  max_per_day integer NOT NULL,
  max_per_month integer NOT NULL,
  -- attempts that failed in a row, and until when the next one waits for that
  failures integer NOT NULL DEFAULT 0,
  retry_at timestamptz,
  disabled_reason text,
  updated_at timestamptz NOT NULL
);

-- One charge without the payer: its id is the provider's idempotency key.
CREATE TABLE core.recharge_attempt (
  account_id text COLLATE "C" NOT NULL,
  attempt_id text COLLATE "C" NOT NULL,
  -- open (it is not known whether it was paid), succeeded, failed
  status text NOT NULL,
  amount_nanos bigint NOT NULL,
  method_id text COLLATE "C" NOT NULL,
  method_ref text COLLATE "C" NOT NULL,
  provider text NOT NULL,
  test_mode boolean NOT NULL,
  -- what the provider is asked for; null: it has not answered yet
  payment_ref text COLLATE "C",
  failure_code text,
  grant_id text COLLATE "C",
  -- how often the provider was asked; the fence of who reads it again
  tries integer NOT NULL DEFAULT 0,
  refunded_nanos bigint NOT NULL DEFAULT 0,
  -- of its newest dispute: open, won, lost
  dispute_status text,
  dispute_nanos bigint NOT NULL DEFAULT 0,
  -- whether a refund or dispute of it is not decided
  return_open boolean NOT NULL DEFAULT false,
  -- UTC day and month it counts in
  day_start timestamptz NOT NULL,
  month_start timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  -- of one that succeeded: when it is read at the provider's again, or when the lease of who does ends; null: never
  due_at timestamptz,
  PRIMARY KEY (account_id, attempt_id)
);
CREATE INDEX recharge_attempt_due ON core.recharge_attempt (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX recharge_attempt_month ON core.recharge_attempt (account_id, month_start);
