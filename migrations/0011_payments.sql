-- Money in: top-ups, what of them was paid back or taken back, and the payments of the sandbox.

-- One row per top-up. The row comes before the provider's page, and what was charged is compared with it: amount, currency and rate never change.
CREATE TABLE core.topup (
  account_id text COLLATE "C" NOT NULL,
  topup_id text COLLATE "C" NOT NULL,
  -- pending, review, succeeded, failed, expired
  status text NOT NULL,
  amount_nanos bigint NOT NULL,
  currency text NOT NULL,
  -- in the smallest unit of the currency
  charge_minor bigint NOT NULL,
  -- units of the currency per USD, times 10^9
  fx_rate_nanos bigint NOT NULL,
  provider text NOT NULL,
  test_mode boolean NOT NULL,
  save_method boolean NOT NULL,
  return_url text,
  -- the provider's checkout and payment; null until they are known
  checkout_ref text COLLATE "C",
  checkout_url text,
  payment_ref text COLLATE "C",
  failure_code text,
  -- why it is reviewed: provider, mismatch, amount
  review_reason text,
  -- the operator's word while it is reviewed: approved, rejected
  review_verdict text,
  grant_id text COLLATE "C",
  credited_at timestamptz,
  refunded_nanos bigint NOT NULL DEFAULT 0,
  -- of its newest dispute: open, won, lost
  dispute_status text,
  dispute_nanos bigint NOT NULL DEFAULT 0,
  -- whether a refund or dispute of it is not decided
  return_open boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- when it is to be read at the provider's next, or when the lease of who does ends; null: never again
  due_at timestamptz,
  attempt integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, topup_id)
) WITH (fillfactor = 70);
CREATE INDEX topup_due ON core.topup (account_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX topup_pending ON core.topup (account_id) WHERE status = 'pending';
CREATE INDEX topup_review ON core.topup (topup_id) WHERE status = 'review';

-- Money of a payment that went back: a refund of ours, one that was made at the provider's, or a dispute. It was taken from grants (and,
-- where they had too little, from the future: debt_nanos); a refund that failed and a dispute that was won give exactly that back, once.
CREATE TABLE core.clawback (
  account_id text COLLATE "C" NOT NULL,
  -- of ours, or the provider's name of its refund or dispute
  clawback_id text COLLATE "C" NOT NULL,
  -- the payment: topup or recharge, and its id; of the account that was credited, which this one may have absorbed
  source text NOT NULL,
  source_id text COLLATE "C" NOT NULL,
  -- refund, dispute
  kind text NOT NULL,
  -- pending, done, restored; of a dispute: pending is open, done lost, restored won
  status text NOT NULL,
  -- made by the operator here; else at the provider's
  is_ours boolean NOT NULL,
  amount_nanos bigint NOT NULL,
  amount_minor bigint NOT NULL,
  grant_ids text[] NOT NULL,
  grant_nanos bigint[] NOT NULL,
  debt_nanos bigint NOT NULL,
  -- of debt_nanos: cancelled because it was restored, not paid
  forgiven_nanos bigint NOT NULL DEFAULT 0,
  failure_code text,
  created_at timestamptz NOT NULL,
  settled_at timestamptz,
  PRIMARY KEY (account_id, clawback_id)
);
CREATE INDEX clawback_source ON core.clawback (account_id, source_id);
CREATE INDEX clawback_pending ON core.clawback (account_id) WHERE status = 'pending';

-- The one customer of an account at a provider.
CREATE TABLE core.payment_customer (
  account_id text COLLATE "C" NOT NULL,
  provider text COLLATE "C" NOT NULL,
  test_mode boolean NOT NULL,
  customer_ref text COLLATE "C" NOT NULL,
  PRIMARY KEY (account_id, provider, test_mode)
);

-- Objects of the provider, and ids of ours that stand in addresses, found without an account: what of whom they are.
CREATE TABLE core.payment_ref (
  ref text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  -- topup, recharge, subscription, setup
  kind text NOT NULL,
  id text COLLATE "C" NOT NULL
);

-- The sandbox: what a provider would keep. Test money.
CREATE TABLE core.sandbox_payment (
  ref text COLLATE "C" PRIMARY KEY,
  -- of ours: the idempotency key
  id text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  -- of its page; null for charges of saved methods
  token text COLLATE "C",
  purpose text NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  description text NOT NULL,
  save_method boolean NOT NULL,
  return_url text,
  -- open, authenticating, processing, review, paid, failed
  status text NOT NULL,
  card text,
  failure_code text,
  -- of a payment that takes its time: paid from then on
  pays_at timestamptz,
  method_ref text COLLATE "C",
  subscription_ref text COLLATE "C",
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX sandbox_payment_id ON core.sandbox_payment (id);
CREATE UNIQUE INDEX sandbox_payment_token ON core.sandbox_payment (token) WHERE token IS NOT NULL;

-- Refunds and disputes of the sandbox's payments.
CREATE TABLE core.sandbox_return (
  ref text COLLATE "C" PRIMARY KEY,
  payment_ref text COLLATE "C" NOT NULL,
  account_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  id text COLLATE "C",
  status text NOT NULL,
  amount_minor bigint NOT NULL,
  created_at timestamptz NOT NULL
);
CREATE INDEX sandbox_return_payment ON core.sandbox_return (payment_ref);
CREATE UNIQUE INDEX sandbox_return_id ON core.sandbox_return (id) WHERE id IS NOT NULL;

-- A card that was kept; card says how it behaves.
CREATE TABLE core.sandbox_method (
  ref text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  card text NOT NULL,
  detached boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL
);

CREATE TABLE core.sandbox_subscription (
  ref text COLLATE "C" PRIMARY KEY,
  account_id text COLLATE "C" NOT NULL,
  method_ref text COLLATE "C" NOT NULL,
  amount_minor bigint NOT NULL,
  currency text NOT NULL,
  -- periods are calendar months from here
  started_at timestamptz NOT NULL,
  -- of the page that it began at
  payment_ref text COLLATE "C" NOT NULL,
  -- to which renewal a person paid at an invoice's page, where the card did not
  paid_renewals integer NOT NULL DEFAULT 0,
  cancel_at timestamptz,
  created_at timestamptz NOT NULL
);
