// Free writes: re-check the caller, claim the idempotency key, do the work and store the answer, all in one transaction (contract §4). Only
// successes are stored: a failure rolls back the claim with everything else.
import { type Database, sqlState, type Transaction } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { JsonText, toJson } from '../../lib/json-text.ts';
import { DAY_MS } from '../../lib/time.ts';
import { problem } from '../../problems/problem.ts';
import type { CallContext } from '../callers/context.ts';
import { confirmCaller, type Entry, enter } from '../callers/enter.ts';
import type { IdempotencyKey } from '../callers/idempotency-key.ts';
import type { Secrets } from '../secrets/secrets.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { withSpan } from '../tracing/with-span.ts';

/** The services that a write needs. */
export interface WriteServices {
  readonly db: Database;
  readonly secrets: Secrets;
  readonly tracing: Tracing | null;
}

export interface WriteOptions {
  /** How long the answer is kept; 1 day when absent. */
  readonly keepDays?: number;
  /** The answer holds a secret: stored encrypted under the raw idempotency key, and replayed only to the key that got it. */
  readonly secret?: boolean;
}

interface EnteringOptions extends WriteOptions {
  /** A second account that the write changes: locked beside the caller's. */
  readonly other?: string;
  /** Runs once the account is entered, before any replay. */
  readonly admit?: (tx: Transaction, entry: Entry) => Promise<void>;
}

export interface StoredAnswer {
  readonly fingerprint: string;
  readonly answer: Buffer | null;
  /** The key that got a secret with it; null: it holds none. */
  readonly key_id: string | null;
}

/** What a stored answer is found, and opened, with. */
type Keyed = Pick<CallContext<WriteServices>, 'core' | 'accountId' | 'principal' | 'idempotency'>;

const deleteExpired = statement(
  'idem_delete_expired',
  `DELETE FROM core.idempotency
    WHERE account_id = $1 AND key_hash = $2 AND expires_at <= core.clock_now() AND hold_id IS NULL`,
);
const claim = statement(
  'idem_claim',
  `INSERT INTO core.idempotency (account_id, key_hash, fingerprint, key_id, created_at, expires_at)
   VALUES ($1, $2, $3, $4, core.clock_now(), core.clock_now() + $5 * interval '1 millisecond')
       ON CONFLICT (account_id, key_hash) DO NOTHING`,
);
const readAnswer = statement(
  'idem_read_answer',
  `SELECT fingerprint, answer, key_id FROM core.idempotency WHERE account_id = $1 AND key_hash = $2`,
);
const readLiveAnswer = statement(
  'idem_read_live_answer',
  `SELECT fingerprint, answer, key_id FROM core.idempotency
    WHERE account_id = $1 AND key_hash = $2 AND expires_at > core.clock_now()`,
);
const freeKey = statement('idem_free_key', 'DELETE FROM core.idempotency WHERE account_id = $1 AND key_hash = $2');
const storeAnswer = statement(
  'idem_store_answer',
  `UPDATE core.idempotency SET answer = $3 WHERE account_id = $1 AND key_hash = $2`,
);

/**
 * A write: enters the account, which stays locked, and runs `body` in that transaction under the call's idempotency key. `body` gets
 * the caller as it is under the lock, with the time of the change, and answers `data`.
 * Throws what `enter` throws, IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_CONFLICT, IDEMPOTENCY_IN_FLIGHT, and what `admit` and `body` throw.
 */
export function runWrite(
  ctx: CallContext<WriteServices>,
  body: (tx: Transaction, entry: Entry) => Promise<unknown>,
  options: EnteringOptions = {},
): Promise<Written> {
  const write = async (tx: Transaction) => {
    const entry = await enter(tx, ctx, options.other);
    await options.admit?.(tx, entry);
    return once(tx, ctx, () => body(tx, entry), options);
  };
  return withSpan(ctx.core.tracing, 'commit', () => ctx.core.db.transaction(write, ctx.accountId));
}

/**
 * The same for a write that changes many rows, or waits for rows that other writes hold while they wait for the account: the account
 * is not locked meanwhile, and the caller is looked at again as the last act of the transaction.
 */
export function runLongWrite(
  ctx: CallContext<WriteServices>,
  body: (tx: Transaction) => Promise<unknown>,
  options: WriteOptions = {},
): Promise<Written> {
  const write = async (tx: Transaction) => {
    const written = await once(tx, ctx, () => body(tx), options);
    await confirmCaller(tx, ctx);
    return written;
  };
  return withSpan(ctx.core.tracing, 'commit', () => ctx.core.db.transaction(write, ctx.accountId));
}

interface Written {
  readonly data: unknown;
  readonly replayed: boolean;
}

/** Runs `body` unless the call's idempotency key has an answer already. */
async function once(
  tx: Transaction,
  ctx: CallContext<WriteServices>,
  body: () => Promise<unknown>,
  options: WriteOptions,
): Promise<Written> {
  const { idempotency } = ctx;
  if (idempotency === null) return { data: await body(), replayed: false };
  const claimed = { keepMs: (options.keepDays ?? 1) * DAY_MS, secret: options.secret === true };
  const earlier = await claimKey(tx, ctx, idempotency, claimed);
  if (earlier !== null) return { data: new JsonText(openAnswer(ctx, idempotency, earlier)), replayed: true };
  const data = await body();
  await tx.query(storeAnswer, [ctx.accountId, idempotency.hash, sealAnswer(ctx, idempotency, data, options)]);
  return { data, replayed: false };
}

/**
 * The stored answer of the call's idempotency key, else null. For writes that must do something slow before `runWrite`: a replay
 * comes before every other check. Throws IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_CONFLICT.
 */
export async function findReplay(ctx: Keyed): Promise<{ data: JsonText; replayed: true } | null> {
  const { idempotency: key } = ctx;
  if (key === null) return null;
  const { rows } = await ctx.core.db.query<StoredAnswer>(readLiveAnswer, [ctx.accountId, key.hash]);
  const [earlier] = rows;
  if (earlier === undefined) return null;
  checkSameRequest(ctx, key, earlier);
  return earlier.answer === null ? null : { data: new JsonText(openAnswer(ctx, key, earlier)), replayed: true };
}

/**
 * Null when the key is now ours, for `keepMs`; else what is stored, with the answer null while its call runs elsewhere than in a
 * transaction. Waits for one that runs in a transaction up to the lock time-out (2 s).
 */
export async function claimKey(
  tx: Transaction,
  ctx: CallContext<WriteServices>,
  key: IdempotencyKey,
  { keepMs, secret }: { readonly keepMs: number; readonly secret: boolean },
): Promise<StoredAnswer | null> {
  const id = [ctx.accountId, key.hash];
  try {
    const [, claimed] = await Promise.all([
      tx.query(deleteExpired, id),
      tx.query(claim, [...id, key.fingerprint, secret ? ctx.principal.id : null, keepMs]),
    ]);
    if (claimed.count === 1) return null;
  } catch (error) {
    if (sqlState(error) === '55P03') throw inFlight(error);
    throw error;
  }
  const { rows } = await tx.query<StoredAnswer>(readAnswer, id);
  const [earlier] = rows;
  if (earlier === undefined) throw inFlight();
  checkSameRequest(ctx, key, earlier);
  return earlier;
}

/** What was begun under the key has come to nothing, and its caller is told so: a repeat begins anew. */
export async function freeIdempotencyKey(tx: Transaction, accountId: string, key: IdempotencyKey): Promise<void> {
  await tx.query(freeKey, [accountId, key.hash]);
}

function checkSameRequest(ctx: Keyed, key: IdempotencyKey, earlier: StoredAnswer): void {
  if (earlier.key_id !== null && earlier.key_id !== ctx.principal.id)
    throw problem('IDEMPOTENCY_CONFLICT', { param: 'idempotency_key' });
  if (earlier.fingerprint !== key.fingerprint) throw problem('IDEMPOTENCY_KEY_REUSED', { param: 'idempotency_key' });
}

function sealAnswer(
  ctx: CallContext<WriteServices>,
  key: IdempotencyKey,
  data: unknown,
  options: WriteOptions,
): Buffer {
  const text = toJson(data);
  return options.secret === true ? ctx.core.secrets.encrypt('idempotent-answer', key.raw, text) : Buffer.from(text);
}

export function openAnswer(ctx: Keyed, key: IdempotencyKey, stored: StoredAnswer): string {
  if (stored.answer === null) throw inFlight();
  return stored.key_id !== null
    ? ctx.core.secrets.decrypt('idempotent-answer', key.raw, stored.answer)
    : stored.answer.toString('utf8');
}

export function inFlight(cause?: unknown) {
  return problem('IDEMPOTENCY_IN_FLIGHT', { param: 'idempotency_key', retryAfterMs: 1000, cause });
}
