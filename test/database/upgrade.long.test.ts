// A database of an earlier major version of PostgreSQL, filled by every module, is upgraded: each row is there, the books add up, counters go
// on, and a run that is killed leaves the old database or the new one.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withClient } from '../../src/db/client.ts';
import { type Connection, startEmbedded } from '../../src/db/embedded/index.ts';
import { fillAccount } from '../support/filled-account.ts';
import { preparedData, temporaryDirectory } from '../support/prepared-data.ts';
import { createQmHome, type QmHome } from '../support/qm.ts';
import { client, createTestAccount, SECRETS_KEY, startTestService } from '../support/service.ts';
import { LOCAL_TARGETS, Receiver } from '../webhooks/api-harness.ts';

const FROM = Number(process.env.UPGRADE_FROM ?? 15);
let dataDir: string;
let qm: QmHome;
let filled: Record<string, string>;

async function rowsOf(connection: Connection): Promise<Record<string, string>> {
  return withClient(connection, async (session) => {
    const tables = await session.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_|information_schema$)' ORDER BY 1`,
    );
    const all: Record<string, string> = {};
    for (const { name } of tables.rows) {
      const { rows } = await session.query(
        `SELECT count(*) || ' ' || md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text COLLATE "C"), '')) AS rows FROM ${name} t`,
      );
      all[name] = rows[0].rows;
    }
    const { rows } = await session.query(
      `SELECT schemaname || '.' || sequencename AS name, last_value::text AS last FROM pg_sequences ORDER BY 1`,
    );
    return { ...all, ...Object.fromEntries(rows.map(({ name, last }) => [name, String(last)])) };
  });
}

beforeAll(async () => {
  dataDir = temporaryDirectory();
  if (FROM === 15) execFileSync('cp', ['-a', join(await preparedData(15), 'postgres'), dataDir]);
  const old = await startEmbedded({ dataDir, major: FROM });
  const { host, port, user, password, database } = old.connection;
  const url = `postgresql:///${database}?${new URLSearchParams({ host, port: String(port), user, password })}`;
  const receiver = await Receiver.start();
  const service = await startTestService({
    env: LOCAL_TARGETS,
    database: { connection: old.connection, url, distributed: false, drop: async () => undefined },
  });
  const account = await createTestAccount(service.core);
  await fillAccount(client(service.url, account.secret), receiver.url('/hook'), 'mark');
  await service.stop();
  await receiver.stop();
  filled = await rowsOf(old.connection);
  await old.stop();
  qm = createQmHome({ DATA_DIR: dataDir, SECRETS_KEY });
});
afterAll(async () => {
  await qm?.remove();
  rmSync(dataDir, { recursive: true, force: true });
});

const home = () => join(dataDir, 'postgres');
const majorIn = (name: string) => readFileSync(join(home(), name, 'PG_VERSION'), 'utf8').trim();

test('a start on it says what to do', async () => {
  await expect(startEmbedded({ dataDir })).rejects.toThrow('migrate --upgrade-database`');
});

test('a run that is killed leaves the old database', async () => {
  const running = qm.start(['migrate', '--upgrade-database']);
  while (!existsSync(join(home(), 'data.upgraded', 'postmaster.pid'))) await sleep(5);
  await sleep(300);
  running.child.kill('SIGKILL');
  await running.ended;
  expect(majorIn('data')).toBe(String(FROM));
});

test('every row and every counter arrives, the old database is kept, and the books add up', async () => {
  const { code, stdout, stderr } = await qm.run(['migrate', '--upgrade-database', '--json']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ applied: [], upgraded: { from: FROM, to: 18 } });
  expect([majorIn('data'), majorIn(`data.${FROM}`)]).toEqual(['18', String(FROM)]);
  expect(readdirSync(home()).filter((name) => name.startsWith('data.upgraded'))).toEqual([]);
  const upgraded = await startEmbedded({ dataDir });
  try {
    const now = await rowsOf(upgraded.connection);
    expect(now).toEqual(filled);
    expect(Object.keys(now).length).toBeGreaterThan(100);
    expect(await qm.run(['doctor', '--json'])).toMatchObject({ code: 0, stdout: expect.stringContaining('"ok":true') });
  } finally {
    await upgraded.stop();
  }
});

test('a second run has nothing to do, and a start finishes a swap that was cut off', async () => {
  expect((await qm.run(['migrate', '--upgrade-database'])).stdout).toContain('nothing to upgrade');
  writeFileSync(join(home(), 'data/quartermaster-upgraded'), '');
  renameSync(join(home(), 'data'), join(home(), 'data.upgraded'));
  const started = await startEmbedded({ dataDir });
  try {
    expect((await rowsOf(started.connection))['queue.message']).toBe(filled['queue.message']);
  } finally {
    await started.stop();
  }
});
