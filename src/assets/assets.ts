// Assets: bytes kept outside the database, in one store that all processes share. A mark in the database identifies its store, and a process
// configured with another store cannot write to it.
import { LRUCache } from 'lru-cache';
import type { Logger } from '../core/process/logger.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import type { Database } from '../db/database.ts';
import { StartupError } from '../db/errors.ts';
import { statement } from '../db/statement.ts';
import { newId } from '../lib/ids.ts';
import { problem } from '../problems/problem.ts';
import { type AssetStore, AssetsUnavailable } from '../vendors/assets/port.ts';

const insertMark = statement(
  'asset_know_store',
  `INSERT INTO core.asset_store (id, mark) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`,
);
const selectMark = statement('asset_read_store', 'SELECT mark FROM core.asset_store');

const OTHER_STORE = 'what this database keeps is in another place; all processes must share one';
const FOREIGN_STORE = 'another database keeps its files in that place; give each its own';
const RETRY_AFTER_MS = 5_000;
/** Of short assets that are read often. */
const SHORT_BYTES_MAX = 32 * 1024 * 1024;
const ENTRY_BYTES = 500;

/** What this room adds to the services of a process. */
export interface AssetsPart {
  /** Where bytes are kept that are too many for the database. */
  readonly assets: Assets;
}

export class Assets
  implements Pick<AssetStore, 'workPath' | 'putFile' | 'put' | 'putNew' | 'open' | 'read' | 'remove'>
{
  readonly #store: AssetStore;
  readonly #db: Database;
  readonly #log: Logger;
  /** Begins the marks of this database. */
  readonly #own: string;
  #isKnown = false;
  readonly #short = new LRUCache<string, Buffer>({
    maxSize: SHORT_BYTES_MAX,
    sizeCalculation: ({ length }) => length + ENTRY_BYTES,
  });

  constructor(store: AssetStore, { db, log, secrets }: { db: Database; log: Logger; secrets: Secrets }) {
    this.#store = store;
    this.#db = db;
    this.#log = log;
    this.#own = `ast_${secrets.derive('asset-store', 8).toString('hex')}_`;
  }

  /**
   * At the start; nothing is written. Throws StartupError where the database knows another store, where the store is another database's, and
   * where it refuses. One that does not answer is told, and asked again before something is kept.
   */
  async requireSame(): Promise<void> {
    try {
      const [known, mark] = [await this.#readMark(), await this.#store.readMark()];
      if (known !== null && known !== mark) throw new StartupError(`ASSETS_URL: ${OTHER_STORE}`);
      if (mark !== null && !mark.startsWith(this.#own)) throw new StartupError(`ASSETS_URL: ${FOREIGN_STORE}`);
      this.#isKnown = known !== null;
    } catch (error) {
      if (!(error instanceof AssetsUnavailable)) throw error;
      if (error.isRefused) throw new StartupError(`ASSETS_URL: ${error.message}`);
      this.#log.warn(`ASSETS_URL: ${error.message}`);
    }
  }

  /** Before anything is kept: the first store to be used is the one of all. Throws SERVICE_UNAVAILABLE for another. */
  async require(): Promise<void> {
    if (this.#isKnown) return;
    const mark = await available(this.#log, () => this.#store.setMark(newId(this.#own)));
    if (mark.startsWith(this.#own)) await this.#db.query(insertMark, [mark]);
    if ((await this.#readMark()) !== mark) {
      this.#log.error(`ASSETS_URL: ${OTHER_STORE}`);
      throw unavailable();
    }
    this.#isKnown = true;
  }

  workPath(): Promise<string> {
    return this.#store.workPath();
  }

  /** As the store does, in the place that all processes share. Throws SERVICE_UNAVAILABLE in another, and AssetsUnavailable. */
  async putFile(key: string, path: string): Promise<void> {
    await this.require();
    await this.#store.putFile(key, path);
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.require();
    await this.#store.put(key, bytes);
  }

  async putNew(key: string, bytes: Uint8Array): Promise<void> {
    await this.require();
    await this.#store.putNew(key, bytes);
  }

  open(key: string, start: number, end: number): AsyncIterable<Uint8Array> {
    return this.#store.open(key, start, end);
  }

  read(key: string): Promise<Buffer> {
    return this.#store.read(key);
  }

  /** All bytes of a short one under a key that is never given other bytes: what is read often stays in memory. Throws AssetGone. */
  async readUnchanging(key: string): Promise<Buffer> {
    const known = this.#short.get(key);
    if (known !== undefined) return known;
    const bytes = await this.#store.read(key);
    this.#short.set(key, bytes);
    return bytes;
  }

  remove(key: string): Promise<void> {
    this.#short.delete(key);
    return this.#store.remove(key);
  }

  /**
   * Removes what was put before `beforeMs` under a prefix and is not named: what crashes left. It goes on behind `from.after`. Answers true
   * when there may be more.
   */
  async removeOrphans({ prefix, beforeMs, from, isNamed }: Orphans, signal: AbortSignal): Promise<boolean> {
    // What is in a store that the database does not know is not ours to judge.
    if (!(this.#isKnown || (await this.#readMark()) !== null)) return false;
    await this.require();
    if (from.after === '') await this.#store.removeUnfinished(beforeMs);
    const keys = await this.#store.list(prefix, from.after, beforeMs);
    for (const key of keys) {
      if (signal.aborted) return false;
      if (key <= from.after) continue;
      from.after = key;
      const named = await isNamed(key);
      if (typeof named === 'object') from.after = named.after;
      if (named !== false) continue;
      this.#log.info({ key }, 'an asset that nothing names is removed');
      await this.#store.remove(key);
    }
    if (keys.length === 0) from.after = '';
    return keys.length > 0;
  }

  /** Removes what was put before `beforeMs` under a prefix, a bounded number at a time. Answers true when there may be more. */
  async removeOld({ prefix, beforeMs }: Pick<Orphans, 'prefix' | 'beforeMs'>, signal: AbortSignal): Promise<boolean> {
    // What is in a store that the database does not know is not ours to judge.
    if (!(this.#isKnown || (await this.#readMark()) !== null)) return false;
    await this.require();
    const keys = await this.#store.list(prefix, '', beforeMs);
    for (const key of keys) {
      if (signal.aborted) return false;
      await this.#store.remove(key);
    }
    return keys.length > 0;
  }

  async #readMark(): Promise<string | null> {
    return (await this.#db.query<{ mark: string }>(selectMark, [])).rows[0]?.mark ?? null;
  }
}

export interface Orphans {
  /** What keys begin with. */
  readonly prefix: string;
  readonly beforeMs: number;
  /** The last key that was looked at; empty at the beginning. */
  readonly from: { after: string };
  /** `after`: so are all keys up to there. */
  isNamed(key: string): Promise<boolean | { readonly after: string }>;
}

/** What `use` of the store answers a call. Throws SERVICE_UNAVAILABLE where it does not answer, or refuses; its operator is told why. */
export async function available<T>(log: Logger, use: () => Promise<T>): Promise<T> {
  try {
    return await use();
  } catch (error) {
    if (!(error instanceof AssetsUnavailable)) throw error;
    log.error(`ASSETS_URL: ${error.message}`);
    throw unavailable();
  }
}

function unavailable() {
  return problem('SERVICE_UNAVAILABLE', {
    message: 'This process cannot keep or read files now. Its operator has been told.',
    retryAfterMs: RETRY_AFTER_MS,
  });
}
