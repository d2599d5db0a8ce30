// Calls of models at once are counted for all processes behind one port, wherever an account's connections are.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { Database } from '../../src/db/database.ts';
import type { Services } from '../../src/kit/services.ts';
import { completionOf, OpenaiDouble } from '../support/ai/openai-double.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, type Place, startProcess, until } from '../support/process.ts';
import { createTestAccount, SECRETS_KEY } from '../support/service.ts';
import { type Answer, tally } from './pair.ts';
import { type Line, sendTo } from './workers-lines.ts';

let database: TestDatabase;
let db: Database;
let place: Place;
let vendor: OpenaiDouble;
let folder: string;
beforeAll(async () => {
  vendor = await OpenaiDouble.start('Hello.');
  folder = await mkdtemp(join(tmpdir(), 'qm-workers-'));
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 2, hotConnections: 1 });
  const VENDORS_FILE = join(folder, 'vendors.yaml');
  await writeFile(VENDORS_FILE, await vendorsFile());
  // A proxy's connections stay with the process that accepted them, whosever calls they carry.
  const many = { WORKERS: '3', TRUST_PROXY: 'loopback', RATE_LIMITS: 'on' };
  place = await createPlace({ DATABASE_URL: database.url, SECRETS_KEY, VENDORS_FILE, ...many });
  await startProcess(place);
});
afterAll(async () => {
  await place?.remove();
  await db?.end();
  await database?.drop();
  await vendor?.stop();
  await rm(folder, { recursive: true });
});

/** The file takes no aliases. */
const UNALIASED = { aliasDuplicateObjects: false };

/** One model of the double, which may take its time, and the same of a vendor that takes four calls at once. */
async function vendorsFile(): Promise<string> {
  const keyFile = join(folder, 'key');
  await writeFile(keyFile, 'vendor-key', { mode: 0o600 });
  const timeouts = { first_content_ms: 100_000, idle_ms: 100_000, total_ms: 100_000 };
  const model = { id: 'm-1', serves: ['ai.chat'], price: { input: 1, output: 2 }, context: 100_000, max_output: 1_000 };
  const acme = { id: 'acme', adapter: 'openai', region: 'western', base_url: vendor.url, api_key: { file: keyFile } };
  const four = { ...acme, id: 'four', limits: { concurrent: 4 } };
  return stringify(
    { version: 1, vendors: [acme, four].map((each) => ({ ...each, timeouts, models: [model] })) },
    UNALIASED,
  );
}

const send = sendTo(() => place);
const account = () => createTestAccount({ db, secrets: new Secrets(SECRETS_KEY) } as Services, 100);

/** So many connections, of those that the test takes. */
async function manyLines(secret: string, count: number, isTaken: (line: Line, first: string) => boolean) {
  const found: Line[] = [];
  await until(async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { worker } = await send(agent, secret, 'GET', '/v1/account/balance');
    const line = { agent, worker };
    if (isTaken(line, found[0]?.worker ?? worker)) found.push(line);
    else agent.destroy();
    return found.length === count;
  });
  return found;
}

test.each([
  ['all of them', () => true],
  ['one of them', ({ worker }: Line, first: string) => worker === first],
])('an account has twenty calls of models under way, its connections with %s', async (_where, isTaken) => {
  const { secret } = await account();
  const connections = await manyLines(secret, 24, isTaken);
  const { length: before } = vendor.seen;
  const { promise: after, resolve: answer } = Promise.withResolvers<void>();
  const deed = { status: 200, body: completionOf('Hello.') };
  vendor.next(...Array.from({ length: 20 }, () => ({ after, deed })));
  const ask = { model: 'acme/m-1', messages: [{ role: 'user', content: 'Hello?' }], max_tokens: 10 };
  const answers: Answer[] = [];
  const calls = connections.map(async ({ agent }) => {
    let answered = await send(agent, secret, 'POST', '/v1/ai/chat', ask);
    // On a busy machine a call may find no turn in time, which is no answer to what is asked here.
    while (answered.status === 503) answered = await send(agent, secret, 'POST', '/v1/ai/chat', ask);
    answers.push(answered);
  });
  await until(() => answers.length === 4 && vendor.seen.length === before + 20);
  expect(tally(answers)).toEqual({ CONCURRENCY_LIMITED: 4 });
  answer();
  await Promise.all(calls);
  expect(tally(answers)).toEqual({ ok: 20, CONCURRENCY_LIMITED: 4 });
  // Their places are given back.
  const [line] = connections as [Line];
  expect((await send(line.agent, secret, 'POST', '/v1/ai/chat', ask)).status).toBe(200);
  for (const { agent } of connections) agent.destroy();
});

test.each([
  ['one of them', ({ worker }: Line, first: string) => worker === first],
  ['all of them, two each', atMost(2)],
])('a vendor has as many calls under way as its file allows, connections with %s', async (_where, isTaken) => {
  const { secret } = await account();
  const connections = await manyLines(secret, 6, isTaken);
  const { length: before } = vendor.seen;
  const { promise: after, resolve: answer } = Promise.withResolvers<void>();
  const deed = { status: 200, body: completionOf('Hello.') };
  vendor.next(...Array.from({ length: 4 }, () => ({ after, deed })));
  const ask = { model: 'four/m-1', messages: [{ role: 'user', content: 'Hello?' }], max_tokens: 10 };
  const answers: Answer[] = [];
  const calls = connections.map(async ({ agent }) => {
    answers.push(await send(agent, secret, 'POST', '/v1/ai/chat', ask));
  });
  await until(() => answers.length === 2 && vendor.seen.length === before + 4);
  const refused = tally(answers);
  answer();
  await Promise.all(calls);
  expect(refused).toEqual({ RATE_LIMIT_VENDOR: 2 });
  expect(tally(answers)).toEqual({ ok: 4, RATE_LIMIT_VENDOR: 2 });
  for (const { agent } of connections) agent.destroy();
});

/** So many lines of each process. */
function atMost(count: number): (line: Line) => boolean {
  const taken = new Map<string, number>();
  return ({ worker }) => {
    const before = taken.get(worker) ?? 0;
    taken.set(worker, before + 1);
    return before < count;
  };
}
