// One lane commit: a list of waiting calls of one or more accounts becomes one transaction in two pipelined round trips.
// First everything is read under the wallet locks, then everything is written and committed. All or nothing per commit.

import { textArray } from '../../../db/arrays.ts';
import type { Database, Transaction } from '../../../db/database.ts';
import { randomBigInt } from '../../../lib/random-hex.ts';
import { nextSequence } from '../../../lib/sequence.ts';
import { problem } from '../../../problems/problem.ts';
import { capOf, type KeyCap } from '../../callers/key-cap.ts';
import { type LivePrincipal, type Principal, readLivePrincipals } from '../../callers/principal.ts';
import { isUnderOtherRules, rulesChanged } from '../../callers/rules-version.ts';
import { scopesAllow } from '../../callers/scopes.ts';
import { rechargeHint } from '../limits/recharge-due.ts';
import { type GrantRow, rollWindows, spendableOf, spendingOrder, type WalletRow } from '../state.ts';
import { type AccountBatch, type BatchEntry, composeBatch, type NewHold } from './account-batch.ts';
import { keepReplays, sendCoreWrites } from './core-writes.ts';
import type { AdmittedItem, LaneItem, LaneOutcome, ReadVerdict } from './lane-item.ts';
import {
  deleteDeadAnswers,
  lockFreeWallets,
  lockWallets,
  openCommit,
  readAnswers,
  readGrants,
  waitBriefly,
} from './statements.ts';

/** Where to look when COMMIT got no answer: this ledger entry exists exactly when the batch was committed. */
export interface CommitProbe {
  readonly accountId: string;
  readonly entrySeq: bigint;
  readonly batchId: bigint;
}

export interface CommitResult {
  /** In the order of the items; null for those whose wallet someone else holds: nothing was done for them. */
  readonly outcomes: readonly (LaneOutcome | null)[];
  /** Runs the effects' local hints. */
  readonly afterCommit: () => void;
}

interface Snapshot {
  readonly nowMs: number;
  readonly wallets: ReadonlyMap<string, WalletRow>;
  readonly grants: ReadonlyMap<string, GrantRow[]>;
  readonly principals: ReadonlyMap<Principal, LivePrincipal>;
  readonly answers: ReadonlyMap<string, AnswerRow>;
  readonly deadAnswers: readonly AnswerRow[];
  readonly verdicts: ReadonlyMap<LaneItem, ReadVerdict<unknown>>;
}

interface AnswerRow {
  readonly account_id: string;
  readonly key_hash: string;
  readonly fingerprint: string;
  readonly answer: Buffer | null;
  readonly alive: boolean;
}

/** What becomes of an account whose wallet someone else holds: it is passed over, or waited for 100 ms, and then all fails (55P03). */
export type LockedWallets = 'pass over' | 'wait for';

/**
 * Commits `items` (their accounts in any order; locks are taken in account order).
 * `onProbe` is told before COMMIT is sent where to look if it gets no answer, and what to answer then. Throws what PostgreSQL throws, CommitUnknown included.
 */
export async function commitLanes(
  db: Database,
  items: readonly LaneItem[],
  locked: LockedWallets,
  onProbe: (probe: CommitProbe, result: CommitResult) => void,
): Promise<CommitResult> {
  return db.hot.pipelinedTransaction(async (tx) => {
    const snapshot = await readSnapshot(tx, items, locked, db.distributed);
    const outcomes = new Map<LaneItem, LaneOutcome>();
    const candidates = new Map<string, LaneItem[]>();
    const replays: (readonly [LaneItem, string])[] = [];
    for (const item of items) {
      if (locked === 'pass over' && !snapshot.wallets.has(item.accountId)) continue;
      const early = outcomeBeforeMoney(item, snapshot);
      if (early === null) append(candidates, item.accountId, item);
      else outcomes.set(item, early);
      if (early?.kind === 'replayed' && isUnkeptKey(item, snapshot)) replays.push([item, early.text]);
    }
    const batches = [...candidates].map(([accountId, waiting]) => batchOf(accountId, waiting, snapshot, outcomes));
    const written = batches.filter((batch) => batch.admitted.length > 0);
    const first = written[0];
    if (snapshot.deadAnswers.length > 0) removeDead(tx, snapshot.deadAnswers);
    keepReplays(tx, replays, snapshot.nowMs);
    const admitted = writeAll(tx, written, snapshot.nowMs, outcomes);
    const result = {
      outcomes: items.map((item) => outcomes.get(item) ?? null),
      afterCommit: () => {
        for (const [effect, of] of admitted) effect.afterCommit?.(of);
      },
    };
    if (first !== undefined) onProbe(probeOf(first), result);
    return result;
  }, items[0]?.accountId);
}

function probeOf({ accountId, batchId, entries: [entry] }: AccountBatch): CommitProbe {
  return { accountId, batchId, entrySeq: (entry as BatchEntry).seq };
}

async function readSnapshot(
  tx: Transaction,
  items: readonly LaneItem[],
  locked: LockedWallets,
  distributed: boolean,
): Promise<Snapshot> {
  const accounts = textArray([...new Set(items.map((item) => item.accountId))].sort());
  const keyed = items.filter((item) => item.idempotency !== null);
  const groups = groupByEffect(items);
  tx.cork();
  if (locked === 'wait for' || distributed) void tx.query(waitBriefly, []);
  const [wallets, clock, grants, principals, answers, ...verdictLists] = await Promise.all([
    tx.query<WalletRow>(locked === 'wait for' ? lockWallets : lockFreeWallets, [accounts]),
    tx.query<{ now: number }>(openCommit, []),
    tx.query<GrantRow>(readGrants, [accounts]),
    readLivePrincipals(
      tx,
      accounts,
      items.map(({ principal }) => principal),
    ),
    keyed.length === 0 ? null : tx.query<AnswerRow>(readAnswers, [accounts, ...answerKeys(keyed)]),
    ...groups.map(([effect, of]) => effect.read(tx, of)),
  ]);
  const nowMs = (clock.rows[0] as { now: number }).now;
  const known = answers?.rows ?? [];
  const verdicts = new Map<LaneItem, ReadVerdict<unknown>>();
  groups.forEach(([, of], g) => {
    of.forEach((item, i) => {
      verdicts.set(item, verdictLists[g]?.[i] as ReadVerdict<unknown>);
    });
  });
  const grantsByAccount = new Map<string, GrantRow[]>();
  for (const row of grants.rows) append(grantsByAccount, row.account_id, row);
  const held = new Map(wallets.rows.map((row) => [row.account_id, rollWindows(row, nowMs)]));
  return {
    nowMs,
    wallets: held,
    grants: new Map([...grantsByAccount].map(([id, rows]) => [id, spendingOrder(rows, nowMs)])),
    principals,
    answers: new Map(known.filter(({ alive }) => alive).map((row) => [answerId(row.account_id, row.key_hash), row])),
    deadAnswers: known.filter((row) => !row.alive && held.has(row.account_id)),
    verdicts,
  };
}

function answerKeys(keyed: readonly LaneItem[]): Buffer[] {
  return [
    textArray(keyed.map((item) => item.accountId)),
    textArray(keyed.map((item) => (item.idempotency as NonNullable<LaneItem['idempotency']>).hash)),
  ];
}

function answerId(accountId: string, hash: string): string {
  return `${accountId}\n${hash}`;
}

/** Everything that decides a call before money is looked at, in the order of contract §1: key, scope, replay, existence. */
function outcomeBeforeMoney(item: LaneItem, snapshot: Snapshot): LaneOutcome | null {
  const wallet = snapshot.wallets.get(item.accountId);
  const live = snapshot.principals.get(item.principal);
  if (wallet === undefined || live === undefined || live.ended !== null)
    return { kind: 'refused', problem: item.principal.kind.refusal(live?.ended ?? 'unknown') };
  if (wallet.suspended) return { kind: 'refused', problem: problem('ACCOUNT_SUSPENDED') };
  if (isUnderOtherRules(item.principal, wallet.rules_version)) return { kind: 'refused', problem: rulesChanged() };
  if (!scopesAllow(live.scopes, item.capability, item.scope))
    return { kind: 'refused', problem: problem('INSUFFICIENT_SCOPE') };
  const balanceNanos = spendableOf(snapshot.grants.get(item.accountId) ?? []);
  const earlier = earlierAnswer(item, snapshot);
  if (earlier !== undefined) return outcomeAsBefore(item, earlier, balanceNanos);
  const verdict = snapshot.verdicts.get(item) as ReadVerdict<unknown>;
  if (verdict.kind === 'refuse') return { kind: 'refused', problem: verdict.problem };
  if (verdict.kind === 'defer') return { kind: 'deferred' };
  if (verdict.kind === 'replay') return { kind: 'replayed', text: verdict.text, balanceNanos };
  return null;
}

/** Of the account's keys that call; several secrets of a key are one. */
function keyCapsOf(wallet: WalletRow, { principals }: Snapshot): KeyCap[] {
  const caps = new Map<string, KeyCap>();
  for (const [{ accountId }, { id, cap: columns }] of principals) {
    const cap = columns !== null && accountId === wallet.account_id ? capOf({ ...columns, key_id: id }, wallet) : null;
    if (cap !== null) caps.set(cap.keyId, cap);
  }
  return [...caps.values()];
}

function earlierAnswer(item: LaneItem, snapshot: Snapshot): AnswerRow | undefined {
  return item.idempotency === null ? undefined : snapshot.answers.get(answerId(item.accountId, item.idempotency.hash));
}

/** A duplicate by its effect's own rules: its answer is not kept under its key yet. */
function isUnkeptKey(item: LaneItem, snapshot: Snapshot): boolean {
  return item.idempotency !== null && earlierAnswer(item, snapshot) === undefined;
}

function outcomeAsBefore(item: LaneItem, earlier: AnswerRow, balanceNanos: bigint): LaneOutcome {
  if (earlier.fingerprint !== item.idempotency?.fingerprint) {
    return { kind: 'refused', problem: problem('IDEMPOTENCY_KEY_REUSED', { param: 'idempotency_key' }) };
  }
  if (earlier.answer === null) {
    return {
      kind: 'refused',
      problem: problem('IDEMPOTENCY_IN_FLIGHT', { param: 'idempotency_key', retryAfterMs: 1000 }),
    };
  }
  return { kind: 'replayed', text: earlier.answer.toString('utf8'), balanceNanos };
}

function batchOf(
  accountId: string,
  waiting: readonly LaneItem[],
  snapshot: Snapshot,
  outcomes: Map<LaneItem, LaneOutcome>,
): AccountBatch {
  const wallet = snapshot.wallets.get(accountId) as WalletRow;
  const batch = composeBatch({
    wallet,
    grants: snapshot.grants.get(accountId) ?? [],
    keyCaps: keyCapsOf(wallet, snapshot),
    scopesOf: (item) => (snapshot.principals.get(item.principal) as LivePrincipal).scopes,
    items: waiting,
    verdicts: snapshot.verdicts,
    firstSeq: nextSequence(wallet.last_seq, snapshot.nowMs),
    batchId: randomBigInt(),
    nowMs: snapshot.nowMs,
  });
  for (const [item, refusal] of batch.refused) outcomes.set(item, { kind: 'refused', problem: refusal });
  return batch;
}

type EffectGroups = readonly (readonly [LaneItem['effect'], AdmittedItem<unknown, unknown>[]])[];

function removeDead(tx: Transaction, dead: readonly AnswerRow[]): void {
  void tx.query(deleteDeadAnswers, [
    textArray([...new Set(dead.map((row) => row.account_id))]),
    textArray(dead.map((row) => row.account_id)),
    textArray(dead.map((row) => row.key_hash)),
  ]);
}

/** Sends every write of the commit; the outcomes get their texts. */
function writeAll(
  tx: Transaction,
  batches: readonly AccountBatch[],
  nowMs: number,
  outcomes: Map<LaneItem, LaneOutcome>,
): EffectGroups {
  if (batches.length === 0) return [];
  tx.cork();
  if (batches.some((batch) => batch.makesDue)) tx.hint(rechargeHint);
  const groups = new Map<LaneItem['effect'], AdmittedItem<unknown, unknown>[]>();
  for (const { admitted } of batches) {
    for (const one of admitted) if (one.item.mode !== 'hold') append(groups, one.item.effect, one);
  }
  const texts = new Map<LaneItem, string>();
  for (const [effect, of] of groups) {
    const written = effect.write(tx, of, nowMs);
    of.forEach(({ item }, i) => {
      texts.set(item, written[i] as string);
    });
  }
  for (const batch of batches) {
    for (const { item, bill, hold, spendableAfter } of batch.admitted) {
      outcomes.set(
        item,
        item.mode === 'hold'
          ? { kind: 'held', hold: (hold as NewHold).authorized, balanceNanos: spendableAfter }
          : {
              kind: 'done',
              text: texts.get(item) as string,
              costNanos: hold === null ? bill.amount : 0n,
              balanceNanos: spendableAfter,
            },
      );
    }
  }
  sendCoreWrites(tx, batches, texts, nowMs);
  return [...groups];
}

function groupByEffect(items: readonly LaneItem[]): [LaneItem['effect'], LaneItem[]][] {
  const groups = new Map<LaneItem['effect'], LaneItem[]>();
  for (const item of items) append(groups, item.effect, item);
  return [...groups];
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
