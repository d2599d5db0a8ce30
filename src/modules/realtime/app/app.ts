// The realtime app of an account: created on the first request for it, and recreated once its key has ended.

import type { Entry } from '../../../core/callers/enter.ts';
import { runWrite } from '../../../core/idempotency/write.ts';
import { secretHash } from '../../../core/keys/api-key.ts';
import { createKey, rotateKey } from '../../../core/keys/changes.ts';
import { findKey, type StoredKey } from '../../../core/keys/store.ts';
import type { Transaction } from '../../../db/database.ts';
import type { CallContext } from '../../../kit/services.ts';
import { HOUR_MS } from '../../../lib/time.ts';
import { problem } from '../../../problems/problem.ts';
import { HISTORY_SECONDS } from '../limits.ts';
import { APP_SCOPES, appIdOf, appSecretOf, currentSecret } from './credentials.ts';
import { type AppRow, findAppRow, saveAppRow } from './store.ts';

const KEY_NAME = 'Realtime app';

export function unsetApp(nowMs: number): AppRow {
  return { key_id: null, history_seconds: HISTORY_SECONDS.usual, client_events: true, updated_at: nowMs };
}

export interface App {
  readonly appKey: string;
  readonly appSecret: string;
}

/** The account's app, which is made where there is none. Throws QUOTA_EXCEEDED. */
export async function requireApp(ctx: CallContext): Promise<App> {
  const { core, accountId } = ctx;
  const appKey = (await findAppRow(core.db, accountId))?.key_id ?? null;
  const appSecret = appKey === null ? null : await currentSecret(core, appKey);
  if (appKey !== null && appSecret !== null) return { appKey, appSecret };
  const { data } = await runWrite(ctx, (tx, entry) => makeApp(tx, ctx, entry));
  return appOf(ctx, data as string);
}

/** The same, for whoever is shown its secret. Throws INSUFFICIENT_SCOPE too. */
export async function showApp(ctx: CallContext): Promise<App> {
  const { data } = await runWrite(ctx, (tx, entry) => {
    requireUnbound(entry);
    return makeApp(tx, ctx, entry);
  });
  return appOf(ctx, data as string);
}

/** As it is now, not as it is remembered. */
async function appOf({ core }: CallContext, appKey: string): Promise<App> {
  const appSecret = await currentSecret(core, appKey, true);
  if (appSecret === null) throw problem('STATE_CONFLICT', { message: 'The key of the app was revoked meanwhile.' });
  return { appKey, appSecret };
}

/** Gives the app another secret; the one before is right for `graceHours`. Throws what requireApp throws, KEY_ROTATION_LIMIT. */
export async function rotateApp(tx: Transaction, ctx: CallContext, entry: Entry, graceHours: number): Promise<App> {
  const { core, accountId } = ctx;
  const appKey = await makeApp(tx, ctx, entry);
  requireUnbound(entry);
  const { secret } = await rotateKey(tx, core.secrets, accountId, appKey, graceHours * HOUR_MS, entry.nowMs);
  return { appKey, appSecret: appSecretOf(core.secrets, secretHash(secret)) };
}

/** The caller holds the account: of two at once the second one finds it made. */
async function makeApp(tx: Transaction, ctx: CallContext, entry: Entry): Promise<string> {
  const { core, accountId } = ctx;
  const row = await findAppRow(tx, accountId);
  const key = row?.key_id == null ? null : await findKey(tx, accountId, row.key_id);
  if (key !== null && isUsable(key)) return key.keyId;
  requireUnbound(entry);
  const fields = { name: KEY_NAME, scopes: APP_SCOPES, expiresAtMs: null, cap: null };
  const made = await createKey(tx, core.secrets, accountId, fields, entry.nowMs);
  await saveAppRow(tx, accountId, { ...(row ?? unsetApp(entry.nowMs)), key_id: made.key.keyId });
  return made.key.keyId;
}

function isUsable({ status }: StoredKey): boolean {
  return status === 'active' || status === 'rotating';
}

/** app_secret neither ends nor has a cap, so a key that does must not get hold of it. */
function requireUnbound(caller: Entry): void {
  if (caller.cap === null && caller.expiresAtMs === null) return;
  throw problem('INSUFFICIENT_SCOPE', {
    message: 'The app has no spend cap and does not expire: ask with a key, or a session, that has neither.',
    detail: caller.cap === null ? 'expires_at' : 'spend_cap',
  });
}

/** What programs need: a server library all of it, a page all but the secret. */
export function appRecord({ core, accountId }: CallContext, { appKey, appSecret }: App) {
  const { protocol, host, pathname } = new URL(core.baseUrl);
  return {
    app_id: appIdOf(accountId),
    app_key: appKey,
    app_secret: appSecret,
    ws_url: `${protocol === 'https:' ? 'wss' : 'ws'}://${host}${pathname === '/' ? '' : pathname}/v1/realtime/pusher`,
    host,
  };
}
