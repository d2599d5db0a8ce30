// Charges that were made, read again at the provider's: what went back of them is taken from the wallet as of top-ups. When a hint says so,
// daily for a week, and longer while a refund or dispute is open.

import { lockAccount } from '../../core/accounts/accounts.ts';
import { dueWork, type LeasedJob } from '../../core/background/due-work.ts';
import type { JobLoop } from '../../core/background/job-loop.ts';
import { openTurn } from '../../core/background/turns.ts';
import { clockNow } from '../../core/database-clock.ts';
import { textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import type { PaymentState } from '../../vendors/payments/port.ts';
import { type Credited, type Elsewhere, followElsewhere, followReturns, type Returns } from '../clawbacks/follow.ts';
import type { PaymentCore } from '../topups/create.ts';
import { nextReadMs } from './judge.ts';
import { centsOf, RETURNS_WORK } from './settle.ts';
import { type AttemptRow, findAttempt } from './store.ts';

// Longer than a provider's answer takes, retries included.
const LEASE_MS = 120_000;

const claim = statement(
  'recharge_returns_claim',
  `WITH c AS MATERIALIZED (
     SELECT attempt_id, core.clock_now() + $4 * interval '1 millisecond' AS lease_end
       FROM core.recharge_attempt
      WHERE account_id = $1 AND due_at <= core.clock_now() AND attempt_id <> ALL($3::text[])
      ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   UPDATE core.recharge_attempt a SET due_at = c.lease_end, tries = a.tries + 1
     FROM c WHERE a.account_id = $1 AND a.attempt_id = c.attempt_id
   RETURNING a.attempt_id AS id, a.tries AS attempt`,
);
const nextDue = statement(
  'recharge_returns_next_due',
  `SELECT due_at FROM core.recharge_attempt WHERE account_id = $1 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1`,
);
const makeDue = statement(
  'recharge_returns_make_due',
  `UPDATE core.recharge_attempt SET due_at = $3, tries = tries + 1
    WHERE account_id = $1 AND attempt_id = $2 AND status = 'succeeded'`,
);
// tries: what was made due meanwhile is not put off.
const putOff = statement(
  'recharge_returns_put_off',
  `UPDATE core.recharge_attempt SET due_at = $4 WHERE account_id = $1 AND attempt_id = $2 AND tries = $3`,
);
const save = statement(
  'recharge_returns_save',
  `UPDATE core.recharge_attempt SET refunded_nanos = $3, dispute_status = $4, dispute_nanos = $5, return_open = $6
    WHERE account_id = $1 AND attempt_id = $2`,
);

export function rechargeReturns(core: PaymentCore): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: RETURNS_WORK,
    places: 2,
    perClaim: 4,
    claim: async (tx, accountId, { limit, underWay }) => {
      const values = [accountId, limit, textArray(underWay), LEASE_MS];
      const jobs = (await tx.query<{ id: string; attempt: number }>(claim, values)).rows;
      const { rows } = await tx.query<{ due_at: number }>(nextDue, [accountId]);
      return { jobs: jobs.map((job) => ({ accountId, ...job })), nextMs: rows[0]?.due_at ?? null };
    },
    run: async (job) => {
      await checkReturns(core, job);
    },
    putBack: (tx, job, dueMs) => setDue(tx, job, dueMs),
  });
}

/** The payment of a charge may have changed: it is read as soon as a process can. One that is not settled is asked for anyway. */
export async function hintReturns(tx: Transaction, accountId: string, attemptId: string): Promise<void> {
  const nowMs = await clockNow(tx);
  const { count } = await tx.query(makeDue, [accountId, attemptId, timestamp(nowMs)]);
  if (count > 0) await openTurn(tx, accountId, RETURNS_WORK, nowMs);
}

/** Reads the payment of a charge that was made. Answers the attempt afterwards; null: there is none. Throws PaymentProviderError. */
export async function checkReturns(core: PaymentCore, job: LeasedJob): Promise<AttemptRow | null> {
  const attempt = await findAttempt(core.db, job.accountId, job.id);
  const credit = attempt === null ? null : creditOf(attempt);
  if (attempt === null || credit === null) return attempt;
  const { provider } = core.payments;
  // Of a provider that is not configured any more nothing can be learned.
  const isReadable = provider?.name === attempt.provider && provider.testMode === attempt.test_mode;
  const payment = isReadable && attempt.payment_ref !== null ? await provider.read(attempt.payment_ref) : null;
  const elsewhere = await core.db.transaction((tx) => apply(tx, job, credit, payment));
  if (elsewhere !== null && payment !== null) {
    const returns = await followElsewhere(core.db, credit, payment, elsewhere);
    await core.db.transaction((tx) => write(tx, job, returns));
  }
  return findAttempt(core.db, job.accountId, job.id);
}

/** Answers where its credit went over to, and is to be followed; then it stays due. */
async function apply(
  tx: Transaction,
  job: LeasedJob,
  credit: Credited,
  payment: PaymentState | null,
): Promise<Elsewhere | null> {
  if ((await lockAccount(tx, job.accountId)) === null) return null;
  const followed = payment === null ? null : await followReturns(tx, credit, payment);
  if (followed !== null && followed.elsewhere !== null) return followed.elsewhere;
  await write(tx, job, followed?.returns ?? null);
  return null;
}

/** `returns` null: nothing was learned. */
async function write(tx: Transaction, job: LeasedJob, returns: Returns | null): Promise<void> {
  const nowMs = await lockAccount(tx, job.accountId);
  const attempt = nowMs === null ? null : await findAttempt(tx, job.accountId, job.id);
  if (nowMs === null || attempt === null) return;
  const after = { ...attempt, ...returns };
  const { refunded_nanos, dispute_status, dispute_nanos, return_open } = after;
  const names = [job.accountId, job.id];
  await tx.query(save, [...names, refunded_nanos, dispute_status, dispute_nanos, return_open]);
  await setDue(tx, job, nextReadMs(after, nowMs));
}

async function setDue(tx: Queryable, { accountId, id, attempt }: LeasedJob, dueMs: number | null): Promise<void> {
  await tx.query(putOff, [accountId, id, attempt, timestamp(dueMs)]);
}

/** What its clawbacks are of; null: it is not credited. */
export function creditOf({ attempt_id, grant_id, settled_at, ...row }: AttemptRow): Credited | null {
  if (grant_id === null || settled_at === null) return null;
  const charge_minor = BigInt(centsOf(row.amount_nanos));
  return { ...row, source: 'recharge', source_id: attempt_id, grant_id, credited_at: settled_at, charge_minor };
}
