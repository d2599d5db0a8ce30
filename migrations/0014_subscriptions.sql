-- Subscriptions that buy a tier. An account has at most one that is open or runs; those that ended stay.
CREATE TABLE core.subscription (
  account_id text COLLATE "C" NOT NULL,
  subscription_id text COLLATE "C" NOT NULL,
  -- pending, active, past_due, cancelled; abandoned: nobody paid at its page
  status text NOT NULL,
  tier text NOT NULL,
  -- the name it was asked for under: pro, team, enterprise
  label text NOT NULL,
  -- of a month; never changes
  price_nanos bigint NOT NULL,
  provider text NOT NULL,
  test_mode boolean NOT NULL,
  return_url text,
  -- what the account has without it; kept up while it runs
  fallback_tier text NOT NULL,
  -- the provider's; null until they are known
  checkout_ref text COLLATE "C",
  checkout_url text,
  subscription_ref text COLLATE "C",
  -- what it is paid with
  method_ref text COLLATE "C",
  period_start timestamptz,
  period_end timestamptz,
  cancel_at_period_end boolean NOT NULL DEFAULT false,
  -- why it ends or ended: requested, payment_failed, operator
  cancel_reason text,
  -- what the provider is still to be told: cancel_now, cancel_later, resume; the number makes each once
  wish text,
  wish_number integer NOT NULL DEFAULT 0,
  -- the provider's newest invoice: open, paid, failed; review: paid with something else than the price
  invoice_status text,
  invoice_nanos bigint,
  invoice_at timestamptz,
  invoice_next_at timestamptz,
  -- where a person pays it by hand
  invoice_pay_url text,
  invoice_refunded_nanos bigint NOT NULL DEFAULT 0,
  -- open, won, lost
  invoice_dispute text,
  -- the newest invoice that was paid: each is told of once
  paid_invoice_ref text COLLATE "C",
  past_due_since timestamptz,
  -- mails about the failed payment
  reminders integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- when it is to be read at the provider's next, or when the lease of who does ends; null: never again
  due_at timestamptz,
  -- of who reads it; what was read under an earlier one is not applied
  attempt integer NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, subscription_id)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX subscription_one ON core.subscription (account_id) WHERE status IN ('pending', 'active', 'past_due');
CREATE INDEX subscription_due ON core.subscription (account_id, due_at) WHERE due_at IS NOT NULL;
