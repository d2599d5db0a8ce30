// Several processes behind one port, each account at home in one: connections find their way there, and nothing is lost on it.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Core } from '../../src/core/context.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, type Place, startProcess, until } from '../support/process.ts';
import { createTestAccount, SECRETS_KEY } from '../support/service.ts';

let database: TestDatabase;
let db: Database;
let place: Place;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
  place = await createPlace({ DATABASE_URL: database.url, SECRETS_KEY, WORKERS: '3', RATE_LIMITS: 'on' });
  const service = await startProcess(place);
  // One of them answers; it greets when all do.
  await until(() => service.stdout() !== '');
}, 60_000);
afterAll(async () => {
  await place?.remove();
  await db?.end();
  await database?.drop();
});

const ANSWER = /HTTP\/1\.1 (\d+)[\s\S]*?"worker_id":"([^"]+)"/;

/** A connection that says which process answered each call. */
class Client {
  readonly #socket: Socket = connect(place.port, '127.0.0.1');
  readonly workers: string[] = [];
  failed = 0;

  constructor() {
    let text = '';
    this.#socket.on('error', () => undefined).on('close', () => (this.failed += 1));
    this.#socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      for (let found = ANSWER.exec(text); found !== null; found = ANSWER.exec(text)) {
        if (found[1] !== '200') this.failed += 1;
        this.workers.push(found[2] as string);
        text = text.slice(found.index + found[0].length);
      }
    });
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  async call(request: string): Promise<void> {
    const before = this.workers.length;
    this.write(request);
    await until(() => this.workers.length > before || this.failed > 0);
  }

  end(): void {
    this.#socket.destroy();
  }
}

const account = () => createTestAccount({ db, secrets: new Secrets(SECRETS_KEY) } as Core, 100);
const balance = (secret: string) =>
  `GET /v1/account/balance HTTP/1.1\r\nHost: quartermaster\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
const clients = (count: number) => Array.from({ length: count }, () => new Client());
const latest = (all: readonly Client[]) => new Set(all.map(({ workers }) => workers.at(-1)));

test('all connections of an account come to one process, and every call on the way is answered', async () => {
  const { secret } = await account();
  const all = clients(12);
  await Promise.all(all.map((client) => client.call(balance(secret))));
  expect(latest(all).size).toBeGreaterThan(1);
  await until(async () => {
    await Promise.all(all.map((client) => client.call(balance(secret))));
    return latest(all).size === 1;
  });
  expect(all.map(({ failed }) => failed)).toEqual(new Array(12).fill(0));
  for (const client of all) client.end();
});

test('a connection whose next request has begun stays, and that request is answered', async () => {
  const { secret } = await account();
  const all = clients(8);
  const request = balance(secret);
  const [first, rest] = [request.slice(0, 20), request.slice(20)];
  // Each write brings a request's end together with the beginning of the next.
  for (const client of all) client.write(first);
  for (let n = 0; n < 6; n += 1) await Promise.all(all.map((client) => client.call(rest + first)));
  expect(all.map(({ workers, failed }) => [new Set(workers).size, workers.length, failed])).toEqual(
    new Array(8).fill([1, 6, 0]),
  );
  expect(latest(all).size).toBeGreaterThan(1);
  // The last ends with a whole request: nothing is begun, and the connections move.
  await Promise.all(all.map((client) => client.call(rest)));
  await until(async () => {
    await Promise.all(all.map((client) => client.call(request)));
    return latest(all).size === 1;
  });
  expect(all.map(({ failed }) => failed)).toEqual(new Array(8).fill(0));
  for (const client of all) client.end();
});

test('accounts are at home in all processes', async () => {
  const homes: Set<string | undefined>[] = [];
  for (let n = 0; n < 6; n += 1) {
    const { secret } = await account();
    const all = clients(6);
    await until(async () => {
      await Promise.all(all.map((client) => client.call(balance(secret))));
      return latest(all).size === 1;
    });
    homes.push(latest(all));
    for (const client of all) client.end();
  }
  expect(new Set(homes.flatMap((home) => [...home])).size).toBe(3);
});
