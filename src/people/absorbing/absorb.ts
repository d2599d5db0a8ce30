// Merges one account into another of the same person: its credit with its expiry, its keys with their ids. Resources never move, so only
// an empty account can be merged. It is one transaction. On a distributed engine it is two steps. The first records what is in transit, so
// it arrives once even if a process dies in between.

import { accountRecord, findAccount } from '../../core/accounts/accounts.ts';
import { operatorAccount } from '../../core/accounts/operator.ts';
import type { Sweep } from '../../core/background/sweeper/sweep.ts';
import { lockAccount } from '../../core/callers/lock.ts';
import type { Core } from '../../core/core.ts';
import { sendEvents } from '../../core/events/outbox.ts';
import { forgetKeyHere } from '../../core/hear-siblings.ts';
import { grantCredit, saveReserves, signUpNote } from '../../core/wallet/grants.ts';
import { lockWallets } from '../../core/wallet/lane/statements.ts';
import { type LedgerEntry, type OpenWallet, openWallet, saveWallet } from '../../core/wallet/open-wallet.ts';
import { textArray } from '../../db/arrays.ts';
import type { Database, Queryable, Transaction } from '../../db/database.ts';
import { usd } from '../../lib/money.ts';
import { problem } from '../../problems/problem.ts';
import { hasSignUpCredit, withhold } from '../sign-in/sign-up-credit.ts';
import {
  type Content,
  findMoving,
  hasMoneyUnderWay,
  type MovedGrant,
  type Moving,
  putKeysIn,
  readGrantNotes,
  readLeaving,
  takeKeysOut,
  writeArrived,
  writeArriving,
  writeLeaving,
} from './store.ts';

/** Whether no module keeps anything for the account. */
export type IsEmpty = (db: Queryable, accountId: string) => Promise<boolean>;

export interface Absorbed {
  readonly creditNanos: bigint;
  readonly keyIds: readonly string[];
}

const INTERVAL_MS = 2_000;
/** Who began it has so long to end it. */
const PATIENCE_MS = 10_000;

/**
 * `from` goes over into `into`. Resolves when its keys are known everywhere as the other's.
 * Throws STATE_CONFLICT with code_detail account_not_empty.
 */
export async function absorbAccount(core: Core, moving: Moving, isEmpty: IsEmpty): Promise<Absorbed> {
  const { db } = core;
  let absorbed: Absorbed;
  if (db.distributed) {
    const content = await db.transaction((tx) => leave(tx, moving, isEmpty));
    absorbed = await arriveApart(db, moving, content);
  } else {
    absorbed = await db.transaction(async (tx) => {
      await tx.query(lockWallets, [textArray([moving.from, moving.into].sort())]);
      const content = await leave(tx, moving, isEmpty);
      const arrived = await arrive(tx, moving, content);
      await markArrived(tx, moving);
      return arrived;
    });
  }
  await Promise.all(absorbed.keyIds.map((keyId) => forgetKeyHere(core, keyId)));
  await core.processes.keyDropInForce();
  return absorbed;
}

/** Brings to their end what a process left half done. */
export function absorptionSweep({ db }: Pick<Core, 'db'>): Sweep {
  return {
    name: 'people.absorption',
    intervalMs: INTERVAL_MS,
    run: async () => {
      for (const moving of await findMoving(db, PATIENCE_MS)) {
        const content = await readLeaving(db, moving);
        if (content !== null) await arriveApart(db, moving, content);
      }
      return false;
    },
  };
}

/** The first step: everything is out of `from`, and written down. */
export async function leave(tx: Transaction, moving: Moving, isEmpty: IsEmpty): Promise<Content> {
  const { from } = moving;
  const opened = await openWallet(tx, from);
  const account = await findAccount(tx, from);
  if (opened === null || account === null) throw new Error(`no account ${from}`);
  if (!(await mayGo(tx, opened, isEmpty))) throw notEmpty();
  const content = {
    account: accountRecord(account),
    grants: await takeCredit(tx, opened),
    keys: await takeKeysOut(tx, from),
  };
  if (!(await writeLeaving(tx, moving, content, opened.nowMs))) throw notEmpty();
  return content;
}

async function mayGo(tx: Transaction, { wallet }: OpenWallet, isEmpty: IsEmpty): Promise<boolean> {
  const owes = wallet.debt_nanos > 0n || wallet.frozen_reason !== null;
  const isWatched = wallet.recharge_trigger_nanos !== null || wallet.recharge_attempt_id !== null;
  if (wallet.suspended || owes || isWatched || wallet.held_nanos > 0n) return false;
  // Its keys are the operator's in no other account.
  if ((await operatorAccount(tx)) === wallet.account_id) return false;
  return !(await hasMoneyUnderWay(tx, wallet.account_id)) && (await isEmpty(tx, wallet.account_id));
}

/** What has ended stays, and is booked as expired there. */
async function takeCredit(tx: Transaction, opened: OpenWallet): Promise<MovedGrant[]> {
  const notes = await readGrantNotes(tx, opened.wallet.account_id);
  const taken = opened.unexpired.filter((grant) => grant.remaining_nanos > 0n);
  const entries = taken.map(({ grant_id, remaining_nanos }) => transferOf(grant_id, -remaining_nanos));
  const left = entries.reduce((sum, { amount }) => sum + amount, opened.wallet.balance_nanos);
  const emptied = taken.map(({ grant_id: grantId }) => ({ grantId, remaining: 0n, reserved: 0n }));
  await Promise.all([
    saveReserves(tx, opened.wallet.account_id, emptied),
    saveWallet(tx, opened, { ...opened.wallet, balance_nanos: left }, entries),
  ]);
  return taken.map((grant) => ({
    grantId: grant.grant_id,
    kind: grant.kind,
    nanos: String(grant.remaining_nanos),
    expiresAtMs: grant.expires_at,
    note: notes.get(grant.grant_id)?.note ?? null,
    testMode: notes.get(grant.grant_id)?.testMode ?? false,
  }));
}

async function arriveApart(db: Database, moving: Moving, content: Content): Promise<Absorbed> {
  const absorbed = await db.transaction((tx) => arrive(tx, moving, content));
  await db.transaction((tx) => markArrived(tx, moving));
  return absorbed;
}

async function markArrived(tx: Transaction, moving: Moving): Promise<void> {
  const nowMs = await lockAccount(tx, moving.from);
  if (nowMs !== null) await writeArrived(tx, moving, nowMs);
}

/** The second step: what left is in `into`, once. A second sign-up credit is void. */
async function arrive(tx: Transaction, moving: Moving, content: Content): Promise<Absorbed> {
  const { into } = moving;
  const nowMs = await lockAccount(tx, into);
  if (nowMs === null) throw new Error(`no account ${into}`);
  const hasOne = await hasSignUpCredit(tx, into);
  const coming = content.grants.filter(({ note }) => !(hasOne && note === signUpNote));
  const creditNanos = coming.reduce((sum, { nanos }) => sum + BigInt(nanos), 0n);
  const absorbed = { creditNanos, keyIds: content.keys.map((key) => key.key_id) };
  if (!(await writeArriving(tx, moving, nowMs))) return absorbed;
  for (const grant of coming) await putCreditIn(tx, into, grant);
  await putKeysIn(tx, moving, content.keys, nowMs);
  if (!hasOne && coming.some(({ note }) => note === signUpNote)) await withhold(tx, into, null);
  const object = { ...content.account, credit_usd: usd(creditNanos), key_ids: absorbed.keyIds };
  sendEvents(tx, [{ accountId: into, type: 'account.absorbed', data: { object }, requestId: null }], nowMs);
  return absorbed;
}

function putCreditIn(tx: Transaction, into: string, { grantId, kind, nanos, expiresAtMs, note, testMode }: MovedGrant) {
  return grantCredit(tx, into, {
    kind,
    amountNanos: BigInt(nanos),
    note,
    testMode,
    expiresInMs: null,
    ...(expiresAtMs !== null && { expiresAtMs }),
    source: { kind: 'absorption', id: grantId },
  });
}

function transferOf(grantId: string, amount: bigint): LedgerEntry {
  return { kind: 'transfer', capability: null, keyId: null, units: 0n, amount, reference: grantId };
}

function notEmpty() {
  return problem('STATE_CONFLICT', {
    message: 'The other account is in use: it is not empty. You have both; nothing of either was changed.',
    detail: 'account_not_empty',
  });
}
