// Doctor check of payments. A credited top-up has exactly one grant, and a top-up's grant a credited row. Debts match what was taken back and
// paid. A wallet is frozen exactly while something is disputed or owed.
import type { Queryable } from '../db/database.ts';
import { statement } from '../db/statement.ts';

const readTopups = statement(
  'doctor_read_topups',
  `SELECT coalesce(t.topup_id, g.source_id) AS id, t.status, t.amount_nanos AS amount, g.amount_nanos AS granted,
          t.refunded_nanos AS refunded,
          (SELECT coalesce(sum(c.amount_nanos), 0) FROM core.clawback c
            WHERE c.account_id = $1 AND c.source_id = t.topup_id AND c.kind = 'refund' AND c.status <> 'restored') AS went_back,
          EXISTS (SELECT FROM core.absorption b
                   WHERE b.account_id = $1 AND b.is_leaving AND b.begun_at >= t.credited_at) AS is_elsewhere
     FROM (SELECT * FROM core.topup WHERE account_id = $1) t
     FULL JOIN (SELECT * FROM core.credit_grant WHERE account_id = $1 AND source = 'topup') g ON g.source_id = t.topup_id`,
);

const readOwed = statement(
  'doctor_read_owed',
  `SELECT w.debt_nanos AS debt, w.frozen_reason AS frozen,
          (SELECT coalesce(sum(c.debt_nanos - c.forgiven_nanos), 0) FROM core.clawback c WHERE c.account_id = $1) AS made,
          (SELECT count(*) FROM core.clawback c
            WHERE c.account_id = $1 AND c.kind = 'dispute' AND c.status = 'pending') AS disputes,
          (SELECT coalesce(-sum(t.amount_nanos), 0) FROM core.ledger_total t WHERE t.account_id = $1 AND t.kind = 'debt')
            + (SELECT coalesce(-sum(l.amount_nanos), 0) FROM core.ledger l WHERE l.account_id = $1 AND l.kind = 'debt'
                 AND l.entry_seq > (SELECT coalesce(max(f.through_seq), -1) FROM core.ledger_folded f WHERE f.account_id = $1)) AS paid
     FROM core.wallet w
    WHERE w.account_id = $1`,
);

/** A payment, with what of it went back as it tells, and as was taken. */
export interface ReturnedRow {
  readonly id: string;
  readonly refunded: bigint | null;
  readonly went_back: bigint;
  /** Its credit went over into another account, and what went back since was taken there. */
  readonly is_elsewhere: boolean;
}

interface TopupRow extends ReturnedRow {
  readonly status: string | null;
  readonly amount: bigint | null;
  readonly granted: bigint | null;
}

interface OwedRow {
  readonly debt: bigint;
  readonly frozen: string | null;
  readonly made: bigint;
  readonly paid: bigint;
  readonly disputes: bigint;
}

type PaymentFault = readonly ['payments' | 'debt', string];

/** What is wrong with the account's money in. */
export async function paymentFaults(db: Queryable, accountId: string): Promise<PaymentFault[]> {
  const [topups, owed] = await Promise.all([
    db.query<TopupRow>(readTopups, [accountId]),
    db.query<OwedRow>(readOwed, [accountId]),
  ]);
  return [...topups.rows.flatMap(topupFaults), ...owed.rows.flatMap(owedFaults)];
}

function topupFaults({ status, amount, granted, ...row }: TopupRow): PaymentFault[] {
  const { id } = row;
  if (status === null) return [['payments', `${id}: credit was given for it, and there is no such top-up`]];
  const due = status === 'succeeded' ? amount : null;
  const faults: PaymentFault[] = [];
  if (due !== granted) faults.push(['payments', `${id} is ${status}: ${granted ?? 0n} nano-USD were granted for it`]);
  return [...faults, ...refundFaults(row)];
}

export function refundFaults({
  id,
  refunded,
  went_back,
  is_elsewhere,
}: ReturnedRow): (readonly ['payments', string])[] {
  const told = refunded ?? 0n;
  const isSound = is_elsewhere ? told >= went_back : told === went_back;
  return isSound ? [] : [['payments', `${id}: ${told} nano-USD are told as refunded, ${went_back} went back`]];
}

function owedFaults({ debt, frozen, made, paid, disputes }: OwedRow): PaymentFault[] {
  const faults: PaymentFault[] = [];
  if (debt !== made - paid) faults.push(['debt', `${debt} nano-USD are owed; ${made} were made and ${paid} paid`]);
  const reason = disputes > 0n ? 'dispute' : debt > 0n ? 'debt' : null;
  if (frozen !== reason)
    faults.push(['debt', `frozen by ${frozen ?? 'nothing'}: ${disputes} disputes are open, ${debt} nano-USD are owed`]);
  return faults;
}
