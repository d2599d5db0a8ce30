// Free writes that call external services and therefore cannot run in one transaction (contract §4). The claim of the key is committed first and
// lasts one minute, longer than any such work takes. If the process dies, the key is free after that minute. Every transaction of the work
// enters the account again: a caller that has ended meanwhile changes nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { statement } from '../../db/statement.ts';
import { timestamp } from '../../db/types.ts';
import { JsonText, toJson } from '../../lib/json-text.ts';
import { DAY_MS } from '../../lib/time.ts';
import type { CallContext } from '../callers/context.ts';
import { type Enter, enter } from '../callers/enter.ts';
import type { IdempotencyKey } from '../callers/idempotency-key.ts';
import { clockNow } from '../database-clock.ts';
import type { Logger } from '../process/logger.ts';
import { claimKey, inFlight, openAnswer, type WriteOptions, type WriteServices } from './write.ts';

interface OutsideServices extends WriteServices {
  readonly log: Logger;
}

const CLAIM_MS = 60_000;
const WAIT_MS = 2_000;
const POLL_MS = 100;

const keepAnswer = statement(
  'idem_keep_answer',
  `UPDATE core.idempotency SET answer = $3, expires_at = $4 WHERE account_id = $1 AND key_hash = $2 AND answer IS NULL`,
);
const freeClaim = statement(
  'idem_free_claim',
  `DELETE FROM core.idempotency WHERE account_id = $1 AND key_hash = $2 AND answer IS NULL AND hold_id IS NULL`,
);

/**
 * Runs `body` outside of any transaction under the call's idempotency key and keeps its `data` for `keepDays`. `body` gets what its
 * transactions begin with. A call that comes while another with the key runs waits for its answer up to 2 s. Throws IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_FLIGHT, and
 * what `body` throws.
 */
export async function runOutside(
  ctx: CallContext<OutsideServices>,
  body: (enter: Enter) => Promise<unknown>,
  { keepDays = 1 }: Pick<WriteOptions, 'keepDays'> = {},
): Promise<{ data: unknown; replayed: boolean }> {
  const { idempotency: key } = ctx;
  const work = () => body((tx) => enter(tx, ctx));
  if (key === null) return { data: await work(), replayed: false };
  const earlier = await claimOrWait(ctx, key);
  if (earlier !== null) return { data: earlier, replayed: true };
  try {
    const data = await work();
    await keep(ctx, key, toJson(data), keepDays);
    return { data, replayed: false };
  } catch (error) {
    await free(ctx, key);
    throw error;
  }
}

/** Null when the key is ours now, else the answer that another call got. */
async function claimOrWait(ctx: CallContext<OutsideServices>, key: IdempotencyKey): Promise<JsonText | null> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    const earlier = await ctx.core.db.transaction(
      (tx) => claimKey(tx, ctx, key, { keepMs: CLAIM_MS, secret: false }),
      ctx.accountId,
    );
    if (earlier === null) return null;
    if (earlier.answer !== null) return new JsonText(openAnswer(ctx, key, earlier));
    if (performance.now() >= deadlineMs) throw inFlight();
    await sleep(POLL_MS);
  }
}

async function keep(
  ctx: CallContext<OutsideServices>,
  key: IdempotencyKey,
  answer: string,
  keepDays: number,
): Promise<void> {
  await ctx.core.db.transaction(async (tx) => {
    const expiresAt = timestamp((await clockNow(tx)) + keepDays * DAY_MS);
    await tx.query(keepAnswer, [ctx.accountId, key.hash, Buffer.from(answer), expiresAt]);
  }, ctx.accountId);
}

/** A failure is not kept: the key is free at once, or, when even this fails, at the end of the claim. */
async function free(ctx: CallContext<OutsideServices>, key: IdempotencyKey): Promise<void> {
  try {
    await ctx.core.db.query(freeClaim, [ctx.accountId, key.hash]);
  } catch (error) {
    ctx.core.log.warn({ err: error, capability: ctx.capability }, 'an idempotency key stays claimed for a minute');
  }
}
