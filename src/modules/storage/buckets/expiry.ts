// Objects that are deleted by their age: buckets with rules are looked through by the hour, large ones by the day, a page of keys at a time.

import { lockWallet } from '../../../core/accounts/accounts.ts';
import { dueTable } from '../../../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { openTurn } from '../../../core/background/turns.ts';
import type { Core } from '../../../core/context.ts';
import { behindPrefix } from '../../../core/objects/list.ts';
import { removeObjects } from '../../../core/objects/remove.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts';
import { type BucketRow, bucketTable } from './buckets.ts';

export const EXPIRY_WORK = 'storage.expiry';
const KEYS_PER_STEP = 500;
const LEASE_MS = 30_000;
const LARGE_OBJECTS = 100_000n;
const NOTHING = Buffer.alloc(0);

interface Step {
  readonly rule: number;
  readonly after_key: Buffer;
}

const due = dueTable({ table: 'storage.expiry', key: 'bucket', leaseMs: LEASE_MS });
const selectOld = statement(
  'storage_select_expired',
  `SELECT o.key, o.updated_at <= $6::timestamptz AS is_old FROM storage.object o
    WHERE o.account_id = $1 AND o.bucket = $2 AND o.key > $3 AND o.key >= $4 AND o.key < $5 ORDER BY o.key LIMIT ${KEYS_PER_STEP}`,
);
const saveStep = statement(
  'storage_save_expiry_step',
  'UPDATE storage.expiry SET rule = $4, after_key = $5, due_at = $6 WHERE account_id = $1 AND bucket = $2 AND attempt = $3',
);
const selectStep = statement(
  'storage_select_expiry_step',
  'SELECT e.rule, e.after_key FROM storage.expiry e WHERE e.account_id = $1 AND e.bucket = $2',
);
const beginAnew = statement(
  'storage_begin_expiry',
  `INSERT INTO storage.expiry AS e (account_id, bucket, due_at) VALUES ($1, $2, $3)
       ON CONFLICT (account_id, bucket) DO UPDATE SET due_at = excluded.due_at, attempt = e.attempt + 1, rule = 0, after_key = ''`,
);
const deleteExpiry = statement(
  'storage_delete_expiry',
  'DELETE FROM storage.expiry WHERE account_id = $1 AND bucket = $2',
);

/** From the first rule on at `dueMs`; null: the bucket has no rules, or is gone. */
export async function planExpiry(
  tx: Transaction,
  accountId: string,
  bucket: string,
  dueMs: number | null,
): Promise<void> {
  if (dueMs === null) return void (await tx.query(deleteExpiry, [accountId, bucket]));
  await tx.query(beginAnew, [accountId, bucket, timestamp(dueMs)]);
  await openTurn(tx, accountId, EXPIRY_WORK, dueMs);
}

/** The loop of one process. */
export function expiryLoop(core: Core): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: EXPIRY_WORK,
    places: 2,
    claim: (tx, accountId, wanted) => due.claim(tx, accountId, wanted),
    run: (job) => step(core, job),
    putBack: (tx, job, dueMs) => due.setDue(tx, job, dueMs),
  });
}

/** One page of keys under one rule, in one transaction. */
function step({ db }: Core, { accountId, id: bucket, attempt }: LeasedJob): Promise<void> {
  return db.transaction(async (tx) => {
    const wallet = await lockWallet(tx, accountId);
    const row = await bucketTable.find(tx, { accountId }, bucket);
    if (wallet === null || row === null) return;
    const { nowMs } = wallet;
    const at = (await tx.query<Step>(selectStep, [accountId, bucket])).rows[0];
    const rule = at === undefined ? undefined : row.expire?.[at.rule];
    if (at === undefined || rule === undefined) return save({ rule: 0, after_key: NOTHING }, nowMs + pauseMs(row));
    const prefix = Buffer.from(rule.prefix);
    const upToMs = nowMs - rule.days * DAY_MS;
    const { rows } = await tx.query<{ key: Buffer; is_old: boolean }>(selectOld, [
      ...[accountId, bucket, at.after_key, prefix, behindPrefix(prefix), timestamp(upToMs)],
    ]);
    const keys = rows.filter(({ is_old }) => is_old).map(({ key }) => key);
    if (keys.length > 0)
      await removeObjects(tx, { accountId, bucket, keys, keyId: null, writtenUpToMs: upToMs }, nowMs);
    const last = rows.at(-1);
    const isWhole = last === undefined || rows.length < KEYS_PER_STEP;
    return save(isWhole ? { rule: at.rule + 1, after_key: NOTHING } : { rule: at.rule, after_key: last.key }, nowMs);

    async function save({ rule: number, after_key: key }: Step, dueMs: number): Promise<void> {
      await tx.query(saveStep, [accountId, bucket, attempt, number, key, timestamp(dueMs)]);
      await openTurn(tx, accountId, EXPIRY_WORK, dueMs, { later: dueMs > nowMs });
    }
  });
}

const pauseMs = ({ object_count }: BucketRow) => (object_count > LARGE_OBJECTS ? DAY_MS : HOUR_MS);
