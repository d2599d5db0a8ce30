-- Approvals: rules of which calls wait for a person, and the calls that wait.

-- Grows with each change of the rules; 0: there are none. A call that was looked at under other rules is not committed.
ALTER TABLE core.wallet ADD COLUMN rules_version bigint NOT NULL DEFAULT 0;

CREATE TABLE core.approval_rule (
  account_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- as JSON
  capabilities text COLLATE "C" NOT NULL,
  -- as JSON; null: all
  keys text COLLATE "C",
  cost_above_nanos bigint,
  -- a rule of JsonLogic; null: every input
  input_rule text COLLATE "C",
  first_use boolean NOT NULL,
  -- ids of people, as JSON; null: the owners
  approvers text COLLATE "C",
  expires_seconds integer NOT NULL,
  reason_required boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, name)
);

CREATE TABLE core.approval (
  account_id text COLLATE "C" NOT NULL,
  approval_id text COLLATE "C" NOT NULL,
  rule_name text COLLATE "C" NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  capability text COLLATE "C" NOT NULL,
  -- of key, capability, canonical input and idempotency key
  call_hash text COLLATE "C" NOT NULL,
  -- as JSON, without its secrets; null: it is no JSON, or too long
  input text COLLATE "C",
  -- the most that the call may cost
  cost_nanos bigint NOT NULL,
  approvers text COLLATE "C",
  reason_required boolean NOT NULL,
  -- `pending`, `approved`, `denied`, `used`; `replaced`: the call asks anew
  status text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  words text COLLATE "C",
  decided_by text COLLATE "C",
  decided_at timestamptz,
  -- when the call first ran under it
  started_at timestamptz,
  -- of one for a time: other calls of the key that the rule meets pass until then, for so much together
  lasts_until timestamptz,
  left_nanos bigint,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, approval_id)
);

CREATE UNIQUE INDEX approval_open_call ON core.approval (account_id, call_hash, rule_name) WHERE status IN ('pending', 'approved', 'denied');
CREATE INDEX approval_lasting ON core.approval (account_id, key_id, lasts_until) WHERE lasts_until IS NOT NULL;
CREATE INDEX approval_pending ON core.approval (account_id, approval_id) WHERE status = 'pending';
CREATE INDEX approval_call ON core.approval (account_id, call_hash);
CREATE INDEX approval_created ON core.approval (created_at);

SELECT core.distribute();
