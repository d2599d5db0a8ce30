// Doctor check of automatic recharges. A charged one has exactly one grant, and a recharge's grant a charge. The wallet's row names the open
// attempt and has the configured trigger.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';
import { type ReturnedRow, refundFaults } from './doctor-payments.ts';

const readAttempts = statement(
  'doctor_read_recharges',
  `SELECT coalesce(a.attempt_id, g.source_id) AS id, a.status, a.amount_nanos AS amount, g.amount_nanos AS granted,
          a.refunded_nanos AS refunded,
          (SELECT coalesce(sum(c.amount_nanos), 0) FROM core.clawback c
            WHERE c.account_id = $1 AND c.source_id = a.attempt_id AND c.kind = 'refund' AND c.status <> 'restored') AS went_back,
          EXISTS (SELECT FROM core.absorption b
                   WHERE b.account_id = $1 AND b.is_leaving AND b.begun_at >= a.settled_at) AS is_elsewhere
     FROM (SELECT * FROM core.recharge_attempt WHERE account_id = $1) a
     FULL JOIN (SELECT * FROM core.credit_grant WHERE account_id = $1 AND source = 'recharge') g ON g.source_id = a.attempt_id`,
);
const readWallet = statement(
  'doctor_read_recharge_wallet',
  `SELECT w.recharge_trigger_nanos AS trigger, w.recharge_attempt_id AS attempt,
          (SELECT r.trigger_nanos FROM core.recharge r WHERE r.account_id = $1 AND r.enabled) AS configured,
          (SELECT string_agg(a.attempt_id, ', ') FROM core.recharge_attempt a WHERE a.account_id = $1 AND a.status = 'open') AS open
     FROM core.wallet w
    WHERE w.account_id = $1`,
);

interface AttemptRow extends ReturnedRow {
  readonly status: string | null;
  readonly amount: bigint | null;
  readonly granted: bigint | null;
}

interface WalletRow {
  readonly trigger: bigint | null;
  readonly attempt: string | null;
  readonly configured: bigint | null;
  readonly open: string | null;
}

type RechargeFault = readonly ['payments', string];

/** What is wrong with the account's recharges. */
export async function rechargeFaults(db: Queryable, accountId: string): Promise<RechargeFault[]> {
  const [attempts, wallets] = await Promise.all([
    db.query<AttemptRow>(readAttempts, [accountId]),
    db.query<WalletRow>(readWallet, [accountId]),
  ]);
  return [...attempts.rows.flatMap(attemptFaults), ...wallets.rows.flatMap(walletFaults)];
}

function attemptFaults({ status, amount, granted, ...row }: AttemptRow): RechargeFault[] {
  const due = status === 'succeeded' ? amount : null;
  if (due === granted) return refundFaults(row);
  return [['payments', `${row.id} is ${status ?? 'unknown'}: ${granted ?? 0n} nano-USD were granted for it`]];
}

function walletFaults({ trigger, attempt, configured, open }: WalletRow): RechargeFault[] {
  const faults: RechargeFault[] = [];
  if (attempt !== open)
    faults.push(['payments', `the wallet names ${attempt ?? 'no recharge'} as open, and open is ${open ?? 'none'}`]);
  if (trigger !== configured)
    faults.push(['payments', `the wallet is recharged below ${trigger} nano-USD, and configured is ${configured}`]);
  return faults;
}
