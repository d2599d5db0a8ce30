// The service is killed while approved calls run and their callers repeat them: each approval has one effect and one charge.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decide } from '../../src/approvals/decide.ts';
import { clockNow } from '../../src/core/database-clock.ts';
import { Secrets } from '../../src/core/secrets/secrets.ts';
import { loadServerSecret } from '../../src/core/secrets/server-secret.ts';
import { Database } from '../../src/db/database.ts';
import { type Connection, readConnection } from '../../src/db/embedded/index.ts';
import type { Services } from '../../src/kit/services.ts';
import { createPerson } from '../../src/people/persons.ts';
import { createPlace, type Place, type ServiceProcess, startProcess, until } from '../support/process.ts';
import { type Client, client, createTestAccount } from '../support/service.ts';
import { rounds } from '../support/soak.ts';

const KILLS = rounds(4);
const CALLERS = 8;
const APPROVALS = 20 * KILLS;

let place: Place;
let service: ServiceProcess;
let db: Database;

beforeAll(async () => {
  place = await createPlace();
  service = await startProcess(place);
  db = new Database({ connection: readConnection(place.dataDir) as Connection, connections: 4, hotConnections: 1 });
});
afterAll(async () => {
  await db?.end();
  await place?.remove();
});

test(`${APPROVALS} approvals and ${KILLS} times SIGKILL`, { timeout: 300_000 }, async () => {
  const core = { db, secrets: new Secrets(await loadServerSecret({ dataDir: place.dataDir })) } as unknown as Services;
  const account = await createTestAccount(core, 100);
  const call = client(place.url, account.secret);
  const { accountId } = account;
  const personId = await db.transaction((tx) =>
    createPerson(tx, { accountId, email: 'owner@example.org', name: null, role: 'owner' }, Date.now()),
  );
  const { body } = await call('POST', '/v1/account/keys/create', { name: 'agent' });
  await call('POST', '/v1/queue/create', { name: 'orders' });
  const rule = { capabilities: ['queue.publish'], keys: [body.data.key_id] };
  expect((await call('PUT', '/v1/account/approvals/rule/asks', rule)).status).toBe(200);
  const agent = client(place.url, body.data.secret);
  const balance = async () => (await call('GET', '/v1/account/balance')).body.data.balance_usd as number;
  const before = await balance();

  const approveOne = (approvalId: string) =>
    db.transaction(async (tx) => {
      const deciding = {
        accountId,
        approvalId,
        personId,
        decision: 'approve',
        words: null,
        span: 'once',
        upToNanos: null,
      } as const;
      await decide(tx, deciding, await clockNow(tx));
    });
  let left = APPROVALS;
  let done = 0;
  const caller = async () => {
    for (;;) {
      left -= 1;
      if (left < 0) return;
      await oneCall(agent, left, approveOne);
      done += 1;
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, caller));
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await until(() => done >= (kill * APPROVALS) / (KILLS + 1));
    await service.end('SIGKILL');
    service = await startProcess(place);
  }
  await callers;
  expect((await call('GET', '/v1/queue/stats/orders')).body.data.message_count).toBe(APPROVALS);
  const price = 0.00002;
  expect(Math.round((before - (await balance())) * 1e9)).toBe(Math.round(APPROVALS * price * 1e9));
  const used = (await call('GET', '/v1/account/approvals/list?status=used&limit=100')).body.data.items;
  expect(used).toHaveLength(Math.min(100, APPROVALS));
});

/** Asks, is approved, and repeats until the call has run. */
async function oneCall(agent: Client, n: number, approveOne: (id: string) => Promise<void>): Promise<void> {
  let approved: string | null = null;
  for (;;) {
    const reply = await agent('POST', '/v1/queue/publish', { queue: 'orders', payload: { n } }).catch(() => null);
    if (reply === null || reply.status === 503) {
      await sleep(50);
      continue;
    }
    if (reply.status === 200) return;
    expect(reply.body.error.code, reply.text).toBe('APPROVAL_REQUIRED');
    const id: string = reply.body.error.approval.approval_id;
    // Its answer was lost: the approval was used up by the call, and the repeat asks for another.
    if (approved !== null && id !== approved) return;
    if (approved === null) await approveOne(id);
    approved = id;
  }
}
