// On a distributed engine what is of one account runs at the node that has its rows.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { Database } from '../../src/db/database.ts';
import { statement } from '../../src/db/statement.ts';
import { createTestDatabase, type TestDatabase, useAsDistributed } from '../support/database.ts';

const ACCOUNTS = Array.from({ length: 16 }, (_, i) => `acct_${i}`);
const readName = statement('test_placement_name', 'SELECT a.name FROM core.account a WHERE a.account_id = $1');
const readPort = statement('test_placement_port', 'SELECT inet_server_port() AS port');
const readLocal = statement('test_placement_local', 'SELECT l.text FROM core.test_local l WHERE l.account_id = $1');
const touchLocal = statement(
  'test_placement_touch',
  `UPDATE core.test_local SET text = text || '!' WHERE account_id = $1`,
);

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await useAsDistributed(database);
});
afterAll(() => database.drop());

const open = (onIdleError: (error: Error) => void = () => undefined) =>
  new Database({ connection: database.connection, distributed: true, onIdleError });

test.runIf(inject('cluster') === null)(
  'a node that is not reached is told of, and its accounts go by the coordinator',
  async () => {
    // A port of the system that no database listens on.
    await withClient(database.connection, (client) =>
      client.query(`UPDATE public.pg_dist_node SET nodename = '127.0.0.1', nodeport = 1`),
    );
    const errors: string[] = [];
    const db = open(({ message }) => errors.push(message));
    expect((await db.query(readName, ['acct_1'])).rows).toEqual([]);
    expect(errors).toEqual(['node 127.0.0.1:1 is not reached: its accounts go by the coordinator']);
    await db.end();
  },
);

test.runIf(inject('cluster') === null)(
  'without a map of shards, every account goes by the coordinator, and the failure is told',
  async () => {
    await withClient(database.connection, (client) => client.query('DROP TABLE public.pg_dist_shard'));
    const errors: string[] = [];
    const db = open(({ message }) => errors.push(message));
    expect((await db.query(readName, ['acct_1'])).rows).toEqual([]);
    expect(errors).toEqual(['the placement of shards cannot be read']);
    await db.end();
  },
);

describe.runIf(inject('cluster') !== null)('on a cluster', () => {
  test('a transaction of an account runs at its node, and others at the coordinator', async () => {
    const db = open();
    const placement = db.placement as NonNullable<typeof db.placement>;
    const ports = new Set<unknown>();
    for (const accountId of ACCOUNTS) {
      const portOf = (of?: string) =>
        db.transaction(async (tx) => (await tx.query<{ port: unknown }>(readPort, [])).rows[0]?.port, of);
      const port = await portOf(accountId);
      expect(placement.nodeOf(placement.shardOf(accountId) as bigint)?.name).toMatch(new RegExp(`:${port}$`));
      expect(await portOf()).toBe(database.connection.port);
      ports.add(port);
    }
    expect(ports.size).toBe(2);
    await db.end();
  });

  test('what only the coordinator has is read and written there', async () => {
    await withClient(database.connection, async (client) => {
      await client.query('CREATE TABLE core.test_local (account_id text, text text)');
      await client.query(`INSERT INTO core.test_local SELECT 'acct_' || n, '' FROM generate_series(0, 15) n`);
    });
    const db = open();
    for (const accountId of ACCOUNTS) {
      await db.transaction((tx) => tx.query(touchLocal, [accountId]), accountId);
      expect((await db.query(readLocal, [accountId])).rows).toEqual([{ text: '!' }]);
    }
    await db.end();
  });
});
