import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { StartupError } from '../../src/db/errors.ts';
import { migrate } from '../../src/db/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let directory: string;

beforeEach(async () => {
  database = await createTestDatabase('template0');
  directory = mkdtempSync(join(tmpdir(), 'quartermaster-migrations-'));
  write('0001_first.sql', 'CREATE SCHEMA shop; CREATE TABLE shop.item (id int PRIMARY KEY);');
});

afterEach(async () => {
  await database.drop();
  rmSync(directory, { recursive: true });
});

const write = (name: string, sql: string) => writeFileSync(join(directory, name), sql);
const run = () => migrate(database.connection, directory);
const query = async (sql: string) => (await withClient(database.connection, (client) => client.query(sql))).rows;

describe('migrate', () => {
  it('applies each file once, in order', async () => {
    write('0002_second.sql', 'ALTER TABLE shop.item ADD name text;');
    expect(await run()).toEqual({ applied: [1, 2], version: 2 });
    expect(await run()).toEqual({ applied: [], version: 2 });
    write('0003_third.sql', 'ALTER TABLE shop.item ADD price bigint;');
    expect(await run()).toEqual({ applied: [3], version: 3 });
    expect(await query('SELECT version, name FROM core.migration ORDER BY version')).toEqual([
      { version: 1, name: 'first' },
      { version: 2, name: 'second' },
      { version: 3, name: 'third' },
    ]);
  });

  it('lets one of several processes work while the others wait', async () => {
    write('0002_slow.sql', 'SELECT pg_sleep(0.3); CREATE TABLE shop.slow ();');
    const results = await Promise.all([run(), run(), run()]);
    expect(results.map(({ applied }) => applied.length).sort()).toEqual([0, 0, 2]);
  });

  it('rolls back a file that fails, keeps the ones before it, and says which it was', async () => {
    write('0002_broken.sql', 'CREATE TABLE shop.half (); SELECT 1 / 0;');
    await expect(run()).rejects.toThrow(
      new StartupError('migration 0002_broken failed and was rolled back: division by zero'),
    );
    expect(await query(`SELECT to_regclass('shop.half') AS half, to_regclass('shop.item')::text AS item`)).toEqual([
      { half: null, item: 'shop.item' },
    ]);
    write('0002_broken.sql', 'CREATE TABLE shop.half ();');
    expect(await run()).toEqual({ applied: [2], version: 2 });
  });

  it('refuses a schema that is newer than the code', async () => {
    await run();
    await query(`INSERT INTO core.migration (version, name, checksum) VALUES (2, 'future', 'x')`);
    await expect(run()).rejects.toThrow(StartupError);
    await expect(run()).rejects.toThrow(/schema version 2, this release knows only 1/);
  });

  it('refuses a file that was changed after it was applied', async () => {
    await run();
    write('0001_first.sql', 'CREATE SCHEMA shop;');
    await expect(run()).rejects.toThrow(
      /^migration 0001_first was changed after it was applied to this database.*: run the code that it ran on until now/,
    );
  });

  it('takes line endings for what they are', async () => {
    write('0001_first.sql', 'CREATE SCHEMA shop;\nSELECT 1;\n');
    await run();
    write('0001_first.sql', 'CREATE SCHEMA shop;\r\nSELECT 1;\r\n');
    expect(await run()).toEqual({ applied: [], version: 1 });
  });

  it('refuses a gap in the numbers', async () => {
    write('0003_third.sql', 'SELECT 1;');
    await expect(run()).rejects.toThrow(StartupError);
  });

  it('works on an open session and leaves its settings as they were', async () => {
    const client = new pg.Client(database.connection);
    await client.connect();
    const before = (await client.query('SHOW lock_timeout')).rows;
    await migrate(client, directory);
    expect((await client.query('SHOW lock_timeout')).rows).toEqual(before);
    await client.end();
  });
});
