// Queries of account.balance, account.budget.get and account.ledger.list. Each is one statement, so all its figures are from one snapshot.
import { textArray } from '../../../db/arrays.ts';
import type { Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { usd } from '../../../lib/money.ts';
import { sequenceAt } from '../../../lib/sequence.ts';
import { iso, isoOrNull } from '../../../lib/time.ts';
import { type GrantSource, signUpNote } from '../grants.ts';
import { lowBalanceThreshold } from '../limits/alerts.ts';
import { budgetUse, type GrantRow, rollWindows, spendableOf, spendingOrder, type WalletRow } from '../state.ts';

interface BalanceRow extends GrantRow {
  readonly held_nanos: bigint;
  readonly last_grant_nanos: bigint;
  readonly suspended: boolean;
  readonly frozen_reason: string | null;
  readonly debt_nanos: bigint;
  readonly amount_nanos: bigint;
  readonly test_mode: boolean;
  readonly note: string | null;
  readonly trial_withheld: string | null;
  readonly now: number;
}

const readBalance = statement(
  'wallet_read_balance',
  `SELECT w.held_nanos, w.last_grant_nanos, w.suspended, w.frozen_reason, w.debt_nanos, core.clock_now() AS now,
          g.account_id, g.grant_id, g.kind, g.amount_nanos, g.remaining_nanos, g.reserved_nanos, g.note, g.test_mode, g.expires_at,
          a.trial_withheld
     FROM core.wallet w
     JOIN core.account a ON a.account_id = $1
     LEFT JOIN core.credit_grant g ON g.account_id = $1 AND (NOT g.spent OR g.note = $2)
    WHERE w.account_id = $1
    ORDER BY g.grant_id`,
);
const readWallet = statement(
  'wallet_read',
  `SELECT account_id, balance_nanos, held_nanos, last_seq, day_start, day_used_nanos, day_held_nanos,
          month_start, month_used_nanos, month_held_nanos, budget_period, budget_cap_nanos, budget_alert_nanos,
          budget_alerted_for, last_grant_nanos, low_balance_armed, suspended, frozen_reason, debt_nanos, core.clock_now() AS now
     FROM core.wallet
    WHERE account_id = $1`,
);
const ENTRY =
  'entry_seq, batch_id, kind, capability, key_id, units, price_version, amount_nanos, balance_after_nanos, reference, created_at';
const readLedger = statement(
  'ledger_read_page',
  `SELECT ${ENTRY} FROM core.ledger
    WHERE account_id = $1 AND entry_seq < $2 AND entry_seq >= $3 AND ($4::text IS NULL OR capability = $4)
    ORDER BY entry_seq DESC
    LIMIT $5`,
);
/** A statement of its own, with an index of its own: a key may have few entries among very many. */
const readLedgerOfKey = statement(
  'ledger_read_page_of_key',
  `SELECT ${ENTRY} FROM core.ledger
    WHERE account_id = $1 AND entry_seq < $2 AND entry_seq >= $3 AND ($4::text IS NULL OR capability = $4) AND key_id = $6
    ORDER BY entry_seq DESC
    LIMIT $5`,
);

const readSources = statement(
  'ledger_read_sources',
  `SELECT grant_id, source, note FROM core.credit_grant WHERE account_id = $1 AND grant_id = ANY($2::text[])`,
);

/** The balance of this very moment: expired credit does not count, whether a sweep has booked it or not. */
export async function balanceOf(db: Queryable, accountId: string) {
  const { rows } = await db.query<BalanceRow>(readBalance, [accountId, signUpNote]);
  const [first] = rows;
  if (first === undefined) throw new Error(`account ${accountId} has no wallet`);
  const grants = rows.filter((row) => row.grant_id !== null);
  const open = spendingOrder(grants, first.now);
  const spendable = spendableOf(open);
  return {
    currency: 'USD',
    balance_usd: usd(spendable),
    held_usd: usd(first.held_nanos),
    promo_usd: usd(spendableOf(open.filter((grant) => grant.kind === 'promo'))),
    paid_usd: usd(spendableOf(open.filter((grant) => grant.kind === 'paid'))),
    test_usd: usd(
      spendableOf(
        spendingOrder(
          grants.filter((grant) => grant.test_mode),
          first.now,
        ),
      ),
    ),
    debt_usd: usd(first.debt_nanos),
    expiring: expiringOf(open),
    trial: trialOf(grants, first),
    low_balance: spendable < lowBalanceThreshold(first.last_grant_nanos),
    frozen_reason: first.frozen_reason ?? (first.suspended ? 'suspended' : null),
    as_of: iso(first.now),
  };
}

/** One entry per moment of expiry, the earliest first. */
function expiringOf(open: readonly GrantRow[]) {
  const sums = new Map<number, bigint>();
  for (const { expires_at, remaining_nanos, reserved_nanos } of open) {
    if (expires_at !== null) sums.set(expires_at, (sums.get(expires_at) ?? 0n) + remaining_nanos - reserved_nanos);
  }
  const dated = [...sums].filter(([, amount]) => amount > 0n).sort(([a], [b]) => a - b);
  return dated.map(([expiresAt, amount]) => ({ amount_usd: usd(amount), expires_at: iso(expiresAt) }));
}

function trialOf(grants: readonly BalanceRow[], { now, trial_withheld }: BalanceRow) {
  const trial = grants.find((grant) => grant.note === signUpNote);
  if (trial === undefined)
    return { active: false, granted_usd: 0, remaining_usd: 0, expires_at: null, withheld_reason: trial_withheld };
  const alive = trial.expires_at === null || trial.expires_at > now;
  const remaining = alive ? trial.remaining_nanos - trial.reserved_nanos : 0n;
  return {
    active: remaining > 0n,
    granted_usd: usd(trial.amount_nanos),
    remaining_usd: usd(remaining),
    expires_at: isoOrNull(trial.expires_at),
    withheld_reason: null,
  };
}

export async function budgetOf(db: Queryable, accountId: string) {
  const { rows } = await db.query<WalletRow & { readonly now: number }>(readWallet, [accountId]);
  const [row] = rows;
  if (row === undefined) throw new Error(`account ${accountId} has no wallet`);
  return budgetRecord(rollWindows(row, row.now));
}

/** `wallet` rolled to now. Without a budget the figures are those of the calendar month. */
export function budgetRecord(wallet: WalletRow) {
  const period = wallet.budget_period;
  const use = budgetUse(period === null ? { ...wallet, budget_period: 'monthly' } : wallet);
  const cap = wallet.budget_cap_nanos;
  const left = cap === null ? null : cap - use.used - use.held;
  return {
    period,
    hard_cap_usd: cap === null ? null : usd(cap),
    alert_threshold_usd: wallet.budget_alert_nanos === null ? null : usd(wallet.budget_alert_nanos),
    used_usd: usd(use.used),
    held_usd: usd(use.held),
    remaining_usd: left === null ? null : usd(left > 0n ? left : 0n),
    window_start: iso(use.startMs),
    window_end: iso(use.endMs),
    exceeded: left !== null && left <= 0n,
  };
}

interface LedgerRow {
  readonly entry_seq: bigint;
  readonly batch_id: bigint;
  readonly kind: string;
  readonly capability: string | null;
  readonly key_id: string | null;
  readonly units: bigint;
  readonly price_version: string | null;
  readonly amount_nanos: bigint;
  readonly balance_after_nanos: bigint;
  readonly reference: string | null;
  readonly created_at: number;
}

export interface LedgerFilter {
  readonly fromMs: number | null;
  readonly toMs: number | null;
  readonly capability: string | null;
  readonly keyId: string | null;
}

/** Entries before `before` (null: the newest), newest first. Numbers are dated, so a period is a range of the primary key. */
export async function ledgerEntries(
  db: Queryable,
  accountId: string,
  filter: LedgerFilter,
  before: bigint | null,
  limit: number,
) {
  const end = filter.toMs === null ? 2n ** 63n - 1n : sequenceAt(filter.toMs);
  const below = before === null || before > end ? end : before;
  const from = filter.fromMs === null ? 0n : sequenceAt(filter.fromMs);
  const common = [accountId, below, from, filter.capability, limit];
  const { rows } = await (filter.keyId === null
    ? db.query<LedgerRow>(readLedger, common)
    : db.query<LedgerRow>(readLedgerOfKey, [...common, filter.keyId]));
  const sources = await sourcesOf(db, accountId, rows);
  return rows.map((row) => ({
    entry_id: String(row.entry_seq),
    batch_id: String(row.batch_id),
    kind: row.kind,
    capability: row.capability,
    key_id: row.key_id,
    units: Number(row.units),
    price_version: row.price_version,
    amount_usd: usd(row.amount_nanos),
    balance_after_usd: usd(row.balance_after_nanos),
    reference: row.reference,
    source: sources.get(row.kind === 'grant' ? row.reference : null) ?? null,
    created_at: iso(row.created_at),
  }));
}

interface SourceRow {
  readonly grant_id: string;
  readonly source: GrantSource['kind'] | null;
  readonly note: string | null;
}

/** What credit came from. */
export type CreditSource = GrantSource['kind'] | 'operator';

/** By grant, of those that entries of the page book. */
async function sourcesOf(
  db: Queryable,
  accountId: string,
  entries: readonly LedgerRow[],
): Promise<ReadonlyMap<string | null, CreditSource>> {
  const grants = entries.flatMap(({ kind, reference }) => (kind === 'grant' && reference !== null ? [reference] : []));
  if (grants.length === 0) return new Map();
  const { rows } = await db.query<SourceRow>(readSources, [accountId, textArray(grants)]);
  return new Map(
    rows.map(({ grant_id: id, source, note }) => [id, source ?? (note === signUpNote ? 'signup' : 'operator')]),
  );
}
