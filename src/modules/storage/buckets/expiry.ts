// Objects that are deleted by their age: buckets with rules are looked through by the hour, large ones by the day, a page of keys at a time.

import { lockWallet } from '../../../core/accounts/accounts.ts';
import { dueTable } from '../../../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { openTurn } from '../../../core/background/turns.ts';
import type { Core } from '../../../core/context.ts';
import { behindPrefix } from '../../../core/objects/list.ts';
import { removeObjects } from '../../../core/objects/remove.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts';
import { type BucketRow, bucketTable } from './buckets.ts';

export const EXPIRY_WORK = 'storage.expiry';
const KEYS_PER_STEP = 500;
const LEASE_MS = 30_000;
const LARGE_OBJECTS = 100_000n;

const due = dueTable({ table: 'storage.bucket', key: 'bucket', leaseMs: LEASE_MS });
const selectOld = statement(
  'storage_select_expired',
  `SELECT o.key, o.updated_at <= $6::timestamptz AS is_old FROM storage.object o
    WHERE o.account_id = $1 AND o.bucket = $2 AND o.key > $3 AND o.key >= $4 AND o.key < $5 ORDER BY o.key LIMIT ${KEYS_PER_STEP}`,
);
const saveStep = statement(
  'storage_save_expired_to',
  'UPDATE storage.bucket SET expired_to = $4, due_at = $5 WHERE account_id = $1 AND bucket = $2 AND attempt = $3',
);

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
    const at = await positionOf(tx, accountId, bucket);
    const rule = row.expire?.[at.rule];
    const end = { ...at, rule: 0, after: '' };
    if (rule === undefined) return save(end, nowMs + pauseMs(row));
    const prefix = Buffer.from(rule.prefix);
    const upToMs = nowMs - rule.days * DAY_MS;
    const { rows } = await tx.query<{ key: Buffer; is_old: boolean }>(selectOld, [
      ...[accountId, bucket, Buffer.from(at.after, 'base64'), prefix, behindPrefix(prefix), timestamp(upToMs)],
    ]);
    const keys = rows.filter(({ is_old }) => is_old).map(({ key }) => key);
    if (keys.length > 0)
      await removeObjects(tx, { accountId, bucket, keys, keyId: null, writtenUpToMs: upToMs }, nowMs);
    const last = rows.at(-1);
    const isWhole = last === undefined || rows.length < KEYS_PER_STEP;
    const next = isWhole ? { rule: at.rule + 1, after: '' } : { rule: at.rule, after: last.key.toString('base64') };
    return save(next, nowMs);

    async function save(position: { rule: number; after: string }, dueMs: number): Promise<void> {
      const bytes = Buffer.from(JSON.stringify([position.rule, position.after]));
      await tx.query(saveStep, [accountId, bucket, attempt, bytes, timestamp(dueMs)]);
      await openTurn(tx, accountId, EXPIRY_WORK, dueMs, { later: dueMs > nowMs });
    }
  });
}

const selectPosition = statement(
  'storage_select_expired_to',
  'SELECT b.expired_to FROM storage.bucket b WHERE b.account_id = $1 AND b.bucket = $2',
);

/** Which rule is under way, and behind which key. */
async function positionOf(
  tx: Parameters<typeof bucketTable.find>[0],
  accountId: string,
  bucket: string,
): Promise<{ rule: number; after: string }> {
  const { rows } = await tx.query<{ expired_to: Buffer | null }>(selectPosition, [accountId, bucket]);
  const [rule = 0, after = ''] = JSON.parse(rows[0]?.expired_to?.toString('utf8') ?? '[]');
  return { rule, after };
}

const pauseMs = ({ object_count }: BucketRow) => (object_count > LARGE_OBJECTS ? DAY_MS : HOUR_MS);
