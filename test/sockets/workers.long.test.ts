// Several processes behind one port: bounds of an account hold for all of them, and a stop hands over the sockets of each.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import type { Services } from '../../src/kit/services.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { client, createTestAccount, SECRETS_KEY } from '../support/service.ts';
import { allowedMs } from '../support/slowness.ts';
import { type Line, openLine, type Refused } from './client.ts';

const WITH_PARLOR = pathToFileURL(join(import.meta.dirname, 'with-parlor.ts')).href;
const SOCKETS = 16;

let database: TestDatabase;
let db: Database;
let place: Place;
let service: ServiceProcess;
beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
  place = await createPlace({ DATABASE_URL: database.url, SECRETS_KEY, WORKERS: '2', RATE_LIMITS: 'on' });
  service = await startProcess(place, { NODE_OPTIONS: `--import=${WITH_PARLOR}` });
}, 120_000);
afterAll(async () => {
  await place?.remove();
  await db?.end();
  await database?.drop();
});

/** A process that has just started may be too busy to take many at once; it says when to come again. */
async function openWhenThereIsRoom(secret: string): Promise<Line> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await openLine(place.url, '/parlor/x', secret);
    } catch (refused) {
      const { status, body } = refused as Refused;
      if (status !== 503 || tries === 20) throw refused;
      await sleep(body.error.retry_after_ms);
    }
  }
}

test('sockets of two processes are counted together, end with their key, and are closed at a stop', async () => {
  const core = { db, secrets: new Secrets(SECRETS_KEY) } as Services;
  const account = await createTestAccount(core);
  const { body } = await client(place.url, account.secret)('POST', '/v1/account/keys/create', { name: 'x' });
  const open = (secret: string) => Promise.all(Array.from({ length: SOCKETS }, () => openWhenThereIsRoom(secret)));
  const [ending, staying] = [await open(body.data.secret), await open(account.secret)];
  const metrics = await (await fetch(`${place.url}/metrics`)).text();
  expect(metrics).toMatch(new RegExp(`^qm_web_sockets\\{route="parlor.room"\\} ${2 * SOCKETS}$`, 'm'));

  const begunMs = performance.now();
  await client(place.url, account.secret)('DELETE', `/v1/account/keys/revoke/${body.data.key_id}`);
  const ended = await Promise.all(ending.map((line) => line.ended));
  expect(new Set(ended.map(({ code, reason }) => `${code} ${reason}`))).toEqual(new Set(['1008 INVALID_API_KEY']));
  expect(performance.now() - begunMs).toBeLessThan(allowedMs(10_000));
  expect(await staying[0]?.ask('hello')).toBe('hello');

  const [exit, ...codes] = await Promise.all([service.end('SIGTERM'), ...staying.map((line) => line.ended)]);
  expect([exit.code, new Set(codes.map(({ code }) => code))]).toEqual([0, new Set([1012])]);
});
