// The recharge loop. Its work list is the wallet's row: when it is due, and which charge is open. The lease, and the attempt's id as the
// provider's idempotency key, make a killed or duplicate worker harmless.

import type { JobLoop } from '../../core/background/job-loop.ts';
import { turnLoop } from '../../core/background/turn-loop.ts';
import { clockNow } from '../../core/database-clock.ts';
import { waitBriefly } from '../../core/wallet/lane/statements.ts';
import { rechargeHint, rechargeWork } from '../../core/wallet/limits/recharge-due.ts';
import { sqlState, type Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { usdText } from '../../lib/money.ts';
import { type PaymentProvider, PaymentProviderError } from '../../vendors/payments/port.ts';
import { LEASE_MS, providerOf, repeatableMs } from '../at-provider.ts';
import { customerOf } from '../customers.ts';
import type { PaymentCore } from '../topups/create.ts';
import { lookAtWallet } from './begin.ts';
import { centsOf, type Said, settleAttempt } from './settle.ts';
import type { AttemptRow } from './store.ts';

const findDue = statement(
  'recharge_find_due',
  `/* fan-out: wallets that a recharge is due for, the one that waits longest first */
   SELECT w.account_id FROM core.wallet w
    WHERE w.recharge_due_at <= core.clock_now()
    ORDER BY w.recharge_due_at
    LIMIT $1`,
);
const putOff = statement(
  'recharge_put_off',
  `UPDATE core.wallet SET recharge_due_at = core.clock_now() + interval '30 seconds'
    WHERE account_id = $1 AND recharge_due_at <= core.clock_now()`,
);
const makeDue = statement(
  'recharge_make_due',
  'UPDATE core.wallet SET recharge_due_at = core.clock_now() WHERE account_id = $1 AND recharge_attempt_id = $2',
);

const PLACES = 8;
/** Beside the search of the process (upkeep/due-search.ts). */
const INTERVAL_MS = 5_000;
const CLAIMS_AT_ONCE = 3;
const LOCK_NOT_AVAILABLE = '55P03';

export function rechargeLoop(core: PaymentCore): JobLoop {
  const loop = turnLoop<{ readonly accountId: string }, AttemptRow>({
    name: rechargeWork,
    log: core.log,
    places: PLACES,
    placesPerTurn: 1,
    claimsAtOnce: CLAIMS_AT_ONCE,
    intervalMs: INTERVAL_MS,
    find: async (limit) => {
      const { rows } = await core.db.query<{ account_id: string }>(findDue, [limit]);
      return rows.map((row) => ({ accountId: row.account_id }));
    },
    claim: ({ accountId }) => claim(core, accountId),
    putOff: async ({ accountId }) => {
      await core.db.query(putOff, [accountId]);
    },
    run: (attempt) => runAttempt(core, attempt),
    onStop: async () => deafen(),
  });
  const deafen = core.db.onHint(rechargeHint, () => loop.wake());
  return loop;
}

async function claim({ db, payments }: PaymentCore, accountId: string): Promise<AttemptRow[]> {
  try {
    const attempt = await db.transaction(async (tx) => {
      await tx.query(waitBriefly, []);
      return lookAtWallet(tx, accountId, payments.provider, LEASE_MS);
    });
    return attempt === null ? [] : [attempt];
  } catch (error) {
    if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
    // The wallet is busy: the next search finds it again.
    return [];
  }
}

/** Asks the provider for an open attempt and applies the answer. */
export async function runAttempt(core: PaymentCore, attempt: AttemptRow): Promise<void> {
  const said = await ask(core, attempt);
  await core.db.transaction((tx) => settleAttempt(tx, attempt.account_id, attempt.attempt_id, said));
}

/** The payment of an open attempt may have changed at the provider's: it is read as soon as a process can. */
export async function hintAttempt(tx: Transaction, accountId: string, attemptId: string): Promise<void> {
  tx.hint(rechargeHint);
  await tx.query(makeDue, [accountId, attemptId]);
}

async function ask(core: PaymentCore, attempt: AttemptRow): Promise<Said> {
  const provider = providerOf(core.payments, attempt);
  if (provider === null) return { status: 'silent' };
  try {
    return await askProvider(core, provider, attempt);
  } catch (error) {
    if (!(error instanceof PaymentProviderError)) throw error;
    core.log.warn({ err: error, attempt: attempt.attempt_id }, 'an automatic recharge got no decision');
    return { status: 'silent' };
  }
}

async function askProvider(core: PaymentCore, provider: PaymentProvider, attempt: AttemptRow): Promise<Said> {
  const { account_id: accountId, attempt_id: id, payment_ref, method_ref, amount_nanos } = attempt;
  if (payment_ref !== null) return provider.read(payment_ref);
  const customer = await customerOf({ db: core.db, provider }, accountId, null);
  const find = async (code: string): Promise<Said> =>
    (await provider.findCharge({ id, customer })) ?? { status: 'none', code };
  if ((await clockNow(core.db)) >= attempt.created_at + repeatableMs) return find('no_answer');
  try {
    return await provider.charge({
      id,
      accountId,
      customer,
      methodRef: method_ref,
      amountMinor: centsOf(amount_nanos),
      currency: 'USD',
      description: `${usdText(amount_nanos)} USD of credit, recharged automatically`,
      metadata: { account_id: accountId, attempt_id: id },
    });
  } catch (error) {
    if (!(error instanceof PaymentProviderError) || error.kind !== 'refused') throw error;
    // Refused, it was not made; by an earlier try it may have been.
    return attempt.tries === 1 ? { status: 'none', code: error.code } : find(error.code);
  }
}
