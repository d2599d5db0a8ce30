// The store of what jobs make: the database knows which it is, and what no job names any more is removed from it.
import type { Core } from '../../../core/context.ts';
import { StartupError } from '../../../db/errors.ts';
import { statement } from '../../../db/statement.ts';
import { newId } from '../../../lib/ids.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { AssetsUnavailable } from '../../../vendors/assets/port.ts';
import { problem } from '../problems.ts';
import { assetsOf } from './remove.ts';
import { jobIdPattern, readJob } from './store.ts';

const insertStore = statement(
  'video_know_store',
  `INSERT INTO video.asset_store (id, mark) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`,
);
const selectStore = statement('video_read_store', 'SELECT mark FROM video.asset_store');

const ORPHAN_MS = DAY_MS;
const OTHER_STORE = 'the videos of this database are in another place; all processes must share one';
const FOREIGN_STORE = 'another database keeps its videos in that place; give each its own';

/** The store of one process, and whether it is the one that the database knows. */
export class OneStore {
  readonly #core: Core;
  /** Begins the marks of this database. */
  readonly #own: string;
  #isKnown = false;

  constructor(core: Core) {
    this.#core = core;
    this.#own = `ast_${core.secrets.derive('asset-store', 8).toString('hex')}_`;
  }

  /**
   * At the start; nothing is written. Throws StartupError where the database knows another store, where the store is another database's, and
   * where it refuses. One that does not answer is told, and asked again by the first job.
   */
  async requireSame(): Promise<void> {
    const { assets, log } = this.#core;
    try {
      const [known, mark] = [await this.#known(), await assets.readMark()];
      if (known !== null && known !== mark) throw new StartupError(`ASSETS_URL: ${OTHER_STORE}`);
      if (mark !== null && !mark.startsWith(this.#own)) throw new StartupError(`ASSETS_URL: ${FOREIGN_STORE}`);
      this.#isKnown = known !== null;
    } catch (error) {
      if (!(error instanceof AssetsUnavailable)) throw error;
      if (error.isRefused) throw new StartupError(`ASSETS_URL: ${error.message}`);
      log.warn(`ASSETS_URL: ${error.message}`);
    }
  }

  /** Before anything is kept: the first store to be used is the one of all. Throws SERVICE_UNAVAILABLE for another. */
  async require(): Promise<void> {
    if (this.#isKnown) return;
    const { assets, db, log } = this.#core;
    const mark = await available(log, () => assets.setMark(newId(this.#own)));
    if (mark.startsWith(this.#own)) await db.query(insertStore, [mark]);
    if ((await this.#known()) !== mark) {
      log.error(`ASSETS_URL: ${OTHER_STORE}`);
      throw unavailable();
    }
    this.#isKnown = true;
  }

  /** Removes what was put a day ago and is of no job: what a crash left. Answers true when there may be more. */
  async removeOrphans(from: { after: string }, signal: AbortSignal): Promise<boolean> {
    // What is in a store that the database does not know is not ours to judge.
    if (!(this.#isKnown || (await this.#known()) !== null)) return false;
    await this.require();
    const { db, assets, log } = this.#core;
    const beforeMs = Date.now() - ORPHAN_MS;
    if (from.after === '') await assets.removeUnfinished(beforeMs);
    const keys = await assets.list(from.after, beforeMs);
    for (const key of keys) {
      if (signal.aborted) return false;
      from.after = key;
      if (await isNamed(db, key)) continue;
      log.info({ key }, 'an asset that no job names is removed');
      await assets.remove(key);
    }
    if (keys.length === 0) from.after = '';
    return keys.length > 0;
  }

  async #known(): Promise<string | null> {
    return (await this.#core.db.query<{ mark: string }>(selectStore, [])).rows[0]?.mark ?? null;
  }
}

/** What `use` of the store answers. Throws SERVICE_UNAVAILABLE where it does not answer, or refuses; its operator is told why. */
export async function available<T>(log: Core['log'], use: () => Promise<T>): Promise<T> {
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
    message: 'This process cannot keep videos now; its operator has been told.',
    retryAfterMs: 5_000,
  });
}

/** Keys are `account/job.…`; what was not put by us here is left alone. */
async function isNamed(db: Core['db'], key: string): Promise<boolean> {
  const [, accountId, jobId] = /^([^/]+)\/(vid_[^.]+)\./.exec(key) ?? [];
  if (accountId === undefined || jobId === undefined || !jobIdPattern.test(jobId)) return true;
  const job = await readJob(db, accountId, jobId);
  return job !== null && assetsOf(job).includes(key);
}
