import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded/index.ts';
import { startOwner, temporaryDirectory, until } from '../support/embedded.ts';

let directory: ReturnType<typeof temporaryDirectory>;
let running: EmbeddedPostgres | undefined;

beforeEach(() => {
  directory = temporaryDirectory();
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
  directory.remove();
});

const start = async () => {
  running = await startEmbedded({ dataDir: directory.path });
  return running;
};
const query = async ({ connection }: EmbeddedPostgres, sql: string) =>
  (await withClient(connection, (client) => client.query(sql))).rows;
const pidFile = () => join(directory.path, 'postgres/data/postmaster.pid');

it('starts PostgreSQL again when it is killed, and what was committed is there', async () => {
  const postgres = await start();
  const killed = postgres.pid;
  const pool = new pg.Pool(postgres.connection);
  pool.on('error', () => undefined);
  await pool.query('CREATE TABLE kept AS SELECT 7 AS value');
  process.kill(killed, 'SIGKILL');
  await until(() => postgres.state === 'restarting');
  await until(() => postgres.state === 'running');
  expect(postgres.pid).not.toBe(killed);
  expect((await pool.query('SELECT value FROM kept')).rows).toEqual([{ value: 7 }]);
  await pool.end();
});

it('can be stopped while it starts again', async () => {
  const postgres = await start();
  process.kill(postgres.pid, 'SIGKILL');
  await until(() => postgres.state === 'restarting');
  await postgres.stop();
  expect(postgres.state).toBe('stopped');
  expect(await startEmbedded({ dataDir: directory.path }).then((again) => again.stop())).toBeUndefined();
});

it('takes over a PostgreSQL that outlived its killed service', async () => {
  const owner = await startOwner(directory.path);
  await owner.end('SIGKILL');
  const postgres = await start();
  expect(postgres.pid).toBe(owner.postgresPid);
  await query(postgres, 'CREATE TABLE kept AS SELECT 7 AS value');
  process.kill(postgres.pid, 'SIGKILL');
  await until(() => postgres.pid !== owner.postgresPid && postgres.state === 'running');
  expect(await query(postgres, 'SELECT value FROM kept')).toEqual([{ value: 7 }]);
});

it('replaces a survivor that runs other settings', async () => {
  const owner = await startOwner(directory.path);
  await owner.end('SIGKILL');
  const record = join(directory.path, 'postgres/connection.json');
  const content = JSON.parse(readFileSync(record, 'utf8')) as object;
  writeFileSync(record, JSON.stringify({ ...content, fingerprint: 'of another release' }));
  const postgres = await start();
  expect(postgres.pid).not.toBe(owner.postgresPid);
  await until(() => !readFileSync(pidFile(), 'utf8').startsWith(`${owner.postgresPid}\n`));
});

it('starts after both were killed, whatever process has the old id now', async () => {
  const owner = await startOwner(directory.path);
  await owner.end('SIGKILL');
  process.kill(owner.postgresPid, 'SIGKILL');
  writeFileSync(pidFile(), readFileSync(pidFile(), 'utf8').replace(/^\d+/, String(process.ppid)));
  expect(await query(await start(), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

it('keeps PostgreSQL out of the reach of Ctrl-C', async () => {
  const owner = await startOwner(directory.path);
  process.kill(-(owner.child.pid as number), 'SIGINT');
  await owner.end('SIGKILL');
  expect((await start()).pid).toBe(owner.postgresPid);
});
