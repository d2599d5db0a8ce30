// A store of blocks over a database and an asset store of its own.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Assets } from '../../src/assets/assets.ts';
import { sendBlocks } from '../../src/blocks/send.ts';
import { BlockStore } from '../../src/blocks/store.ts';
import { BlockThreads } from '../../src/blocks/threads.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { admission } from '../../src/core/admission.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { createLog } from '../../src/core/process/log.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { type ConnectionConfig, Database } from '../../src/db/database.ts';
import type { Services } from '../../src/kit/services.ts';
import { sequenceAt } from '../../src/lib/sequence.ts';
import { fileAssets } from '../../src/vendors/assets/file.ts';
import { createTestDatabase } from '../support/database.ts';
import { COLUMNS, draftsOf, found, type NumberRecord, numbers } from './numbers.ts';

const signal = new AbortController().signal;

export function openStore(connection: ConnectionConfig, folder: string, distributed = false) {
  const db = new Database({ connection, distributed });
  const log = createLog('silent');
  const secrets = new Secrets('a server secret of tests, long enough');
  const assets = new Assets(fileAssets(folder), { db, log, secrets });
  const core = { db, assets, log, blockThreads: new BlockThreads(admission.all) } as unknown as Services;
  return { db, core, store: new BlockStore(core, numbers) };
}

export async function blocksHarness() {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'qm-blocks-'));
  const { db, core, store } = openStore(database.connection, folder, database.distributed);
  let last = 0n;
  let offset = 0;
  const sweeps = new Map(store.sweeps().map((sweep) => [sweep.name.split('.')[1], sweep]));
  return {
    db,
    core,
    store,
    folder,
    database,
    makeAccount: () => db.transaction((tx) => createAccount(tx, { name: 'test' })),
    now: () => clockNow(db),
    /** As the commit of one call. */
    async send(accountId: string, records: readonly NumberRecord[]) {
      const drafts = draftsOf(records);
      await store.makeDays(drafts.map(({ fromMs }) => fromMs));
      const now = sequenceAt(await clockNow(db));
      last = now > last ? now : last + 1n;
      const first = last;
      last += BigInt(drafts.length);
      await db.transaction(async (tx) => {
        sendBlocks(
          tx,
          numbers,
          drafts.map((draft, i) => ({ accountId, blockId: first + BigInt(i), draft })),
        );
      });
    },
    /** The numbers in a time, sorted. */
    async find(accountId: string, fromMs: number, toMs: number, marks?: readonly string[]) {
      const refs = await store.list(accountId, { fromMs, toMs, ...(marks === undefined ? {} : { marks }) });
      const parts: number[] = [];
      const question = { columns: COLUMNS, task: found, args: { fromMs, toMs }, tooLate: () => new Error('too late') };
      for await (const part of store.scan(accountId, refs, question, signal)) parts.push(...part);
      return parts.sort((a, b) => a - b);
    },
    /** Runs a sweep until it has nothing more to do. */
    async sweep(name: 'merge' | 'replaced' | 'retention' | 'cold' | 'orphans') {
      while (await sweeps.get(name)?.run(signal));
    },
    async advance(ms: number) {
      offset += ms;
      const text = `CREATE OR REPLACE FUNCTION core.clock_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
        AS $$ SELECT statement_timestamp() + interval '${offset} milliseconds' $$`;
      await db.query({ name: `advance_${offset}`, text }, []);
    },
    async close() {
      await core.blockThreads.close();
      await db.end();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}
