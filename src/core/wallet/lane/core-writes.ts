// Sends the core's writes of a lane commit without awaiting them: wallets, grants, ledger, usage, idempotent answers, holds, events.
import { boolArray, byteaArray, int8Array, textArray, timestampArray } from '../../../db/arrays.ts';
import type { Queryable, Transaction } from '../../../db/database.ts';
import { timestamp } from '../../../db/types.ts';
import { saveSpends } from '../../callers/key-cap.ts';
import { sendEvents } from '../../events/outbox.ts';
import { addUsage } from '../../usage/add-usage.ts';
import type { AccountBatch, NewHold } from './account-batch.ts';
import type { LaneItem } from './lane-item.ts';
import { insertAnswers, insertHolds, insertLedger, updateGrants, updateWallets } from './statements.ts';

/** `texts`: the answers of items whose effect is written. */
export function sendCoreWrites(
  tx: Transaction,
  batches: readonly AccountBatch[],
  texts: ReadonlyMap<LaneItem, string>,
  nowMs: number,
): void {
  const accounts = textArray(batches.map((batch) => batch.accountId));
  sendWallets(tx, accounts, batches);
  sendGrants(tx, accounts, batches);
  sendSpends(tx, batches);
  sendLedger(tx, accounts, batches, nowMs);
  sendUsage(tx, batches, nowMs);
  const admitted = batches.flatMap((batch) => batch.admitted);
  const keyed = admitted.filter(({ item }) => item.idempotency !== null);
  sendAnswers(
    tx,
    keyed.map(({ item, hold }) =>
      keptAnswer(item, isAnsweredAtEnd(item) ? (hold as NewHold) : (texts.get(item) as string), nowMs),
    ),
    nowMs,
  );
  for (const { hold } of admitted) if (hold !== null) sendHold(tx, hold, nowMs, batches);
  const events = batches.flatMap((batch) => batch.events);
  if (events.length > 0) sendEvents(tx, events, nowMs);
}

function sendWallets(tx: Queryable, accounts: Buffer, batches: readonly AccountBatch[]): void {
  const rows = batches.map((batch) => batch.wallet);
  void tx.query(updateWallets, [
    accounts,
    accounts,
    int8Array(rows.map((row) => row.balance_nanos)),
    int8Array(rows.map((row) => row.held_nanos)),
    int8Array(rows.map((row) => row.last_seq)),
    timestampArray(rows.map((row) => row.day_start)),
    int8Array(rows.map((row) => row.day_used_nanos)),
    int8Array(rows.map((row) => row.day_held_nanos)),
    timestampArray(rows.map((row) => row.month_start)),
    int8Array(rows.map((row) => row.month_used_nanos)),
    int8Array(rows.map((row) => row.month_held_nanos)),
    timestampArray(rows.map((row) => row.budget_alerted_for)),
    boolArray(rows.map((row) => row.low_balance_armed)),
    timestampArray(rows.map((row) => row.recharge_due_at)),
  ]);
}

function sendGrants(tx: Queryable, accounts: Buffer, batches: readonly AccountBatch[]): void {
  const rows = batches.flatMap((batch) =>
    batch.changedGrants.map((grant) => ({ accountId: batch.accountId, ...grant })),
  );
  if (rows.length === 0) return;
  void tx.query(updateGrants, [
    accounts,
    textArray(rows.map((row) => row.accountId)),
    textArray(rows.map((row) => row.grantId)),
    int8Array(rows.map((row) => row.remaining)),
    int8Array(rows.map((row) => row.reserved)),
    boolArray(rows.map((row) => row.remaining === 0n)),
  ]);
}

function sendSpends(tx: Queryable, batches: readonly AccountBatch[]): void {
  const rows = batches.flatMap(({ accountId, changedCaps }) => changedCaps.map((cap) => ({ accountId, ...cap })));
  if (rows.length > 0) void saveSpends(tx, rows);
}

function sendLedger(tx: Queryable, accounts: Buffer, batches: readonly AccountBatch[], nowMs: number): void {
  const rows = batches.flatMap((batch) => batch.entries.map((entry) => ({ batchId: batch.batchId, ...entry })));
  void tx.query(insertLedger, [
    accounts,
    textArray(rows.map((row) => row.accountId)),
    int8Array(rows.map((row) => row.seq)),
    int8Array(rows.map((row) => row.batchId)),
    textArray(rows.map((row) => row.kind)),
    textArray(rows.map((row) => row.capability)),
    textArray(rows.map((row) => row.keyId)),
    int8Array(rows.map((row) => row.units)),
    textArray(rows.map((row) => row.priceVersion)),
    int8Array(rows.map((row) => row.amount)),
    int8Array(rows.map((row) => row.balanceAfter)),
    textArray(rows.map((row) => row.reference)),
    timestampArray(rows.map(() => nowMs)),
  ]);
}

/** Billable successes count here, in their own transaction; a hold counts when it is captured. */
function sendUsage(tx: Queryable, batches: readonly AccountBatch[], nowMs: number): void {
  const charges = batches.flatMap((batch) => batch.entries.filter((entry) => entry.kind === 'charge'));
  void addUsage(
    tx,
    charges.map(({ accountId, capability, keyId, requests, units, amount }) => ({
      accountId,
      atMs: nowMs,
      capability,
      keyId,
      requests: BigInt(requests),
      errors: 0n,
      units,
      spendNanos: -amount,
    })),
  );
}

/** Answers that cost nothing because they repeat those of earlier calls, under keys of their own. */
export function keepReplays(tx: Queryable, replays: readonly (readonly [LaneItem, string])[], nowMs: number): void {
  sendAnswers(
    tx,
    replays.map(([item, text]) => keptAnswer(item, text, nowMs)),
    nowMs,
  );
}

function isAnsweredAtEnd({ mode, answersAtEnd = false }: LaneItem): boolean {
  return mode === 'hold' || answersAtEnd;
}

interface KeptAnswer {
  readonly item: LaneItem;
  /** Null while the call runs under its hold. */
  readonly text: string | null;
  readonly holdId: string | null;
  readonly expiresAtMs: number;
}

function keptAnswer(item: LaneItem, answer: string | NewHold, nowMs: number): KeptAnswer {
  return typeof answer === 'string'
    ? { item, text: answer, holdId: null, expiresAtMs: nowMs + item.keepMs }
    : { item, text: null, holdId: answer.authorized.holdId, expiresAtMs: answer.expiresAtMs ?? nowMs + item.keepMs };
}

function sendAnswers(tx: Queryable, rows: readonly KeptAnswer[], nowMs: number): void {
  if (rows.length === 0) return;
  const accounts = rows.map(({ item }) => item.accountId);
  void tx.query(insertAnswers, [
    textArray([...new Set(accounts)]),
    textArray(accounts),
    textArray(rows.map(({ item }) => item.idempotency?.hash as string)),
    textArray(rows.map(({ item }) => item.idempotency?.fingerprint as string)),
    byteaArray(rows.map(({ text }) => text)),
    textArray(rows.map(({ holdId }) => holdId)),
    timestamp(nowMs),
    timestampArray(rows.map(({ expiresAtMs }) => expiresAtMs)),
  ]);
}

function sendHold(tx: Queryable, hold: NewHold, nowMs: number, batches: readonly AccountBatch[]): void {
  const { item, bill, parts, authorized, expiresAtMs } = hold;
  const wallet = (batches.find((batch) => batch.accountId === item.accountId) as AccountBatch).wallet;
  void tx.query(insertHolds, [
    item.accountId,
    authorized.holdId,
    item.capability,
    item.principal.id,
    bill.units,
    bill.amount,
    textArray(parts.map((part) => part.grantId)),
    int8Array(parts.map((part) => part.amount)),
    timestamp(wallet.day_start),
    timestamp(wallet.month_start),
    item.holdOwner as string,
    timestamp(nowMs),
    timestamp(expiresAtMs),
  ]);
}
