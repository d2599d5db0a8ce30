// Checks of past charges for refunds and disputes, which are taken from the wallet like those of top-ups. They run on a hint, daily for
// a week, and longer while a refund or dispute is open.

import { dueTable } from '../../core/background/due-table.ts';
import type { LeasedJob } from '../../core/background/due-work.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import type { Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { PaymentState } from '../../vendors/payments/port.ts';
import { LEASE_MS, providerOf } from '../at-provider.ts';
import { type Credited, type Elsewhere, followElsewhere, followReturns, type Returns } from '../clawbacks/follow.ts';
import type { PaymentCore } from '../topups/create.ts';
import { nextReadMs } from './judge.ts';
import { centsOf } from './settle.ts';
import { type AttemptRow, findAttempt } from './store.ts';

export const returnsDue = dueTable({
  table: 'core.recharge_attempt',
  key: 'attempt_id',
  attempt: 'tries',
  leaseMs: LEASE_MS,
  mayBeDue: `status = 'succeeded'`,
});

const save = statement(
  'recharge_returns_save',
  `UPDATE core.recharge_attempt SET refunded_nanos = $3, dispute_status = $4, dispute_nanos = $5, return_open = $6
    WHERE account_id = $1 AND attempt_id = $2`,
);

/** Reads the payment of a charge that was made. Answers the attempt afterwards; null: there is none. Throws PaymentProviderError. */
export async function checkReturns(core: PaymentCore, job: LeasedJob): Promise<AttemptRow | null> {
  const attempt = await findAttempt(core.db, job.accountId, job.id);
  const credit = attempt === null ? null : creditOf(attempt);
  if (attempt === null || credit === null) return attempt;
  const provider = providerOf(core.payments, attempt);
  const payment = attempt.payment_ref === null ? null : ((await provider?.read(attempt.payment_ref)) ?? null);
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
  await returnsDue.setDue(tx, job, nextReadMs(after, nowMs));
}

/** What its clawbacks are of; null: it is not credited. */
export function creditOf({ attempt_id, grant_id, settled_at, ...row }: AttemptRow): Credited | null {
  if (grant_id === null || settled_at === null) return null;
  const charge_minor = BigInt(centsOf(row.amount_nanos));
  return { ...row, source: 'recharge', source_id: attempt_id, grant_id, credited_at: settled_at, charge_minor };
}
