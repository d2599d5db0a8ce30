// Looks up the key of a secret. Look-ups are cached for at most one second, counted from before the read. So one second after a revocation
// commits, no process accepts the key (contract §2). Secrets that this deployment did not mint are refused without a read.

import type { LRUCache } from 'lru-cache';
import { byteaArray, textArray } from '../../db/arrays.ts';
import type { Database, Queryable, Rows } from '../../db/database.ts';
import { rideOut } from '../../db/ride-out.ts';
import { type SqlValue, type Statement, statement } from '../../db/statement.ts';
import { Coalescer } from '../../lib/coalesce.ts';
import { lruOf } from '../../lib/lru.ts';
import { admission } from '../admission.ts';
import { CAP_COLUMNS, type CapColumns } from '../callers/key-cap.ts';
import type { Ended, LivePrincipal, PrincipalKind } from '../callers/principal.ts';
import type { Tier } from '../callers/tiers.ts';
import { KEY_CACHE_MS } from '../process/processes.ts';
import { type Secrets, sameDigest } from '../secrets/secrets.ts';
import { type ApiKey, invalidKey, isWellFormedSecret, type KeyEnd, SECRET_LENGTH, secretHash } from './api-key.ts';

/** A dead secret never comes back to life. */
const DEAD_CACHE_MS = 60_000;
const READ_FOR_MS = 2_000;

// The one look-up without an account, in a table that every node of a distributed engine holds whole. A secret keeps its account, until
// that goes over into another.
const findAccount = statement('key_find_account', 'SELECT account_id FROM core.api_secret WHERE secret_hash = $1');
const findSecret = statement(
  'key_find_secret',
  `SELECT s.secret_hash, s.account_id, s.key_id, s.is_current, k.project_id, k.scopes, a.tier, w.suspended, w.rules_version,
          k.spend_cap_nanos IS NOT NULL AS has_spend_cap,
          CASE WHEN a.purge_at <= core.clock_now() THEN 'unknown'
               WHEN k.revoked_at IS NOT NULL THEN 'revoked'
               WHEN LEAST(s.expires_at, k.expires_at) <= core.clock_now() THEN 'expired' END AS ended
     FROM core.api_secret s
     JOIN core.api_key k ON k.account_id = $2 AND k.key_id = s.key_id
     JOIN core.account a ON a.account_id = $2
     JOIN core.wallet w ON w.account_id = $2
    WHERE s.secret_hash = $1 AND s.account_id = $2`,
);

interface SecretRow {
  readonly secret_hash: Buffer;
  readonly account_id: string;
  readonly key_id: string;
  readonly is_current: boolean;
  readonly project_id: string;
  readonly scopes: string[] | null;
  readonly tier: Tier;
  readonly suspended: boolean;
  readonly has_spend_cap: boolean;
  readonly rules_version: bigint;
  /** `unknown`: the account was deleted and its time is over, whether it is purged yet or not. */
  readonly ended: Ended | null;
}

type Found = ApiKey | Ended;

/** The newest secrets of keys: by what stands in every signature. */
const findSecretsOf = statement(
  'key_find_secrets_of',
  `/* fan-out: a look-up without an account, in the table that every node holds whole */
   SELECT s.key_id, s.secret_hash
     FROM core.api_secret s
    WHERE s.key_id = ANY($1::text[])
    ORDER BY s.key_id, s.is_current DESC, s.created_at DESC`,
);
const KEY_ID = /^key_[0-9A-Za-z]{1,60}$/;
/** As many live at a time while a key is rotated. */
const SECRETS_TRIED = 3;
const IDS_PER_READING = 256;

/** The keys of secrets as they are now, with how they ended if they have. */
const readLiveKeys = statement(
  'key_read_live',
  `SELECT s.secret_hash, s.is_current, k.key_id, k.scopes, k.expires_at,
          CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked'
               WHEN LEAST(s.expires_at, k.expires_at) <= core.clock_now() THEN 'expired' END AS ended,
          ${CAP_COLUMNS}
     FROM core.api_secret s, core.api_key k
    WHERE s.secret_hash = ANY($2::bytea[])
      AND s.account_id = ANY($1::text[])
      AND k.account_id = ANY($1::text[])
      AND k.account_id = s.account_id
      AND k.key_id = s.key_id`,
);

interface LiveRow extends CapColumns {
  readonly secret_hash: Buffer;
  readonly is_current: boolean;
  readonly key_id: string;
  readonly scopes: string[] | null;
  readonly expires_at: number | null;
  readonly ended: KeyEnd | null;
}

export interface KeyRingOptions {
  readonly db: Database;
  readonly secrets: Secrets;
  /** Most keys, and most dead secrets, that are remembered. */
  readonly keysMax?: number;
  readonly deadMax?: number;
}

export class KeyRing {
  readonly #db: Database;
  readonly #secrets: Secrets;
  readonly #live: LRUCache<string, ApiKey>;
  /** Apart from the keys, which it cannot push out. */
  readonly #dead: LRUCache<string, Ended>;
  readonly #reading = new Map<string, Promise<Found>>();
  /** By key id. What is no key of ours is remembered too. */
  readonly #secretsOf: LRUCache<string, readonly Buffer[]>;
  /** Whatever ids come, one reading looks for all of them. */
  readonly #idsRead = new Coalescer<string, readonly Buffer[]>({
    batchMax: IDS_PER_READING,
    run: (_key, ids) => this.#readSecretsOf(ids),
  });
  readonly #lastUsed = new Map<string, { accountId: string; keyId: string }>();
  #drops = 0;
  readonly #kind: PrincipalKind = {
    name: 'key',
    again: (key) => this.findByHash((key as ApiKey).secretHash),
    readLive: (tx, accounts, keys) => readLive(tx, accounts, keys as readonly ApiKey[]),
    refusal: invalidKey,
  };

  constructor({ db, secrets, keysMax, deadMax }: KeyRingOptions) {
    this.#db = db;
    this.#secrets = secrets;
    this.#live = remembering(KEY_CACHE_MS, keysMax ?? admission.all.keysRemembered);
    this.#dead = remembering(DEAD_CACHE_MS, deadMax ?? admission.all.deadSecretsRemembered);
    this.#secretsOf = remembering(KEY_CACHE_MS, deadMax ?? admission.all.deadSecretsRemembered);
  }

  /** The live key of a secret, or why there is none: `unknown` for what was never a key here, and for anything garbled. */
  async find(secret: string): Promise<Found> {
    if (secret.length !== SECRET_LENGTH) return 'unknown';
    const hash = secretHash(secret);
    const id = hash.toString('latin1');
    // What is remembered was well formed: the checksum, another hash, is looked at only before a read.
    const known = this.#findById(id);
    if (known !== undefined) return known;
    return isWellFormedSecret(this.#secrets, secret) ? this.#look(id, hash) : 'unknown';
  }

  /** Hashes of the secrets of a key, the current one first; empty when there is no such key. `isAnew`: not as remembered. */
  async secretsOf(keyId: string, isAnew = false): Promise<readonly Buffer[]> {
    if (!KEY_ID.test(keyId)) return [];
    const known = isAnew ? undefined : this.#secretsOf.get(keyId);
    if (known !== undefined) return known;
    const sinceMs = performance.now();
    const found = await this.#idsRead.add('', keyId);
    this.#secretsOf.set(keyId, found, { start: sinceMs });
    return found;
  }

  /** The live key of a secret of this deployment, by its hash. */
  async findByHash(hash: Buffer): Promise<Found> {
    const id = hash.toString('latin1');
    return this.#findById(id) ?? this.#look(id, hash);
  }

  /** Forgets a key at once; look-ups in flight are made again. */
  drop(keyId: string): void {
    this.#drops += 1;
    for (const [id, key] of this.#live.entries()) if (key.id === keyId) this.#live.delete(id);
  }

  /** The same of all keys of an account. */
  dropOf(accountId: string): void {
    this.#drops += 1;
    for (const [id, key] of this.#live.entries()) if (key.accountId === accountId) this.#live.delete(id);
  }

  /** Keys used since the last call, for last_used_at. */
  takeLastUsed(): { accountId: string; keyId: string }[] {
    const used = [...this.#lastUsed.values()];
    this.#lastUsed.clear();
    return used;
  }

  #findById(id: string): Found | undefined {
    return this.#live.get(id) ?? this.#dead.get(id);
  }

  #look(id: string, hash: Buffer): Promise<Found> {
    const running = this.#reading.get(id);
    if (running !== undefined) return running;
    const reading = this.#readNow(id, hash).finally(() => this.#reading.delete(id));
    this.#reading.set(id, reading);
    return reading;
  }

  async #readNow(id: string, hash: Buffer): Promise<Found> {
    for (;;) {
      const drops = this.#drops;
      const sinceMs = performance.now();
      const found = await this.#read(id, hash);
      // A key was dropped meanwhile: what was read may be from before its revocation.
      if (drops !== this.#drops) continue;
      // A secret without a key is on its way into another account (people/absorbing).
      if (found === 'unknown' && (await this.#accountOf(hash)) !== undefined) return found;
      if (typeof found === 'string') this.#dead.set(id, found, { start: sinceMs });
      else {
        this.#live.set(id, found, { start: sinceMs });
        this.#lastUsed.set(found.id, { accountId: found.accountId, keyId: found.id });
      }
      return found;
    }
  }

  async #readSecretsOf(ids: readonly string[]): Promise<(readonly Buffer[])[]> {
    const wanted = textArray([...new Set(ids)]);
    const { rows } = await this.#query<{ key_id: string; secret_hash: Buffer }>(findSecretsOf, [wanted]);
    const byKey = Map.groupBy(rows, (row) => row.key_id);
    return ids.map((id) => (byKey.get(id) ?? []).slice(0, SECRETS_TRIED).map((row) => row.secret_hash));
  }

  async #read(id: string, hash: Buffer): Promise<Found> {
    const remembered = this.#live.peek(id, { allowStale: true })?.accountId;
    const accountId = remembered ?? (await this.#accountOf(hash));
    if (accountId === undefined) return 'unknown';
    const found = await this.#readOf(accountId, hash);
    if (found !== 'unknown') return found;
    // It may have gone over into another account since it was found in this one.
    const now = await this.#accountOf(hash);
    return now === undefined || now === accountId ? 'unknown' : this.#readOf(now, hash);
  }

  async #readOf(accountId: string, hash: Buffer): Promise<Found> {
    const { rows } = await this.#query<SecretRow>(findSecret, [hash, accountId]);
    const [row] = rows;
    if (row === undefined || !sameDigest(row.secret_hash, hash)) return 'unknown';
    if (row.ended !== null) return row.ended;
    return {
      kind: this.#kind,
      id: row.key_id,
      accountId: row.account_id,
      projectId: row.project_id,
      scopes: row.scopes,
      secretHash: row.secret_hash,
      isCurrent: row.is_current,
      hasSpendCap: row.has_spend_cap,
      rulesVersion: row.rules_version,
      signedInAtMs: null,
      tier: row.tier,
      suspended: row.suspended,
    };
  }

  async #accountOf(hash: Buffer): Promise<string | undefined> {
    return (await this.#query<{ account_id: string }>(findAccount, [hash])).rows[0]?.account_id;
  }

  /** A database that restarts must not turn callers away at the door. */
  #query<R>(asked: Statement, values: readonly SqlValue[]): Promise<Rows<R>> {
    return rideOut(() => this.#db.hot.query<R>(asked, values), READ_FOR_MS);
  }
}

async function readLive(
  tx: Queryable,
  accounts: Buffer,
  keys: readonly ApiKey[],
): Promise<(LivePrincipal | undefined)[]> {
  const { rows } = await tx.query<LiveRow>(readLiveKeys, [accounts, byteaArray(keys.map((key) => key.secretHash))]);
  const bySecret = new Map(rows.map((row) => [row.secret_hash.toString('latin1'), row]));
  return keys.map(({ secretHash: hash }) => {
    const row = bySecret.get(hash.toString('latin1'));
    return row === undefined ? undefined : liveOf(row);
  });
}

function liveOf(row: LiveRow): LivePrincipal {
  return {
    id: row.key_id,
    scopes: row.scopes,
    ended: row.ended,
    expiresAtMs: row.expires_at,
    isCurrent: row.is_current,
    cap: row.spend_cap_nanos === null ? null : row,
  };
}

/** The clock is read at every look; of what is too old the account is still known. */
function remembering<Value extends {}>(ttl: number, max: number): LRUCache<string, Value> {
  return lruOf(max, { ttl, ttlResolution: 0, noDeleteOnStaleGet: true });
}
