import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type DomainBench, type Owner, publish, recordOf, startDomainBench } from './domain-harness.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
let bench: DomainBench;
let owner: Owner;

beforeAll(async () => {
  bench = await startDomainBench({ EMAIL_BOUNCE_DOMAIN: 'bounces.service.test' });
});
beforeEach(async () => {
  bench.names.clear();
  bench.names.set('TXT', 'bounces.service.test', 'v=spf1 ip4:192.0.2.1 -all');
  bench.names.set('MX', 'bounces.service.test', '10 mail.service.test');
  owner = await bench.account();
});
afterAll(() => bench.stop());

/** Looks of the background that have not ended. */
async function looksRunning(): Promise<number> {
  const text = await (await fetch(`${bench.test.url}/metrics`)).text();
  return Number(/^qm_jobs_running\{jobs="email\.domains"\} (\d+)$/m.exec(text)?.[1]);
}

/** Moves the clock on, and waits for the look that is due then. */
async function lookAfter(seconds: number, domain: string) {
  const before = await owner.get(domain);
  await bench.test.advance(seconds);
  await expect.poll(async () => (await owner.get(domain)).checked_at).not.toBe(before.checked_at);
  return owner.get(domain);
}

test('with a bounce domain its SPF and MX are required too', async () => {
  const added = await owner.verify('acme.test');
  expect(added.records.map(({ purpose, required, status }: never) => [purpose, required, status])).toEqual([
    ['dkim', true, 'missing'],
    ['spf', true, 'ok'],
    ['mx', true, 'ok'],
    ['dmarc', false, 'missing'],
    ['inbound', false, 'missing'],
  ]);
  publish(bench.names, added, 'dkim');
  bench.names.set('MX', 'bounces.service.test', '0 .');
  const lacking = await owner.verify('acme.test');
  expect([lacking.status, recordOf(lacking, 'mx').status]).toEqual(['pending', 'mismatch']);
  bench.names.set('MX', 'bounces.service.test', '10 mail.service.test');
  bench.names.set('TXT', 'bounces.service.test', 'some other text');
  expect((await owner.verify('acme.test')).status).toBe('pending');
  bench.names.set('TXT', 'bounces.service.test', 'v=spf1 mx -all');
  expect((await owner.verify('acme.test')).status).toBe('verified');
});

test('a pending domain is looked at again after ten minutes, and verified without a call', async () => {
  const added = await owner.verify('later.test');
  const pending = await lookAfter(601, 'later.test');
  expect(pending.status).toBe('pending');
  publish(bench.names, added, 'dkim');
  expect((await lookAfter(601, 'later.test')).status).toBe('verified');
});

test('after three days without its DKIM record a domain has failed; a call begins anew, and the record mends it', async () => {
  const added = await owner.verify('never.test');
  expect((await lookAfter(3 * DAY - HOUR, 'never.test')).status).toBe('pending');
  expect((await lookAfter(2 * HOUR, 'never.test')).status).toBe('failed');
  expect((await owner.verify('never.test')).status).toBe('pending');
  expect((await lookAfter(3 * DAY + HOUR, 'never.test')).status).toBe('failed');
  publish(bench.names, added, 'dkim');
  expect((await lookAfter(DAY + 1, 'never.test')).status).toBe('verified');
});

test('a verified domain whose record vanishes stays verified for three days', async () => {
  const { name, value } = recordOf(await owner.verify('lost.test'), 'dkim');
  bench.names.set('TXT', name, value);
  expect((await owner.verify('lost.test')).status).toBe('verified');
  bench.names.set('TXT', name);
  const lacking = await lookAfter(DAY + 1, 'lost.test');
  expect([lacking.status, recordOf(lacking, 'dkim').status]).toEqual(['verified', 'missing']);
  // Back in time, it counts from the beginning the next time.
  bench.names.set('TXT', name, value);
  expect((await lookAfter(2 * DAY, 'lost.test')).status).toBe('verified');
  bench.names.set('TXT', name);
  expect((await lookAfter(DAY + 1, 'lost.test')).status).toBe('verified');
  expect((await lookAfter(3 * DAY - HOUR, 'lost.test')).status).toBe('verified');
  expect((await lookAfter(2 * HOUR, 'lost.test')).status).toBe('failed');
});

test('a look of the background changes nothing once a call has looked, or deleted the domain', async () => {
  const [race, brief] = [await owner.verify('race.test'), await owner.verify('brief.test')].map((each) =>
    recordOf(each, 'dkim'),
  );
  if (race === undefined || brief === undefined) throw new Error('no records');
  for (const { name } of [race, brief]) bench.names.misbehave(name, 'silence');
  const asked = bench.names.asked.length;
  await bench.test.advance(601);
  for (const { name } of [race, brief])
    await expect.poll(() => bench.names.asked.slice(asked)).toContain(`TXT ${name}`);
  expect(await looksRunning()).toBeGreaterThan(0);
  for (const { name } of [race, brief]) bench.names.misbehave(name, null);
  bench.names.set('TXT', race.name, race.value);
  expect((await owner.verify('race.test')).status).toBe('verified');
  bench.names.set('TXT', race.name);
  await owner.call('DELETE', '/v1/email/domain/delete/brief.test');
  // The questions of the background are put again after 1.5 s, and answered now.
  await expect.poll(looksRunning).toBe(0);
  expect((await owner.get('race.test')).status).toBe('verified');
  expect((await owner.call('GET', '/v1/email/domain/get/brief.test')).status).toBe(404);
});
