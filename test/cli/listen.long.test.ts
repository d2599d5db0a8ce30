// `qm events listen`: events of the account at a receiver of one's own, signed as webhooks are, each once, over the death of the service.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendEvents } from '../../src/core/events/outbox.ts';
import { Database } from '../../src/db/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createPlace, type Place, type ServiceProcess, startProcess } from '../support/process.ts';
import { createQmHome, type QmHome } from '../support/qm.ts';
import { type Client, client } from '../support/service.ts';

interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

let database: TestDatabase;
let db: Database;
let place: Place;
let service: ServiceProcess;
let call: Client;
let accountId: string;
let receiver: Server;
let home: QmHome;
const received: Received[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = new Database({ connection: database.connection, connections: 1, hotConnections: 1 });
  place = await createPlace({ DATABASE_URL: database.url });
  service = await startProcess(place);
  call = client(place.url, place.operatorKey());
  accountId = (await call('GET', '/v1/account/get')).body.data.account_id;
  receiver = createServer(async (req, res) => {
    received.push({ headers: req.headers as Record<string, string>, body: (await req.toArray()).join('') });
    res.writeHead(received.length === 1 ? 500 : 204).end();
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  home = createQmHome({ QM_URL: place.url, QM_KEY: place.operatorKey() });
});
afterAll(async () => {
  await home?.remove();
  receiver?.close();
  await place?.remove();
  await db?.end();
  await database?.drop();
});

/** Of two types, the second one in between. */
function tell(from: number, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, i) => [
    { accountId, type: 'queue.dlq', data: { object: { n: from + i } }, requestId: null },
    { accountId, type: 'account.key_revoked', data: { object: {} }, requestId: null },
  ]);
  return db.transaction(async (tx) => sendEvents(tx, events.flat(), Date.now()));
}

const numbers = () => received.map(({ body }) => JSON.parse(body).data.object.n);

test('forwards each event once and in order, signed as a webhook, also those of the time when the service was dead', async () => {
  await tell(-1, 1);
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const listening = home.start(['events', 'listen', '--types', 'queue.dlq', '--forward', target]);
  await expect.poll(listening.stderr).toContain('Signing secret: ');
  await tell(0, 2);
  await expect.poll(() => received.length).toBe(2);

  const secret = /whsec_\S+/.exec(listening.stderr())?.[0] ?? '';
  for (const { headers, body } of received) new Webhook(secret).verify(body, headers);
  expect(received[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'user-agent': 'Quartermaster-Webhooks/1',
  });
  const { body } = await call('GET', '/v1/account/events/list?type=queue.dlq&limit=2');
  expect(received.map((each) => JSON.parse(each.body))).toEqual(body.data.items.toReversed());
  await expect.poll(listening.stderr).toMatch(/evt_\w+ -> 500 in \d+ ms\n {2}evt_\w+ -> 204 in \d+ ms/);

  await service.end('SIGKILL');
  await expect.poll(listening.stderr).toContain('trying again');
  await tell(2, 120);
  service = await startProcess(place);
  await expect.poll(() => received.length).toBe(122);
  await tell(122, 1);
  await expect.poll(() => received.length).toBe(123);
  expect(numbers()).toEqual(Array.from({ length: 123 }, (_, n) => n));
  expect(listening.stdout().match(/queue\.dlq/g)).toHaveLength(123);
  expect(listening.stdout()).not.toContain('account.key_revoked');
  expect(listening.stderr()).toContain(`connected to ${place.url} again`);
  listening.child.kill('SIGINT');
  await listening.ended;
});

test('a given secret signs and is not printed; a wrong one, and an unknown type, are refused before anything is asked', async () => {
  received.length = 0;
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const listening = home.start(['events', 'listen', '--json', '--forward', target], { WEBHOOK_SECRET: secret });
  await expect.poll(listening.stderr).toContain('Listening');
  await tell(0, 1);
  await expect.poll(() => received.length).toBe(2);
  for (const { headers, body } of received) new Webhook(secret).verify(body, headers);
  expect(listening.stdout().split('\n', 1)[0]).toBe(received[0]?.body);
  expect(listening.stdout() + listening.stderr()).not.toContain(secret);
  const [wrong, unknown] = await Promise.all([
    home.run(['events', 'listen', '--forward', target, '--secret', 'topsecret']),
    home.run(['events', 'listen', '--types', 'queue.dql']),
  ]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.not.stringContaining('topsecret') });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('Did you mean queue.dlq?') });
});
