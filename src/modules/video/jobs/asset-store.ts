// The store of what jobs make: the database knows which it is, and what no job names any more is removed from it.
import type { Core } from '../../../core/context.ts';
import { StartupError } from '../../../db/startup-error.ts';
import { statement } from '../../../db/statement.ts';
import { newId } from '../../../lib/ids.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { problem } from '../problems.ts';
import { assetsOf } from './remove.ts';
import { jobIdPattern, readJob } from './store.ts';

const insertStore = statement(
  'video_know_store',
  `INSERT INTO video.asset_store (id, mark) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`,
);
const selectStore = statement('video_read_store', 'SELECT mark FROM video.asset_store');

const ORPHAN_MS = DAY_MS;
const OTHER_STORE = 'ASSETS_URL: the films of this database are in another place; all processes must share one';

/** The store of one process, and whether it is the one that the database knows. */
export class OneStore {
  readonly #core: Core;
  #isKnown = false;

  constructor(core: Core) {
    this.#core = core;
  }

  /** At the start. Throws StartupError where the database knows another store; none is known before the first job. */
  async requireSame(): Promise<void> {
    const known = await this.#known();
    if (known !== null && known !== (await this.#core.assets.mark(newId('ast_')))) throw new StartupError(OTHER_STORE);
  }

  /** Before anything is kept: the first store to be used is the one of all. Throws SERVICE_UNAVAILABLE for another. */
  async require(): Promise<void> {
    if (this.#isKnown) return;
    const mark = await this.#core.assets.mark(newId('ast_'));
    await this.#core.db.query(insertStore, [mark]);
    if ((await this.#known()) !== mark) {
      this.#core.log.error(OTHER_STORE);
      throw problem('SERVICE_UNAVAILABLE', {
        message: 'This process cannot keep films now; its operator has been told.',
      });
    }
    this.#isKnown = true;
  }

  async #known(): Promise<string | null> {
    return (await this.#core.db.query<{ mark: string }>(selectStore, [])).rows[0]?.mark ?? null;
  }
}

/** Removes what was put a day ago and is of no job: what a crash left. Answers true when there may be more. */
export async function removeOrphans(
  { db, assets, log }: Core,
  from: { after: string },
  signal: AbortSignal,
): Promise<boolean> {
  const keys = await assets.list(from.after, Date.now() - ORPHAN_MS);
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

/** Keys are `account/job.…`; what was not put by us here is left alone. */
async function isNamed(db: Core['db'], key: string): Promise<boolean> {
  const [, accountId, jobId] = /^([^/]+)\/(vid_[^.]+)\./.exec(key) ?? [];
  if (accountId === undefined || jobId === undefined || !jobIdPattern.test(jobId)) return !key.startsWith('.work/');
  const job = await readJob(db, accountId, jobId);
  return job !== null && assetsOf(job).includes(key);
}
