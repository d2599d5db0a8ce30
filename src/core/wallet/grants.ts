// Credit grants: their creation and expiry in the wallet. Every change is a ledger entry under the wallet lock. A reserved part of an expired
// grant stays until its hold settles; what the hold gives back then expires too.
import { boolArray, int8Array, textArray } from '../../db/arrays.ts';
import type { Queryable, Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { newId } from '../../lib/ids.ts';
import { usd } from '../../lib/money.ts';
import { DAY_MS, isoOrNull } from '../../lib/time.ts';
import { problem } from '../../problems/problem.ts';
import { type NewEvent, sendEvents } from '../events/outbox.ts';
import { payDebt } from './debt.ts';
import { updateGrants } from './lane/statements.ts';
import { lowBalanceChange, rearmLowBalance } from './limits/alerts.ts';
import { type LedgerEntry, type OpenWallet, openWallet, saveWallet } from './open-wallet.ts';
import { type GrantRow, spendableOf } from './state.ts';

export interface NewGrant {
  readonly kind: 'promo' | 'paid';
  readonly amountNanos: bigint;
  /** Null: never. */
  readonly expiresInMs: number | null;
  /** In place of it: of credit that had an end before it came here. */
  readonly expiresAtMs?: number;
  readonly note: string | null;
  /** What it is given for: the database refuses a second grant for the same. */
  readonly source?: GrantSource;
  /** Of test money. */
  readonly testMode?: boolean;
}

export interface GrantSource {
  readonly kind: 'topup' | 'recharge' | 'subscription' | 'signup' | 'absorption' | 'restored';
  readonly id: string;
}

/** `note` of the credit an account gets at sign-up: account.balance shows that grant as the trial. */
export const signUpNote = 'sign-up credit';

/** Sign-up credit is promotional and lasts 90 days (contract §3). */
export const signUpLifetimeMs = 90 * DAY_MS;

// Far below 2^63: sums of a batch cannot overflow either.
const BALANCE_NANOS_MAX = 8_000_000_000_000_000_000n;

const insertGrant = statement(
  'grant_insert',
  `INSERT INTO core.credit_grant (account_id, grant_id, kind, amount_nanos, remaining_nanos, reserved_nanos, spent, note, expires_at, created_at,
                                  source, source_id, test_mode)
   VALUES ($1, $2, $3, $4, $8, 0, $9, $5, $6, $7, $10, $11, $12)`,
);
const readWarned = statement(
  'grant_read_warned',
  `SELECT grant_id, warned_days, created_at FROM core.credit_grant WHERE account_id = $1 AND NOT spent`,
);
const saveWarned = statement(
  'grant_save_warned',
  `UPDATE core.credit_grant AS g SET warned_days = $3 WHERE g.account_id = $1 AND g.grant_id = ANY($2::text[])`,
);

const readTestMode = statement(
  'grant_read_test_mode',
  `SELECT grant_id FROM core.credit_grant WHERE account_id = $1 AND test_mode AND NOT spent`,
);

/**
 * Adds credit in the caller's transaction: grant, ledger entry, balance; what is owed is paid of it first. Answers the `grant_…` id.
 * Re-arms the low balance event when the wallet is above 120 % of its threshold again.
 */
export async function grantCredit(tx: Transaction, accountId: string, grant: NewGrant): Promise<string> {
  if (grant.amountNanos <= 0n) throw new RangeError('a grant must be above zero');
  const opened = await openWallet(tx, accountId);
  if (opened === null) throw problem('NOT_FOUND', { message: `There is no account ${accountId}.` });
  const { wallet: freed, paidNanos } = payDebt(opened.wallet, grant.amountNanos);
  const left = grant.amountNanos - paidNanos;
  const balance = opened.wallet.balance_nanos + left;
  if (balance > BALANCE_NANOS_MAX)
    throw problem('QUOTA_EXCEEDED', { message: 'The balance would be larger than a wallet can hold.' });
  const grantId = newId('grant_', opened.nowMs);
  const inMs = grant.expiresInMs === null ? null : opened.nowMs + grant.expiresInMs;
  const expiresAtMs = grant.expiresAtMs ?? inMs;
  const expiresAt = timestamp(expiresAtMs);
  const wallet = { ...freed, balance_nanos: balance, last_grant_nanos: grant.amountNanos };
  const spendable = spendableOf(opened.unexpired) + (expiresAtMs !== null && expiresAtMs <= opened.nowMs ? 0n : left);
  await Promise.all([
    tx.query(insertGrant, [
      accountId,
      grantId,
      grant.kind,
      grant.amountNanos,
      grant.note,
      expiresAt,
      timestamp(opened.nowMs),
      ...[left, left === 0n],
      ...[grant.source?.kind ?? null, grant.source?.id ?? null, grant.testMode ?? false],
    ]),
    saveWallet(tx, opened, rearmLowBalance(wallet, spendable), [
      entryOf('grant', grantId, grant.amountNanos),
      ...(paidNanos > 0n ? [entryOf('debt', grantId, -paidNanos)] : []),
    ]),
  ]);
  return grantId;
}

/** Takes what is expired and not reserved out of the balance; one `wallet.expired` per grant. Answers how many expired. */
export async function expireGrants(tx: Transaction, accountId: string): Promise<number> {
  const opened = await openWallet(tx, accountId);
  if (opened === null) return 0;
  const expired = opened.grants.filter(
    (grant) => isExpired(grant, opened.nowMs) && grant.remaining_nanos > grant.reserved_nanos,
  );
  if (expired.length === 0) return 0;
  const amounts = expired.map((grant) => grant.remaining_nanos - grant.reserved_nanos);
  const balance = amounts.reduce((rest, amount) => rest - amount, opened.wallet.balance_nanos);
  const low = lowBalanceChange(
    { ...opened.wallet, balance_nanos: balance },
    spendableOf(opened.unexpired),
    opened.nowMs,
  );
  const { rows: ofTestMoney } = await tx.query<{ grant_id: string }>(readTestMode, [accountId]);
  // Test credit has no end of its own.
  const reasonOf = ({ grant_id }: GrantRow) =>
    ofTestMoney.some((row) => row.grant_id === grant_id) ? 'test_credit_ended' : 'expired';
  const told = expired.map((grant, i) => ({
    type: 'wallet.expired',
    data: { object: { ...grantObject(grant, amounts[i] as bigint), reason: reasonOf(grant) } },
  }));
  const events = [...told, ...low.events].map((event): NewEvent => ({ ...event, accountId, requestId: null }));
  sendEvents(tx, events, opened.nowMs);
  await Promise.all([
    saveReserves(
      tx,
      accountId,
      expired.map((grant) => ({
        grantId: grant.grant_id,
        remaining: grant.reserved_nanos,
        reserved: grant.reserved_nanos,
      })),
    ),
    saveWallet(
      tx,
      opened,
      low.wallet,
      expired.map((grant, i) => entryOf('expire', grant.grant_id, -(amounts[i] as bigint))),
    ),
  ]);
  return expired.length;
}

interface Reserve {
  readonly grantId: string;
  readonly remaining: bigint;
  readonly reserved: bigint;
}

/** Writes what is left of grants and what of it is reserved. */
export async function saveReserves(tx: Queryable, accountId: string, rows: readonly Reserve[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(updateGrants, [
    textArray([accountId]),
    textArray(rows.map(() => accountId)),
    textArray(rows.map((row) => row.grantId)),
    int8Array(rows.map((row) => row.remaining)),
    int8Array(rows.map((row) => row.reserved)),
    boolArray(rows.map((row) => row.remaining === 0n)),
  ]);
}

/** Days ahead of an expiry at which its owner is told. */
const WARNING_DAYS = [1, 7] as const;

interface WarnedRow {
  readonly grant_id: string;
  readonly warned_days: number | null;
  readonly created_at: number;
}

/** `wallet.expiring_soon` 7 days and 1 day ahead, each once; not for a moment that lies before the grant. Answers how many were told. */
export async function warnExpiring(tx: Transaction, accountId: string): Promise<number> {
  const opened = await openWallet(tx, accountId);
  if (opened === null) return 0;
  const { rows } = await tx.query<WarnedRow>(readWarned, [accountId]);
  const warned = new Map(rows.map((row) => [row.grant_id, row]));
  const due = WARNING_DAYS.map((days) => ({
    days,
    grants: opened.unexpired.filter((grant) => warningDue(grant, warned.get(grant.grant_id), opened) === days),
  }));
  const events = due.flatMap(({ days, grants }) => grants.map((grant) => expiringSoon(grant, days)));
  if (events.length === 0) return 0;
  sendEvents(tx, events, opened.nowMs);
  const told = due.filter(({ grants }) => grants.length > 0);
  await Promise.all(
    told.map(({ days, grants }) =>
      tx.query(saveWarned, [accountId, textArray(grants.map((grant) => grant.grant_id)), days]),
    ),
  );
  return events.length;
}

function warningDue(grant: GrantRow, row: WarnedRow | undefined, opened: OpenWallet): number | undefined {
  const expiresAt = grant.expires_at;
  if (expiresAt === null || row === undefined) return undefined;
  const days = WARNING_DAYS.find((ahead) => expiresAt - ahead * DAY_MS <= opened.nowMs);
  if (days === undefined || (row.warned_days !== null && row.warned_days <= days)) return undefined;
  return row.created_at <= expiresAt - days * DAY_MS ? days : undefined;
}

function expiringSoon(grant: GrantRow, days: number): NewEvent {
  const object = { ...grantObject(grant, grant.remaining_nanos), days_left: days };
  return { accountId: grant.account_id, type: 'wallet.expiring_soon', data: { object }, requestId: null };
}

function grantObject(grant: GrantRow, amount: bigint) {
  return {
    grant_id: grant.grant_id,
    kind: grant.kind,
    currency: 'USD',
    amount_usd: usd(amount),
    expires_at: isoOrNull(grant.expires_at),
  };
}

function isExpired(grant: GrantRow, nowMs: number): boolean {
  return grant.expires_at !== null && grant.expires_at <= nowMs;
}

function entryOf(kind: 'grant' | 'expire' | 'debt', grantId: string, amount: bigint): LedgerEntry {
  return { kind, capability: null, keyId: null, units: 0n, amount, reference: grantId };
}
