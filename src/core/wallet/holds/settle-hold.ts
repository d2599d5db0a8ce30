// Settlement of a hold under the wallet lock: captured (at most the reserved amount), released or expired. A hold settles once; repeats change
// nothing. A capture counts in the budget windows of its hold. An amount given back to an expired grant is left to the expiry sweep.

import { textArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { settleCap } from '../../callers/key-cap.ts';
import { sendEvents } from '../../events/outbox.ts';
import { addUsage, type UsageAdded } from '../../usage/add-usage.ts';
import { saveReserves } from '../grants.ts';
import { lockWallets } from '../lane/statements.ts';
import { lowBalanceChange } from '../limits/alerts.ts';
import { type LedgerEntry, type OpenWallet, openWallet, saveWallet } from '../open-wallet.ts';
import { type GrantRow, openGrants, spendableOf, spendingOrder } from '../state.ts';

export interface Capture {
  /** Actual price, nano-USD: at most the amount of the hold. */
  readonly capturedNanos: bigint;
  /** Billed units; those of the hold when absent. */
  readonly units?: bigint;
  readonly priceVersion?: string;
  /** The part of it that is booked as another capability. */
  readonly also?: {
    readonly capability: string;
    readonly units: bigint;
    readonly nanos: bigint;
    readonly priceVersion: string;
  };
  /** Its call ended before and was counted then, as all of `chargedAtEnd` are. */
  readonly isCounted?: boolean;
  /** What repeats of the call's idempotency key are answered from now on; without it the key is free again. */
  readonly answer?: HeldAnswer;
}

export interface HeldAnswer {
  /** JSON text of `data`. */
  readonly text: string;
  /** One day when absent. */
  readonly keepMs?: number;
}

export interface HoldSettlement {
  readonly status: 'captured' | 'released' | 'expired';
  readonly capturedNanos: bigint;
  /** False when an earlier call had settled it. */
  readonly settledNow: boolean;
  /** Spendable afterwards, nano-USD. */
  readonly balanceNanos: bigint;
}

export interface HoldRow {
  readonly hold_id: string;
  readonly capability: string;
  readonly key_id: string;
  readonly units: bigint;
  readonly amount_nanos: bigint;
  readonly captured_nanos: bigint;
  readonly grant_ids: string[];
  readonly grant_nanos: bigint[];
  readonly day_start: number;
  readonly month_start: number;
  readonly status: 'active' | HoldSettlement['status'];
}

const readHold = statement(
  'hold_read',
  `SELECT hold_id, capability, key_id, units, amount_nanos, captured_nanos, grant_ids, grant_nanos, day_start, month_start, status
     FROM core.hold
    WHERE account_id = $1 AND hold_id = $2`,
);
/** The sweep passes over it until this transaction ends; renewing it goes on. */
const shareHold = statement(
  'hold_share',
  'SELECT h.status FROM core.hold h WHERE h.account_id = $1 AND h.hold_id = $2 FOR KEY SHARE',
);
const lockOverdue = statement(
  'hold_lock_overdue',
  `WITH c AS MATERIALIZED (
     SELECT h.hold_id FROM core.hold h
      WHERE h.account_id = $1 AND h.hold_id = $2 AND h.status = 'active' AND h.expires_at <= core.clock_now()
        FOR UPDATE SKIP LOCKED)
   SELECT hold_id FROM c`,
);
const endHold = statement(
  'hold_end',
  `UPDATE core.hold SET status = $3, captured_nanos = $4, settled_at = $5 WHERE account_id = $1 AND hold_id = $2`,
);
const storeAnswer = statement(
  'hold_store_answer',
  `UPDATE core.idempotency SET answer = $3, hold_id = NULL, expires_at = $4 WHERE account_id = $1 AND hold_id = $2`,
);
const freeKey = statement('hold_free_key', `DELETE FROM core.idempotency WHERE account_id = $1 AND hold_id = $2`);

/**
 * Captures in the caller's transaction, which should have nothing left to do but COMMIT: the wallet stays locked until then.
 * Answers what the hold is already when it was settled before, and null when there is none. Throws RangeError above the hold's amount.
 */
export function settleHold(
  tx: Transaction,
  accountId: string,
  holdId: string,
  capture: Capture,
): Promise<HoldSettlement | null> {
  return endOnce(tx, accountId, holdId, 'captured', capture);
}

/** Captures several, no hold twice, as `settleHold` does each; the wallet is opened once. */
export function settleHolds(
  tx: Transaction,
  accountId: string,
  captures: readonly (readonly [holdId: string, capture: Capture])[],
): Promise<(HoldSettlement | null)[]> {
  return endAll(
    tx,
    accountId,
    captures.map(([holdId, capture]) => ({ holdId, status: 'captured', capture })),
  );
}

/** What was taken of it; null: it has not ended. */
export async function capturedOf(db: Queryable, accountId: string, holdId: string): Promise<bigint | null> {
  const [hold] = (await db.query<HoldRow>(readHold, [accountId, holdId])).rows;
  return hold === undefined || hold.status === 'active' ? null : (hold.captured_nanos ?? 0n);
}

/** Gives everything back, in the caller's transaction. `answer`: of a call that succeeded for nothing. */
export function releaseHold(
  tx: Transaction,
  accountId: string,
  holdId: string,
  answer?: HeldAnswer,
): Promise<HoldSettlement | null> {
  return endOnce(tx, accountId, holdId, 'released', { capturedNanos: 0n, answer });
}

/** Gives back a hold that is past its time, unless it was renewed meanwhile or a transaction works under it. */
export async function expireHold(tx: Transaction, accountId: string, holdId: string): Promise<void> {
  // The wallet first, as whoever settles does: else each could wait for the other.
  const [, { count }] = await Promise.all([
    tx.query(lockWallets, [textArray([accountId])]),
    tx.query(lockOverdue, [accountId, holdId]),
  ]);
  if (count === 1) await endOnce(tx, accountId, holdId, 'expired', { capturedNanos: 0n });
}

/** Its status. While the transaction lasts the hold cannot expire, whether or not anyone renews it. */
export async function keepHold(
  tx: Transaction,
  accountId: string,
  holdId: string,
): Promise<HoldRow['status'] | undefined> {
  return (await tx.query<Pick<HoldRow, 'status'>>(shareHold, [accountId, holdId])).rows[0]?.status;
}

interface HoldEnd {
  readonly holdId: string;
  readonly status: HoldSettlement['status'];
  readonly capture: Capture;
}

async function endOnce(
  tx: Transaction,
  accountId: string,
  holdId: string,
  status: HoldSettlement['status'],
  capture: Capture,
): Promise<HoldSettlement | null> {
  const [settlement = null] = await endAll(tx, accountId, [{ holdId, status, capture }]);
  return settlement;
}

interface Settled extends HoldEnd {
  readonly hold: HoldRow;
}

/** One after the other, no hold twice, in one opening of the wallet. */
async function endAll(
  tx: Transaction,
  accountId: string,
  ends: readonly HoldEnd[],
): Promise<(HoldSettlement | null)[]> {
  // One round trip: the holds are read behind the lock of the wallet, under which alone they change.
  const [opened, ...found] = await Promise.all([
    openWallet(tx, accountId),
    ...ends.map(({ holdId }) => tx.query<HoldRow>(readHold, [accountId, holdId])),
  ]);
  if (opened === null) return ends.map(() => null);
  let after = opened;
  const settled: Settled[] = [];
  const settlements = ends.map((end, i) => {
    const hold = found[i]?.rows[0];
    if (hold === undefined) return null;
    if (hold.status !== 'active') return settlementOf(hold.status, hold.captured_nanos, after, false);
    const { capturedNanos } = end.capture;
    if (capturedNanos < 0n || capturedNanos > hold.amount_nanos)
      throw new RangeError('a capture must lie between zero and the amount of its hold');
    after = walletAfter(after, hold, capturedNanos);
    settled.push({ ...end, hold });
    return settlementOf(end.status, capturedNanos, after, true);
  });
  if (settled.length > 0) await saveEnds(tx, opened, after, settled);
  return settlements;
}

function settlementOf(
  status: HoldSettlement['status'],
  capturedNanos: bigint,
  { unexpired }: OpenWallet,
  settledNow: boolean,
): HoldSettlement {
  return { status, capturedNanos, settledNow, balanceNanos: spendableOf(unexpired) };
}

async function saveEnds(
  tx: Transaction,
  opened: OpenWallet,
  after: OpenWallet,
  settled: readonly Settled[],
): Promise<void> {
  const { account_id: accountId } = opened.wallet;
  const low = lowBalanceChange(after.wallet, spendableOf(after.unexpired), opened.nowMs);
  sendEvents(
    tx,
    low.events.map((event) => ({ ...event, accountId, requestId: null })),
    opened.nowMs,
  );
  const reserving = new Set(settled.flatMap(({ hold }) => hold.grant_ids));
  await Promise.all([
    ...settled.flatMap(({ hold, status, capture }) => [
      tx.query(endHold, [accountId, hold.hold_id, status, capture.capturedNanos, timestamp(opened.nowMs)]),
      settleCap(tx, accountId, hold, capture.capturedNanos),
      sendAnswer(tx, accountId, hold, capture.answer ?? null, opened.nowMs),
    ]),
    saveReserves(
      tx,
      accountId,
      openGrants(after.grants).filter(({ grantId }) => reserving.has(grantId)),
    ),
    sendUsage(tx, accountId, settled, opened.nowMs),
    saveWallet(
      tx,
      opened,
      low.wallet,
      settled.flatMap(({ hold, status, capture }) => entriesOf(hold, status, capture)),
    ),
  ]);
}

/** The wallet and its grants without the reserve of the hold; the captured amount is taken in the order in which it was reserved. */
function walletAfter(opened: OpenWallet, hold: HoldRow, captured: bigint): OpenWallet {
  const { wallet, nowMs } = opened;
  const grants = grantsAfter(opened.grants, hold, captured);
  const sameDay = wallet.day_start === hold.day_start;
  const sameMonth = wallet.month_start === hold.month_start;
  return {
    nowMs,
    grants,
    unexpired: spendingOrder(grants, nowMs),
    wallet: {
      ...wallet,
      balance_nanos: wallet.balance_nanos - captured,
      held_nanos: wallet.held_nanos - hold.amount_nanos,
      day_used_nanos: wallet.day_used_nanos + (sameDay ? captured : 0n),
      day_held_nanos: wallet.day_held_nanos - (sameDay ? hold.amount_nanos : 0n),
      month_used_nanos: wallet.month_used_nanos + (sameMonth ? captured : 0n),
      month_held_nanos: wallet.month_held_nanos - (sameMonth ? hold.amount_nanos : 0n),
    },
  };
}

function grantsAfter(grants: readonly GrantRow[], hold: HoldRow, captured: bigint): GrantRow[] {
  const byId = new Map(grants.map((grant) => [grant.grant_id, grant]));
  let missing = captured;
  for (const [i, grantId] of hold.grant_ids.entries()) {
    const reserved = hold.grant_nanos[i] as bigint;
    const grant = byId.get(grantId);
    if (grant === undefined) throw new Error(`grant ${grantId} of hold ${hold.hold_id} is gone`);
    const taken = reserved < missing ? reserved : missing;
    missing -= taken;
    byId.set(grantId, {
      ...grant,
      remaining_nanos: grant.remaining_nanos - taken,
      reserved_nanos: grant.reserved_nanos - reserved,
    });
  }
  return [...byId.values()];
}

function entriesOf(hold: HoldRow, status: HoldSettlement['status'], capture: Capture): LedgerEntry[] {
  const common = { keyId: hold.key_id, reference: hold.hold_id };
  const main = { ...common, capability: hold.capability, priceVersion: capture.priceVersion ?? null };
  if (status !== 'captured') return [{ ...main, kind: 'release', units: 0n, amount: 0n }];
  return bookingsOf(hold, capture).map(({ capability, units, nanos, priceVersion }) => {
    return { ...common, kind: 'capture', capability, units, priceVersion, amount: -nanos };
  });
}

interface Booking {
  readonly capability: string;
  readonly units: bigint;
  readonly nanos: bigint;
  readonly priceVersion: string | null;
}

/** What is captured, by the capability that it is booked as; the hold's own first. */
function bookingsOf(hold: HoldRow, capture: Capture): Booking[] {
  const { capturedNanos, units = hold.units, priceVersion = null, also } = capture;
  const nanos = capturedNanos - (also?.nanos ?? 0n);
  if (nanos < 0n) throw new RangeError('a part of a capture exceeds it');
  const own = { capability: hold.capability, units, nanos, priceVersion };
  return also === undefined ? [own] : [own, also];
}

function sendUsage(tx: Queryable, accountId: string, settled: readonly Settled[], nowMs: number) {
  const added = new Map<string, UsageAdded>();
  for (const { hold, status, capture } of settled) {
    if (status !== 'captured') continue;
    for (const [i, { capability, units, nanos }] of bookingsOf(hold, capture).entries()) {
      const id = `${capability}\n${hold.key_id}`;
      const before = added.get(id);
      added.set(id, {
        accountId,
        atMs: nowMs,
        capability,
        keyId: hold.key_id,
        requests: (before?.requests ?? 0n) + (i === 0 && capture.isCounted !== true ? 1n : 0n),
        errors: 0n,
        units: (before?.units ?? 0n) + units,
        spendNanos: (before?.spendNanos ?? 0n) + nanos,
      });
    }
  }
  return addUsage(tx, [...added.values()]);
}

// A key that was answered before has lost its mark of the hold, so neither statement touches it.
async function sendAnswer(
  tx: Queryable,
  accountId: string,
  hold: HoldRow,
  answer: HeldAnswer | null,
  nowMs: number,
): Promise<void> {
  const id = [accountId, hold.hold_id];
  if (answer === null) await tx.query(freeKey, id);
  else await tx.query(storeAnswer, [...id, Buffer.from(answer.text), timestamp(nowMs + (answer.keepMs ?? DAY_MS))]);
}
