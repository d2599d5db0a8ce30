// A worker that acknowledges commits before they are written loses some of them when a shard is moved: the doctor names it.
import { expect, inject, test } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { Database } from '../../src/db/database.ts';
import { engineWarnings } from '../../src/upkeep/engine-warning.ts';
import type { Cluster } from '../support/cluster.ts';
import { createTestDatabase } from '../support/database.ts';

test.runIf(inject('cluster') !== null)('the doctor names the workers whose synchronous_commit is off', async () => {
  const { workers } = inject('cluster') as Cluster;
  const worker = workers[1] as Cluster['workers'][number];
  const database = await createTestDatabase();
  const db = new Database({ connection: database.connection, distributed: true });
  const early = async () => (await engineWarnings(db)).filter((warning) => warning.includes('synchronous_commit'));
  const set = async (value: 'on' | 'off') => {
    await withClient({ ...worker, database: database.connection.database }, async (client) => {
      await client.query('SET citus.enable_ddl_propagation = off');
      await client.query(`ALTER DATABASE ${database.connection.database} SET synchronous_commit = ${value}`);
    });
  };
  try {
    await set('on');
    expect(await early()).toEqual([]);
    await set('off');
    expect(await early()).toEqual([expect.stringContaining(`is off on ${worker.host}:${worker.port}:`)]);
  } finally {
    await db.end();
    await database.drop();
  }
});
