// Looks up the key behind a secret. Look-ups are remembered in the process for at most one second, counted from before the read,
// so that one second after a revocation's commit no process can still know the key (contract §2).
import type { Database } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { admission } from '../admission.ts';
import { sameDigest } from '../secrets.ts';
import type { Tier } from '../tiers.ts';
import { rideOut } from '../wallet/ride-out.ts';
import { type ApiKey, isWellFormedSecret, secretHash } from './record.ts';

export const KEY_CACHE_MS = 1_000;
const READ_FOR_MS = 2_000;

const findSecret = statement(
  'key_find_secret',
  `/* fan-out: the one look-up without an account; every node holds these tables' rows of the key */
   SELECT s.secret_hash, s.account_id, s.key_id, k.project_id, k.scopes, a.tier, w.suspended,
          LEAST(s.expires_at, k.expires_at) AS valid_until, core.clock_now() AS now
     FROM core.api_secret s
     JOIN core.api_key k ON k.account_id = s.account_id AND k.key_id = s.key_id
     JOIN core.account a ON a.account_id = s.account_id
     JOIN core.wallet w ON w.account_id = s.account_id
    WHERE s.secret_hash = $1
      AND (s.expires_at IS NULL OR s.expires_at > core.clock_now())
      AND k.revoked_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > core.clock_now())`,
);

interface SecretRow {
  readonly secret_hash: Buffer;
  readonly account_id: string;
  readonly key_id: string;
  readonly project_id: string;
  readonly scopes: string[] | null;
  readonly tier: Tier;
  readonly suspended: boolean;
  readonly valid_until: number | null;
  readonly now: number;
}

interface Entry {
  readonly key: Promise<ApiKey | null>;
  /** performance.now() before the read was sent. */
  readonly sinceMs: number;
  keyId: string | null;
}

export class KeyRing {
  readonly #db: Database;
  readonly #entries = new Map<string, Entry>();
  readonly #lastUsed = new Map<string, { accountId: string; keyId: string }>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** The live key of a secret; null for an unknown, revoked, expired or garbled one (one answer for all). */
  async find(secret: string): Promise<ApiKey | null> {
    const hash = secretHash(secret);
    // What is remembered was well formed: the checksum, another hash, is looked at only before a read.
    if (this.#remembered(hash) === undefined && !isWellFormedSecret(secret)) return null;
    return this.#findHash(hash);
  }

  #remembered(hash: Buffer): Entry | undefined {
    const entry = this.#entries.get(hash.toString('latin1'));
    return entry !== undefined && performance.now() - entry.sinceMs < KEY_CACHE_MS ? entry : undefined;
  }

  async #findHash(hash: Buffer): Promise<ApiKey | null> {
    const known = this.#remembered(hash);
    if (known !== undefined) return known.key;
    const id = hash.toString('latin1');
    const sinceMs = performance.now();
    const fresh: Entry = { key: this.#read(hash), sinceMs, keyId: null };
    this.#remember(id, fresh);
    try {
      const key = await fresh.key;
      // Dropped while it was read: what was read may be from before the revocation.
      if (this.#entries.get(id) !== fresh) return await this.#findHash(hash);
      fresh.keyId = key?.keyId ?? null;
      if (key !== null) this.#lastUsed.set(key.keyId, { accountId: key.accountId, keyId: key.keyId });
      return key;
    } catch (error) {
      this.#entries.delete(id);
      throw error;
    }
  }

  /** A key that was found a while ago as it is now; null when it is dead. */
  async again(key: ApiKey): Promise<ApiKey | null> {
    return this.#findHash(key.secretHash);
  }

  /** Forgets a key at once; look-ups in flight are forgotten too. */
  drop(keyId: string): void {
    for (const [id, entry] of this.#entries)
      if (entry.keyId === keyId || entry.keyId === null) this.#entries.delete(id);
  }

  /** Keys used since the last call, for last_used_at. */
  takeLastUsed(): { accountId: string; keyId: string }[] {
    const used = [...this.#lastUsed.values()];
    this.#lastUsed.clear();
    return used;
  }

  async #read(hash: Buffer): Promise<ApiKey | null> {
    // A database that restarts must not turn callers away at the door.
    const { rows } = await rideOut(() => this.#db.hot.query<SecretRow>(findSecret, [hash]), READ_FOR_MS);
    const [row] = rows;
    if (row === undefined || !sameDigest(row.secret_hash, hash)) return null;
    return {
      keyId: row.key_id,
      accountId: row.account_id,
      projectId: row.project_id,
      scopes: row.scopes,
      secretHash: row.secret_hash,
      validUntilMs: row.valid_until,
      tier: row.tier,
      suspended: row.suspended,
    };
  }

  // Unknown secrets are remembered too, so the bound also limits what a guesser can fill.
  #remember(id: string, entry: Entry): void {
    if (this.#entries.size >= admission.all.keysRemembered) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.delete(id);
    this.#entries.set(id, entry);
  }
}
