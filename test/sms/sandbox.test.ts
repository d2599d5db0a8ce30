// Messages in the sandbox: what a call answers and costs, what becomes of it, and who gets none.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modules } from '../../src/modules/index.ts';
import { examine } from '../../src/upkeep/doctor.ts';
import { eventFaults } from '../support/events.ts';
import { PERSON, SmsBench } from './harness.ts';

let bench: Awaited<ReturnType<typeof SmsBench.start>>;
beforeAll(async () => {
  bench = await SmsBench.start();
});
afterAll(() => bench.stop());

const CENTS = 0.0079;

test('a message is handed over, charged by segment, and delivered by receipt', async () => {
  const own = await bench.another();
  const sms = await own.send();
  expect(sms).toMatchObject({
    status: 'sent',
    direction: 'outbound',
    to: PERSON,
    from: '+15005550006',
    vendor: 'sandbox',
    captured: true,
    segments: 1,
    encoding: 'gsm7',
    cost_usd: CENTS,
    error_code: null,
    detail: null,
  });
  expect(await own.balance()).toBeCloseTo(5 - CENTS, 9);
  expect(await own.reached(sms.sms_id, 'delivered')).toMatchObject({ ended_at: expect.any(String) });
  expect(await own.told(sms.sms_id, 3)).toEqual(['sms.queued', 'sms.sent', 'sms.delivered']);
  for (const event of await own.events()) expect(eventFaults(event)).toEqual([]);
});

test('a message that nobody named the sandbox for warns that nothing left, in the answer', async () => {
  const own = await bench.another();
  const body = { to: PERSON, text: 'Hello.' };
  const { metadata } = (await own.call('POST', '/v1/sms/send', body)).body;
  expect(metadata.warnings).toEqual([expect.stringMatching(/^Nothing left the service.*VENDORS_FILE/)]);
  const code = (await own.call('POST', '/v1/sms/verify/start', { to: PERSON })).body;
  expect(code.metadata.warnings).toEqual(metadata.warnings);
  const wanted = (await own.call('POST', '/v1/sms/send', { ...body, vendor: 'sandbox' })).body;
  expect(wanted.metadata.warnings).toBeUndefined();
});

test('a number that ends in 0000 is handed over and charged, and fails by receipt', async () => {
  const own = await bench.another();
  const sms = await own.send({ to: '+12025550000' });
  expect(sms.status).toBe('sent');
  expect(await own.reached(sms.sms_id, 'failed')).toMatchObject({ error_code: 'unreachable', cost_usd: CENTS });
  expect(await own.told(sms.sms_id, 3)).toEqual(['sms.queued', 'sms.sent', 'sms.failed']);
});

test('long texts cost each of their segments', async () => {
  const own = await bench.another();
  expect(await own.send({ text: 'a'.repeat(161) })).toMatchObject({ segments: 2, cost_usd: 2 * CENTS });
  expect(await own.send({ text: '🙂'.repeat(36) })).toMatchObject({ segments: 2, encoding: 'ucs2' });
  expect(await own.balance()).toBeCloseTo(5 - 4 * CENTS, 9);
});

test('a repeat with the same key answers the same message, and sends nothing', async () => {
  const own = await bench.another();
  const body = { to: PERSON, text: 'Once.' };
  const again = { 'idempotency-key': 'once' };
  const [first, second] = [
    await own.call('POST', '/v1/sms/send', body, again),
    await own.call('POST', '/v1/sms/send', body, again),
  ];
  expect(second.body.data).toEqual(first.body.data);
  expect(first.body.data.status).toBe('sent');
  expect((await own.ok('GET', '/v1/sms/list')).items).toHaveLength(1);
});

test('calls at once with one key send one message', async () => {
  const own = await bench.another();
  const again = { 'idempotency-key': 'at-once' };
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => own.call('POST', '/v1/sms/send', { to: PERSON, text: 'Once.' }, again)),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(replies.map(({ body }) => JSON.stringify(body.data))).size).toBe(1);
  expect(replies[0]?.body.data.status).toBe('sent');
});

test('without credit nothing is sent', async () => {
  const own = await bench.another(0.001);
  expect(await own.refused('/v1/sms/send', { to: PERSON, text: 'No.' })).toMatchObject({ status: 402 });
  expect((await own.ok('GET', '/v1/sms/list')).items).toEqual([]);
});

test.each([
  ['a number with spaces', { to: '+1 202 555 0123' }, 'to'],
  ['a number without +', { to: '12025550123' }, 'to'],
  ['a number that cannot be', { to: '+12' }, 'to'],
  ['a number too short for its country', { to: '+1202555' }, 'to'],
  ['no text', { text: '' }, 'text'],
  ['eleven segments', { text: '🙂'.repeat(340) }, 'text'],
  ['a sender that is none', { from: 'a name of many words' }, 'from'],
])('%s is refused', async (_name, over, param) => {
  const error = await bench.refused('/v1/sms/send', { to: PERSON, text: 'Hello', ...over });
  expect(error).toMatchObject({ status: 400, param });
});

describe('a person who writes STOP', () => {
  const write = (own: SmsBench, text: string, over: object = {}) =>
    own.ok('POST', '/v1/sms/sandbox/inbound', { from: PERSON, text, ...over });

  test('gets nothing from that sender until START, and everything from others', async () => {
    const own = await bench.another();
    const stop = await write(own, 'stop ');
    expect(stop).toMatchObject({ direction: 'inbound', status: 'received', from: PERSON });
    expect(await own.refused('/v1/sms/send', { to: PERSON, text: 'Hi' })).toMatchObject({
      status: 409,
      code: 'RECIPIENT_SUPPRESSED',
      param: 'to',
    });
    expect(await own.send({ from: '+15005550007' })).toMatchObject({ status: 'sent' });
    expect(await own.send({ to: '+12025550188' })).toMatchObject({ status: 'sent' });
    await write(own, 'Start');
    expect(await own.send()).toMatchObject({ status: 'sent' });
    expect(await own.told(stop.sms_id, 1)).toEqual(['sms.inbound']);
  });

  test('in the sandbox of one account still gets messages of another', async () => {
    const [own, other] = [await bench.another(), await bench.another()];
    await write(own, 'STOP');
    expect(await other.send()).toMatchObject({ status: 'sent' });
  });
});

test('more messages a minute than the tier has are refused, exactly', async () => {
  const limited = await SmsBench.start({ env: { RATE_LIMITS: 'on' } });
  try {
    const replies = await Promise.all(
      Array.from({ length: 66 }, () => limited.call('POST', '/v1/sms/send', { to: PERSON, text: 'Hi' })),
    );
    const refused = replies.filter(({ status }) => status === 429);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(60);
    expect(new Set(refused.map(({ body }) => body.error.code_detail))).toEqual(new Set(['sms_per_minute']));
    await limited.service.advance(61);
    expect(await limited.send()).toMatchObject({ status: 'sent' });
  } finally {
    await limited.stop();
  }
});

test('the operator may name the countries that messages go to', async () => {
  await expect(SmsBench.start({ env: { SMS_COUNTRIES: 'de, UK' } })).rejects.toThrow('there is no "UK"');
  const german = await SmsBench.start({ env: { SMS_COUNTRIES: 'de, AT' } });
  try {
    expect(await german.send({ to: '+4915112345678' })).toMatchObject({ status: 'sent' });
    const refused = { status: 400, param: 'to', code_detail: 'country' };
    expect(await german.refused('/v1/sms/send', { to: PERSON, text: 'Hi' })).toMatchObject(refused);
    expect(await german.refused('/v1/sms/send', { to: '+80012345678', text: 'Hi' })).toMatchObject(refused);
    expect(await german.refused('/v1/sms/verify/start', { to: PERSON })).toMatchObject(refused);
  } finally {
    await german.stop();
  }
});

test('what was charged, held and counted agrees', async () => {
  const own = await bench.another();
  await Promise.all(Array.from({ length: 20 }, (_, n) => own.send({ to: `+120255501${10 + n}` })));
  const { db, secrets } = bench.service.core;
  expect((await examine({ db, secrets, modules })).findings).toEqual([]);
});
