// SQL of the lane. Every statement carries the list of accounts of the commit: many on plain PostgreSQL, one on a distributed engine.
// Measured on two cores: ~1,000 calls/s with one transaction per call on a hot wallet, 14,000-39,000/s grouped.
import { statement } from '../../../db/statement.ts';

const WALLET = `account_id, balance_nanos, held_nanos, last_seq, day_start, day_used_nanos, day_held_nanos,
          month_start, month_used_nanos, month_held_nanos, budget_period, budget_cap_nanos, budget_alert_nanos,
          budget_alerted_for, last_grant_nanos, low_balance_armed, suspended, rules_version, frozen_reason, debt_nanos, recharge_trigger_nanos,
          recharge_due_at, recharge_attempt_id`;

export const lockWallets = statement(
  'lane_lock_wallets',
  `SELECT ${WALLET} FROM core.wallet WHERE account_id = ANY($1::text[]) ORDER BY account_id FOR UPDATE`,
);

/** Those that nobody else holds. */
export const lockFreeWallets = statement(
  'lane_lock_free_wallets',
  `WITH c AS MATERIALIZED (
     SELECT ${WALLET} FROM core.wallet WHERE account_id = ANY($1::text[]) ORDER BY account_id FOR UPDATE SKIP LOCKED)
   SELECT * FROM c`,
);

// The accounts of a commit wait for the slowest of them.
const LANE_LOCK_WAIT = '100ms';

/** From here to its end the transaction waits only so long for a lock. */
export const waitBriefly = statement('lane_wait_briefly', `SET LOCAL lock_timeout = '${LANE_LOCK_WAIT}'`);

/** The clock and waitBriefly in one, which the workers of a distributed engine are not told of: they take it from SET LOCAL. */
export const openCommit = statement(
  'lane_open_commit',
  `SELECT date_trunc('milliseconds', core.clock_now()) AS now, set_config('lock_timeout', '${LANE_LOCK_WAIT}', true) AS wait`,
);

export const readGrants = statement(
  'lane_read_grants',
  `SELECT account_id, grant_id, kind, remaining_nanos, reserved_nanos, expires_at
     FROM core.credit_grant
    WHERE account_id = ANY($1::text[]) AND NOT spent`,
);

/** A key lives as long as its hold, also when the hold is overdue: until it is settled, its work may still be charged. */
export const readAnswers = statement(
  'lane_read_answers',
  `SELECT i.account_id, i.key_hash, i.fingerprint, i.answer,
          (i.expires_at > core.clock_now() OR i.hold_id IS NOT NULL) AS alive
     FROM unnest($2::text[], $3::text[]) u(account_id, key_hash), core.idempotency i
    WHERE i.account_id = ANY($1::text[])
      AND i.account_id = u.account_id AND i.key_hash = u.key_hash`,
);

/** Keys past their time that the sweeper has not removed yet give way to new ones. */
export const deleteDeadAnswers = statement(
  'lane_delete_dead_answers',
  `DELETE FROM core.idempotency i
    USING unnest($2::text[], $3::text[]) u(account_id, key_hash)
    WHERE i.account_id = ANY($1::text[])
      AND i.account_id = u.account_id AND i.key_hash = u.key_hash`,
);

export const updateWallets = statement(
  'lane_update_wallets',
  `UPDATE core.wallet AS w
      SET balance_nanos = u.balance, held_nanos = u.held, last_seq = u.last_seq,
          day_start = u.day_start, day_used_nanos = u.day_used, day_held_nanos = u.day_held,
          month_start = u.month_start, month_used_nanos = u.month_used, month_held_nanos = u.month_held,
          budget_alerted_for = u.alerted_for, low_balance_armed = u.armed, recharge_due_at = u.recharge_due
     FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::bigint[], $8::bigint[],
                 $9::timestamptz[], $10::bigint[], $11::bigint[], $12::timestamptz[], $13::boolean[], $14::timestamptz[])
          u(account_id, balance, held, last_seq, day_start, day_used, day_held,
            month_start, month_used, month_held, alerted_for, armed, recharge_due)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

export const updateGrants = statement(
  'lane_update_grants',
  `UPDATE core.credit_grant AS g
      SET remaining_nanos = u.remaining, reserved_nanos = u.reserved, spent = u.spent
     FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[])
          u(account_id, grant_id, remaining, reserved, spent)
    WHERE g.account_id = ANY($1::text[]) AND g.account_id = u.account_id AND g.grant_id = u.grant_id`,
);

export const insertLedger = statement(
  'lane_insert_ledger',
  `INSERT INTO core.ledger AS l (account_id, entry_seq, batch_id, kind, capability, key_id, units, price_version,
                                 amount_nanos, balance_after_nanos, reference, created_at)
   SELECT w.account_id, u.entry_seq, u.batch_id, u.kind, u.capability, u.key_id, u.units, u.price_version,
          u.amount, u.balance_after, u.reference, u.created_at
     FROM core.wallet w, unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::bigint[],
                                $9::text[], $10::bigint[], $11::bigint[], $12::text[], $13::timestamptz[])
          u(account_id, entry_seq, batch_id, kind, capability, key_id, units, price_version,
            amount, balance_after, reference, created_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

/** The keys were read under the wallet lock: none of them is there. */
export const insertAnswers = statement(
  'lane_insert_answers',
  `INSERT INTO core.idempotency AS i (account_id, key_hash, fingerprint, answer, hold_id, created_at, expires_at)
   SELECT w.account_id, u.key_hash, u.fingerprint, u.answer, u.hold_id, $7, u.expires_at
     FROM core.wallet w, unnest($2::text[], $3::text[], $4::text[], $5::bytea[], $6::text[], $8::timestamptz[])
          u(account_id, key_hash, fingerprint, answer, hold_id, expires_at)
    WHERE w.account_id = ANY($1::text[]) AND w.account_id = u.account_id`,
);

export const insertHolds = statement(
  'lane_insert_hold',
  `INSERT INTO core.hold (account_id, hold_id, capability, key_id, units, amount_nanos, grant_ids, grant_nanos,
                          day_start, month_start, status, owner, created_at, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7::text[], $8::bigint[], $9, $10, 'active', $11, $12, $13)`,
);

/** Whether a batch whose COMMIT got no answer was committed: its first ledger entry is there, once the wallet is free again. */
export const findLedgerEntry = statement(
  'lane_find_entry',
  `SELECT entry_seq FROM core.ledger WHERE account_id = $1 AND entry_seq = $2 AND batch_id = $3`,
);
