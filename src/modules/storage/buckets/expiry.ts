// Lifecycle job: deletes objects and aborts unfinished uploads by age. Buckets with rules are scanned hourly, large ones daily, a page of keys
// at a time.

import { dueTable } from '../../../core/background/due-table.ts';
import { dueWork, type LeasedJob } from '../../../core/background/due-work.ts';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { openTurn } from '../../../core/background/turns.ts';
import { lockWallet } from '../../../core/callers/lock.ts';
import type { Transaction } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { timestamp } from '../../../db/types.ts';
import type { Services } from '../../../kit/services.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts';
import { behindPrefix } from '../../../objects/list.ts';
import { removeObjects } from '../../../objects/remove.ts';
import { listUploads } from '../../../objects/upload-store.ts';
import { abortIn } from '../../../objects/uploads.ts';
import { type BucketRow, bucketTable, saveRules } from './buckets.ts';
import type { AgeRule, AppliedRules, Lifecycle } from './lifecycle.ts';

export const EXPIRY_WORK = 'storage.expiry';
const KEYS_PER_STEP = 500;
const UPLOADS_PER_STEP = 500;
const LEASE_MS = 30_000;
const LARGE_OBJECTS = 100_000n;
const NOTHING = Buffer.alloc(0);

/** Where the work on a bucket stands: rules for objects first, then those for uploads. */
interface Step {
  readonly rule: number;
  readonly after_key: Buffer;
  /** Of uploads, which may have the same key. */
  readonly after_upload: string;
}

const due = dueTable({ table: 'storage.expiry', key: 'bucket', leaseMs: LEASE_MS });
const selectOld = statement(
  'storage_select_expired',
  `SELECT o.key, o.updated_at <= $6::timestamptz AS is_old FROM storage.object o
    WHERE o.account_id = $1 AND o.bucket = $2 AND o.key > $3 AND o.key >= $4 AND o.key < $5 ORDER BY o.key LIMIT ${KEYS_PER_STEP}`,
);
const saveStep = statement(
  'storage_save_expiry_step',
  'UPDATE storage.expiry SET rule = $4, after_key = $5, after_upload = $6, due_at = $7 WHERE account_id = $1 AND bucket = $2 AND attempt = $3',
);
const selectStep = statement(
  'storage_select_expiry_step',
  'SELECT e.rule, e.after_key, e.after_upload FROM storage.expiry e WHERE e.account_id = $1 AND e.bucket = $2',
);
const beginAnew = statement(
  'storage_begin_expiry',
  `INSERT INTO storage.expiry AS e (account_id, bucket, due_at) VALUES ($1, $2, $3)
       ON CONFLICT (account_id, bucket) DO UPDATE SET due_at = excluded.due_at, attempt = e.attempt + 1, rule = 0, after_key = '', after_upload = ''`,
);
const deleteExpiry = statement(
  'storage_delete_expiry',
  'DELETE FROM storage.expiry WHERE account_id = $1 AND bucket = $2',
);

/** Sets what goes by age, from now on. `lifecycle`: how a client of S3 put it; null: none did. */
export async function setRules(
  tx: Transaction,
  accountId: string,
  bucket: string,
  rules: AppliedRules & { readonly lifecycle: Lifecycle | null },
  nowMs: number,
): Promise<void> {
  await saveRules(tx, accountId, bucket, rules);
  if (rules.expire.length + rules.abort_uploads.length === 0) {
    await tx.query(deleteExpiry, [accountId, bucket]);
    return;
  }
  await tx.query(beginAnew, [accountId, bucket, timestamp(nowMs)]);
  await openTurn(tx, accountId, EXPIRY_WORK, nowMs);
}

/** The loop of one process. */
export function expiryLoop(core: Services): JobLoop {
  return dueWork<LeasedJob>(core, {
    name: EXPIRY_WORK,
    places: 2,
    claim: (tx, accountId, wanted) => due.claim(tx, accountId, wanted),
    run: (job) => step(core, job),
    putBack: (tx, job, dueMs) => due.setDue(tx, job, dueMs),
  });
}

/** One page of keys under one rule, in one transaction. */
function step({ db }: Services, { accountId, id: bucket, attempt }: LeasedJob): Promise<void> {
  return db.transaction(async (tx) => {
    const wallet = await lockWallet(tx, accountId);
    const row = await bucketTable.find(tx, { accountId }, bucket);
    if (wallet === null || row === null) return;
    const { nowMs } = wallet;
    const at = (await tx.query<Step>(selectStep, [accountId, bucket])).rows[0];
    const next = at === undefined ? null : await pageUnder(tx, { accountId, row, at, nowMs });
    if (next === null) return save(beginning(0), nowMs + pauseMs(row));
    return save(next, nowMs);

    async function save({ rule, after_key: key, after_upload: upload }: Step, dueMs: number): Promise<void> {
      await tx.query(saveStep, [accountId, bucket, attempt, rule, key, upload, timestamp(dueMs)]);
      await openTurn(tx, accountId, EXPIRY_WORK, dueMs, { later: dueMs > nowMs });
    }
  });
}

interface Page {
  readonly accountId: string;
  readonly row: BucketRow;
  readonly at: Step;
  readonly nowMs: number;
}

/** What comes after the page; null: there is no such rule. */
async function pageUnder(tx: Transaction, page: Page): Promise<Step | null> {
  const { row, at } = page;
  const expire = row.expire ?? [];
  const ofObjects = expire[at.rule];
  if (ofObjects !== undefined) return deletePage(tx, page, ofObjects);
  const ofUploads = row.abort_uploads?.[at.rule - expire.length];
  return ofUploads === undefined ? null : abortPage(tx, page, ofUploads);
}

async function deletePage(tx: Transaction, { accountId, row, at, nowMs }: Page, rule: AgeRule): Promise<Step> {
  const { bucket } = row;
  const prefix = Buffer.from(rule.prefix);
  const upToMs = nowMs - rule.days * DAY_MS;
  const { rows } = await tx.query<{ key: Buffer; is_old: boolean }>(selectOld, [
    ...[accountId, bucket, at.after_key, prefix, behindPrefix(prefix), timestamp(upToMs)],
  ]);
  const keys = rows.filter(({ is_old }) => is_old).map(({ key }) => key);
  if (keys.length > 0) await removeObjects(tx, { accountId, bucket, keys, keyId: null, writtenUpToMs: upToMs }, nowMs);
  const last = rows.at(-1);
  const isWhole = last === undefined || rows.length < KEYS_PER_STEP;
  return isWhole ? beginning(at.rule + 1) : { ...at, after_key: last.key };
}

async function abortPage(tx: Transaction, { accountId, row, at, nowMs }: Page, rule: AgeRule): Promise<Step> {
  const prefix = Buffer.from(rule.prefix);
  const isBegun = at.after_upload !== '';
  const seen = await listUploads(tx, accountId, row.bucket, {
    afterKey: isBegun ? at.after_key : prefix,
    afterId: at.after_upload,
    end: behindPrefix(prefix),
    limit: UPLOADS_PER_STEP,
  });
  const uploads = seen.filter(({ created_at: begunMs }) => begunMs <= nowMs - rule.days * DAY_MS);
  await abortIn(tx, { accountId, uploads, keyId: null }, nowMs);
  const last = seen.at(-1);
  const isWhole = last === undefined || seen.length < UPLOADS_PER_STEP;
  return isWhole ? beginning(at.rule + 1) : { ...at, after_key: last.key, after_upload: last.upload_id };
}

const beginning = (rule: number): Step => ({ rule, after_key: NOTHING, after_upload: '' });
const pauseMs = ({ object_count }: BucketRow) => (object_count > LARGE_OBJECTS ? DAY_MS : HOUR_MS);
