// Processes are killed while they hand messages over. No message reaches the carrier twice; one that may have reached it is charged and told as
// unknown; one that surely has not is sent by another process; and in the end nothing is held for nobody.
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { eventually } from '../cron/harness.ts';
import { createPlace, type ServiceProcess, startProcess } from '../support/process.ts';
import { SECRETS_KEY } from '../support/service.ts';
import { SECRET, SmsBench, vendorsFile } from './harness.ts';
import { ACCOUNT_SID } from './twilio-double.ts';

/** How long the lease of a step lasts. */
const LEASE_SECONDS = 125;
let folder: string;
let bench: Awaited<ReturnType<typeof SmsBench.start>>;
let killed: ServiceProcess;
/** What the carrier got, by the text. */
const got = new Map<string, number>();
/** A message with one of these texts is taken, and the process is killed before it hears so. */
let onMessage: (body: string) => 'answer' | 'silence' = () => 'answer';

const carrier = createServer(async (request, reply) => {
  const body = new URLSearchParams(await text(request)).get('Body') ?? '';
  got.set(body, (got.get(body) ?? 0) + 1);
  if (onMessage(body) === 'silence') return;
  reply.writeHead(201, { 'content-type': 'application/json' }).end(`{"sid":"SM${got.size}"}`);
});

beforeAll(async () => {
  carrier.listen(0, '127.0.0.1');
  await once(carrier, 'listening');
  folder = await mkdtemp(join(tmpdir(), 'qm-sms-kill-'));
  const url = `http://127.0.0.1:${(carrier.address() as AddressInfo).port}`;
  const entry = { id: 'carrier', adapter: 'twilio', base_url: url, account_sid: ACCOUNT_SID, auth_token: SECRET };
  const file = await vendorsFile(folder, [{ ...entry, from: '+12025550100', price: 0.01, markup_pct: 0 }]);
  bench = await SmsBench.start({ env: { VENDORS_FILE: file } });
  const env = {
    DATABASE_URL: bench.service.database.url,
    TEST_CLOCK: 'on',
    SECRETS_KEY,
    VENDORS_FILE: file,
    ROLES: 'web,render',
  };
  killed = await startProcess(await createPlace(env));
});
afterAll(async () => {
  await killed.place.remove();
  await bench.stop();
  carrier.closeAllConnections();
  carrier.close();
  await rm(folder, { recursive: true });
});

/** A call of the process that will be killed; null when its connection broke. */
async function send(body: string, key: string): Promise<number | null> {
  const headers = {
    authorization: `Bearer ${bench.secret}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const sent = fetch(`${killed.url}/v1/sms/send`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ to: '+12025550123', text: body }),
  });
  return sent.then(({ status }) => status).catch(() => null);
}

const found = async (body: string) =>
  (await bench.ok('GET', '/v1/sms/list?limit=100')).items.find((sms: { text: string }) => sms.text === body);
const findings = async () => {
  const { db, secrets } = bench.service.core;
  return (await examine({ db, secrets, modules })).findings;
};

test('killed behind the hand-over: charged, unknown, and never sent again', async () => {
  onMessage = () => 'silence';
  const calls = Promise.all(Array.from({ length: 5 }, (_, n) => send(`lost ${n}`, `lost-${n}`)));
  await eventually(async () => got.size === 5, 20_000);
  await killed.end('SIGKILL');
  expect(await calls).toEqual([null, null, null, null, null]);
  expect(await found('lost 0')).toMatchObject({ status: 'queued', cost_usd: 0 });
  onMessage = () => 'answer';
  await bench.service.advance(LEASE_SECONDS);
  for (let n = 0; n < 5; n += 1) {
    const { sms_id: id } = await found(`lost ${n}`);
    expect(await bench.reached(id, 'sent', 30_000)).toMatchObject({ detail: 'outcome_unknown', cost_usd: 0.01 });
    expect(await bench.told(id, 2)).toEqual(['sms.queued', 'sms.sent']);
  }
  // The same call answers what became of it.
  const again = await bench.call(
    'POST',
    '/v1/sms/send',
    { to: '+12025550123', text: 'lost 0' },
    { 'idempotency-key': 'lost-0' },
  );
  expect(again.body).toMatchObject({ data: { detail: 'outcome_unknown' }, metadata: { idempotent_replay: true } });
  expect([...got.values()]).toEqual([1, 1, 1, 1, 1]);
  expect(await findings()).toEqual([]);
});

test('killed before the mark: sent by another process, once', async () => {
  // What a process leaves that dies between its first two commits.
  const { core } = bench.service;
  onMessage = () => 'silence';
  const call = bench.call('POST', '/v1/sms/send', { to: '+12025550123', text: 'unmarked' });
  await eventually(async () => got.has('unmarked'), 20_000);
  await core.db.query(
    {
      name: 'test_sms_unmark',
      text: `UPDATE sms.message SET sending = false, attempt = attempt + 1, due_at = core.clock_now() WHERE account_id = $1 AND text = 'unmarked'`,
    },
    [bench.accountId],
  );
  got.delete('unmarked');
  onMessage = () => 'answer';
  await bench.service.advance(LEASE_SECONDS);
  const { sms_id: id } = await found('unmarked');
  expect(await bench.reached(id, 'sent', 40_000)).toMatchObject({ detail: null, cost_usd: 0.01 });
  expect(got.get('unmarked')).toBe(1);
  // The first process comes back late, and changes nothing.
  expect((await call).status).toBe(504);
  expect(await bench.get(id)).toMatchObject({ status: 'sent', detail: null });
  expect(await findings()).toEqual([]);
});

test('killed again and again under load: each message once at most, and the money agrees', async () => {
  let sent = 0;
  const before = await bench.balance();
  for (let round = 0; round < 4; round += 1) {
    killed = await startProcess(killed.place);
    let isOver = false;
    const load = Array.from({ length: 6 }, async () => {
      while (!isOver) {
        sent += 1;
        await send(`load ${sent}`, `load-${sent}`);
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 700 + 150 * round));
    isOver = true;
    await killed.end('SIGKILL');
    await Promise.all(load);
  }
  await bench.service.advance(LEASE_SECONDS);
  await eventually(async () => (await bench.ok('GET', '/v1/sms/list?status=queued')).items.length === 0, 40_000);
  const loads = [...got].filter(([body]) => body.startsWith('load '));
  expect(loads.length).toBeGreaterThan(20);
  expect(loads.filter(([, times]) => times > 1)).toEqual([]);
  expect(await findings()).toEqual([]);
  // Whatever the carrier got is charged; besides, at most what was marked and never left.
  const charged = Math.round((before - (await bench.balance())) / 0.01);
  expect(charged).toBeGreaterThanOrEqual(loads.length);
  expect(charged).toBeLessThanOrEqual(sent);
}, 180_000);
