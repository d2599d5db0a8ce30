// Several processes behind one port, each account at home in one: connections find their way there, and nothing is lost on it.
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import type { Services } from '../../src/kit/services.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import {
  createPlace,
  isAlive,
  type Place,
  type ServiceProcess,
  signalProcess,
  startProcess,
  until,
} from '../support/process.ts';
import { createTestAccount, SECRETS_KEY } from '../support/service.ts';

let database: TestDatabase;
let db: Database;
let place: Place;
let service: ServiceProcess;

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
  place = await createPlace({ DATABASE_URL: database.url, SECRETS_KEY, WORKERS: '3' });
  service = await startProcess(place);
  await allListen();
});
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
  /** The process of its last answer. */
  get pid(): number {
    return Number(this.workers.at(-1)?.split('-').at(-1));
  }

  constructor() {
    let read = '';
    this.#socket.on('error', () => undefined).on('close', () => (this.failed += 1));
    this.#socket.on('data', (chunk: Buffer) => {
      read += chunk.toString();
      for (let found = ANSWER.exec(read); found !== null; found = ANSWER.exec(read)) {
        if (found[1] !== '200') this.failed += 1;
        this.workers.push(found[2] as string);
        read = read.slice(found.index + found[0].length);
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

const account = () => createTestAccount({ db, secrets: new Secrets(SECRETS_KEY) } as Services, 100);
const balance = (secret: string) =>
  `GET /v1/account/balance HTTP/1.1\r\nHost: quartermaster\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
const post = (secret: string, path: string, body: string, headers = '') =>
  `POST ${path} HTTP/1.1\r\nHost: quartermaster\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
const clients = (count: number) => Array.from({ length: count }, () => new Client());
/** The first process is ready when one of them is; of one that was killed nothing is left to meet. */
async function allListen(): Promise<void> {
  const { secret } = await account();
  await until(async () => {
    const all = clients(12);
    await Promise.all(all.map((client) => client.call(balance(secret))));
    const isWhole = all.every(({ failed }) => failed === 0) && latest(all).size === 3;
    for (const client of all) client.end();
    return isWhole;
  });
}

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

/** Publishes to a queue, each message under a key of its own, and knows how many there must be. */
class Publisher {
  readonly #secret: string;
  count = 0;

  constructor(secret: string) {
    this.#secret = secret;
  }

  async prepare(): Promise<void> {
    const [client] = clients(1) as [Client];
    await client.call(post(this.#secret, '/v1/queue/create', '{"name":"kept"}'));
    client.end();
  }

  next(): string {
    this.count += 1;
    const key = `Idempotency-Key: kept-${this.count}\r\n`;
    return post(this.#secret, '/v1/queue/publish', '{"queue":"kept","payload":{}}', key);
  }

  /** Each that was begun stands in the queue, and was paid for, once. */
  async check(): Promise<void> {
    const headers = { authorization: `Bearer ${this.#secret}` };
    const ask = async (path: string) => {
      const [answer] = await once(get(place.url + path, { headers, agent: false }), 'response');
      return text(answer);
    };
    expect(JSON.parse(await ask('/v1/queue/stats/kept')).data.message_count).toBe(this.count);
    expect(await ask('/v1/account/usage')).toContain(`{"capability":"queue.publish","count":${this.count},`);
  }
}

/** A client with a call, which may be made again. */
interface Caller {
  readonly client: Client;
  readonly request: string;
}

const answered = ({ client }: Caller, calls: number) => client.workers.length >= calls;

/** Connections of an account that is at home in `home`, each of which has been answered twice: those of other processes may move now. */
async function aboutToMove(secret: string, publisher: Publisher) {
  const first = clients(6);
  await until(async () => {
    await Promise.all(first.map((client) => client.call(balance(secret))));
    return latest(first).size === 1;
  });
  const home = (first[0] as Client).pid;
  for (const client of first) client.end();
  const all = clients(30);
  await Promise.all(all.map((client) => client.call(publisher.next())));
  const away = all.filter(({ pid }) => pid !== home);
  for (const client of all) if (client.pid === home) client.end();
  return { home, away };
}

/** Calls twice on each. One connection of each process moves after the first of them, and there it waits: the number of `waiting`. */
async function callWhileMoving(away: readonly Client[], publisher: Publisher, waiting: number): Promise<Caller[]> {
  await Promise.all(away.map((client) => client.call(publisher.next())));
  const callers = away.map((client) => ({ client, request: publisher.next() }));
  for (const { client, request } of callers) client.write(request);
  await until(() => callers.filter((caller) => answered(caller, 3)).length === callers.length - waiting);
  return callers;
}

/** Every call has been answered, or its connection has ended; then it is made again. */
async function finish(callers: readonly Caller[]): Promise<number> {
  await until(() => callers.every((caller) => answered(caller, 3) || caller.client.failed > 0));
  const again = callers.filter((caller) => !answered(caller, 3));
  for (const { request } of again) {
    const [client] = clients(1) as [Client];
    await client.call(request);
    expect(client.failed).toBe(0);
    client.end();
  }
  for (const { client } of callers) client.end();
  return again.length;
}

async function kill(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signalProcess(pid, 'SIGKILL');
  await until(() => !pids.some(isAlive));
}

test('when a process is killed while connections move to it, nobody waits for ever, and those who send live on', async () => {
  const { secret } = await account();
  const publisher = new Publisher(secret);
  await publisher.prepare();
  const { home, away } = await aboutToMove(secret, publisher);
  const senders = new Set(away.map(({ pid }) => pid));
  expect(senders.size).toBe(2);
  signalProcess(home, 'SIGSTOP');
  const callers = await callWhileMoving(away, publisher, senders.size);
  await kill([home]);
  expect(await finish(callers)).toBe(senders.size);
  expect([...senders].every(isAlive)).toBe(true);
  await allListen();
  await publisher.check();
});

test('when a process is killed while connections move from it, they arrive, and its others end', async () => {
  const { secret } = await account();
  const publisher = new Publisher(secret);
  await publisher.prepare();
  const { home, away } = await aboutToMove(secret, publisher);
  const senders = [...new Set(away.map(({ pid }) => pid))];
  // What they send stays between the processes.
  signalProcess(service.pid, 'SIGSTOP');
  const callers = await callWhileMoving(away, publisher, senders.length);
  const moving = callers.filter((caller) => !answered(caller, 3));
  await kill(senders);
  signalProcess(service.pid, 'SIGCONT');
  expect(await finish(callers)).toBe(0);
  expect(moving.map(({ client }) => client.pid)).toEqual(senders.map(() => home));
  await allListen();
  await publisher.check();
});
