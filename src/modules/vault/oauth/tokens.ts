// Access tokens of connections by OAuth: refreshed from a minute before their end, by one of all processes. Calls of one process share one look;
// processes share the lease in the row (refresh-store.ts). The token endpoint is asked outside of any transaction, once a lease.
//
// While a token is good, a failure to refresh it stops nobody. An endpoint that does not answer breaks nothing: calls fail with TARGET_FAILED,
// which may be retried, and it is left alone for some seconds. What cannot be known: whether an endpoint that broke off has rotated the token. If it
// has, the next refresh is refused, and the connection is broken.
import { setTimeout as sleep } from 'node:timers/promises';
import { lockAccount } from '../../../core/callers/lock.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { Transaction } from '../../../db/database.ts';
import { rideOut } from '../../../db/ride-out.ts';
import type { Services } from '../../../kit/services.ts';
import { backoffMs, exactBackoffMs, jitteredMs } from '../../../lib/backoff.ts';
import { lruOf } from '../../../lib/lru.ts';
import { type Grant, requestToken, type TokenAnswer } from '../../../vendors/oauth/request-token.ts';
import { type Credential, openCredential, sealCredential, tokenTimes } from '../connections/credential.ts';
import { connectionMissing } from '../connections/missing.ts';
import type { Connection } from '../connections/row.ts';
import { brokenRefusal } from '../connections/rule.ts';
import { findConnections } from '../connections/store.ts';
import { REFRESH_WAIT_MS, USUAL_TOKEN_MS } from '../limits.ts';
import { problem } from '../problems.ts';
import { breakBy } from './broken.ts';
import { leaseRefresh, releaseRefresh, saveTokens } from './refresh-store.ts';

/** Looks at a row that another process refreshes. */
const LOOKS = { firstMs: 25, maxMs: 400 };
/** Pauses after an endpoint failed. */
const FAILURES = { firstMs: 1_000, maxMs: 30_000 };
const REMEMBERED_MAX = 10_000;
/** What a sealed pair begins with: no two of them are the same. */
const NONCE_BYTES = 12;

type OAuth = Credential & { readonly kind: 'oauth2' | 'client_credentials' };
type Need = 'none' | 'soon' | 'now';

interface Failing {
  readonly failures: number;
  /** Of performance.now(). */
  readonly untilMs: number;
  readonly message: string;
}

/** What became of a look by this process. */
type Looked = 'done' | 'elsewhere' | Failing;

export class Tokens {
  readonly #core: Services;
  /** By connection. */
  readonly #underWay = new Map<string, Promise<Looked>>();
  readonly #failing = lruOf<Failing>(REMEMBERED_MAX);

  constructor(core: Services) {
    this.#core = core;
  }

  /**
   * Resolves once the stored token of the connection is good for a call. Other kinds have none. Throws CONNECTION_BROKEN, and TARGET_FAILED where
   * there is no token now and a later call may get one.
   */
  async refresh(connection: Connection, nowMs: number, signal: AbortSignal): Promise<void> {
    const need = needOf(connection, nowMs);
    if (need === 'none') return;
    const key = keyOf(connection);
    if (need === 'soon') {
      // Whoever comes first refreshes it; the token is good for all others.
      if (!this.#underWay.has(key) && !this.#isFailing(key)) await this.#look(connection, signal);
      return;
    }
    await this.#wait(connection, signal);
  }

  /** Once the requests under way are saved. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#underWay.values());
  }

  /** For a token, as long as another one fetches it. */
  async #wait(first: Connection, signal: AbortSignal): Promise<void> {
    const giveUpAtMs = performance.now() + REFRESH_WAIT_MS;
    let connection = first;
    for (let looks = 1; ; looks += 1) {
      const key = keyOf(connection);
      const failing = this.#isFailing(key) ? this.#failing.get(key) : undefined;
      const looked = failing ?? (await this.#look(connection, signal));
      const [now, nowMs] = await this.#read(connection);
      if (now.status !== 'ready') throw brokenRefusal(now, nowMs) ?? unavailable('it has no token', FAILURES.firstMs);
      if (needOf(now, nowMs) !== 'now') return;
      if (typeof looked === 'object') throw unavailable(looked.message, looked.untilMs - performance.now());
      if (performance.now() >= giveUpAtMs) throw unavailable('another call still fetches it', FAILURES.firstMs);
      if (looked === 'elsewhere') await sleep(backoffMs(LOOKS, looks), undefined, { signal });
      connection = now;
    }
  }

  async #read({ accountId, connection }: Connection): Promise<[Connection, number]> {
    const { hot } = this.#core.db;
    const [found, nowMs] = await Promise.all([findConnections(hot, accountId, [connection]), clockNow(hot)]);
    const now = found.get(connection);
    if (now === undefined) throw connectionMissing(connection);
    return [now, nowMs];
  }

  /** Joins the refresh that is under way here, or begins one. It outlives its callers: a token that is asked for must be saved. */
  #look(connection: Connection, signal: AbortSignal): Promise<Looked> {
    const key = keyOf(connection);
    let looking = this.#underWay.get(key);
    if (looking === undefined) {
      looking = this.#refresh(connection, key).finally(() => this.#underWay.delete(key));
      // All callers may have left by then.
      looking.catch(() => undefined);
      this.#underWay.set(key, looking);
    }
    return orAborted(looking, signal);
  }

  #isFailing(key: string): boolean {
    const failing = this.#failing.get(key);
    return failing !== undefined && performance.now() < failing.untilMs;
  }

  async #refresh(connection: Connection, key: string): Promise<Looked> {
    const { sealed } = connection;
    if (sealed === null) return 'done';
    const credential = this.#open(connection, sealed);
    if (
      credential.kind === 'oauth2' &&
      credential.refreshToken === null &&
      needOf(connection, await clockNow(this.#core.db)) === 'soon'
    )
      return 'done';
    const leased = await this.#lease(connection, sealed);
    if (leased === null) return 'elsewhere';
    const { number, nowMs } = leased;
    const grant = grantOf(credential);
    if (grant === null) {
      await breakBy(this.#core, connection, {
        number,
        used: sealed,
        reason: 'its access token has ended, and there is no refresh token',
      });
      return 'done';
    }
    const answer = await requestToken(this.#core.outbound, credential.source, grant);
    return this.#settleAnswer(connection, { key, number, sealed, credential, nowMs }, answer);
  }

  #open(connection: Connection, sealed: Buffer): OAuth {
    try {
      return openCredential(this.#core.secrets, connection, sealed) as OAuth;
    } catch (cause) {
      const message = 'The credential does not belong to the connection as it stands: set it anew.';
      throw problem('CONNECTION_BROKEN', { detail: 'seal', message, cause });
    }
  }

  #lease(connection: Connection, sealed: Buffer): Promise<{ readonly number: bigint; readonly nowMs: number } | null> {
    return rideOut(() =>
      this.#core.db.transaction(async (tx) => {
        const nowMs = await lockAccount(tx, connection.accountId);
        const number = nowMs === null ? null : await leaseRefresh(tx, connection, sealed, nowMs);
        return nowMs === null || number === null ? null : { number, nowMs };
      }, connection.accountId),
    );
  }

  async #settleAnswer(
    connection: Connection,
    { key, number, sealed, credential, nowMs }: Sent,
    answer: TokenAnswer,
  ): Promise<Looked> {
    const { connection: name, accountId } = connection;
    if (answer.kind === 'token') {
      const renewed = renewedBy(credential, answer, nowMs);
      const next = {
        used: sealed,
        sealed: sealCredential(this.#core.secrets, connection, renewed),
        times: tokenTimes(renewed, nowMs),
      };
      this.#failing.delete(key);
      await this.#underLock(accountId, (tx) => saveTokens(tx, connection, next));
      return 'done';
    }
    if (answer.kind === 'refused') {
      const reason = `the provider refused to refresh it: ${answer.error}`;
      const isBroken = await breakBy(this.#core, connection, { number, used: sealed, reason });
      if (isBroken) this.#core.log.warn({ accountId, connection: name, error: answer.error }, 'a connection is broken');
      return 'done';
    }
    await this.#underLock(accountId, (tx) => releaseRefresh(tx, connection, number));
    return this.#noteFailure(key, answer.message);
  }

  #underLock<T>(accountId: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const underAccount = async (tx: Transaction) => {
      await lockAccount(tx, accountId);
      return work(tx);
    };
    return rideOut(() => this.#core.db.transaction(underAccount, accountId));
  }

  #noteFailure(key: string, message: string): Failing {
    const failures = (this.#failing.get(key)?.failures ?? 0) + 1;
    const untilMs = performance.now() + jitteredMs(exactBackoffMs(FAILURES, failures));
    const failing = { failures, untilMs, message };
    this.#failing.set(key, failing);
    return failing;
  }
}

interface Sent {
  readonly key: string;
  readonly number: bigint;
  readonly sealed: Buffer;
  readonly credential: OAuth;
  /** When it was asked for: the token's life begins no later. */
  readonly nowMs: number;
}

/** Of the connection with this pair: another one is not under way, and has not failed. */
function keyOf({ accountId, connection, sealed }: Connection): string {
  return `${accountId}\n${connection}\n${sealed?.toString('base64url', 0, NONCE_BYTES) ?? ''}`;
}

/** Without an end a token of a person is good, and a client has none yet. */
export function needOf({ kind, row }: Pick<Connection, 'kind' | 'row'>, nowMs: number): Need {
  if (kind !== 'oauth2' && kind !== 'client_credentials') return 'none';
  const { token_ends_at: endsAtMs, refresh_at: refreshAtMs } = row;
  if (endsAtMs === null) return kind === 'oauth2' ? 'none' : 'now';
  if (endsAtMs <= nowMs) return 'now';
  return refreshAtMs !== null && refreshAtMs <= nowMs ? 'soon' : 'none';
}

/** Null: nothing gets it a token. */
function grantOf(credential: OAuth): Grant | null {
  if (credential.kind === 'client_credentials') return { type: 'client_credentials', scopes: credential.source.scopes };
  return credential.refreshToken === null ? null : { type: 'refresh_token', refreshToken: credential.refreshToken };
}

/** A server that rotates no refresh token sends none, and the old one stays (RFC 6749, section 6). */
function renewedBy(credential: OAuth, answer: TokenAnswer & { readonly kind: 'token' }, nowMs: number): OAuth {
  const { access, refresh, expiresInMs } = answer;
  if (credential.kind === 'client_credentials')
    return { ...credential, token: { access, endsAtMs: nowMs + (expiresInMs ?? USUAL_TOKEN_MS) } };
  const endsAtMs = expiresInMs === null ? null : nowMs + expiresInMs;
  return { ...credential, token: { access, endsAtMs }, refreshToken: refresh ?? credential.refreshToken };
}

function unavailable(why: string, retryAfterMs: number) {
  return problem('TARGET_FAILED', {
    detail: 'token',
    message: `There is no access token for the connection now: ${why}`,
    retryAfterMs: Math.max(1_000, Math.ceil(retryAfterMs)),
  });
}

/** The work goes on when the caller leaves. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
