// Messages by SMPP: a session that stays, what is submitted, what answers, silence and receipts come to, and messages of people.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pdu } from 'smpp';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { PERSON, SmsBench } from './harness.ts';
import { entryOf, OURS, SmppDouble } from './smpp-double.ts';

let carrier: SmppDouble;
let bench: Awaited<ReturnType<typeof SmsBench.start>>;
beforeAll(async () => {
  carrier = await SmppDouble.open();
  bench = await SmsBench.start({ vendors: [entryOf(carrier)] });
});
afterAll(async () => {
  await bench.stop();
  await carrier.close();
});
beforeEach(() => {
  carrier.submits.splice(0);
  carrier.answer = () => ({});
});

const bytesOf = ({ short_message: short }: Pdu) => short?.message;

test('a session is bound as transceiver, and a message submitted with a receipt asked for', async () => {
  const own = await bench.another();
  const sms = await own.send({ text: 'Hi ü€' });
  expect(sms).toMatchObject({ status: 'sent', vendor: 'carrier', from: OURS, cost_usd: 0.0042, encoding: 'gsm7' });
  expect(carrier.binds[0]).toMatchObject({ system_id: 'acme', interface_version: 0x34 });
  expect(carrier.submits).toHaveLength(1);
  expect(carrier.submits[0]).toMatchObject({
    source_addr: '12025550100',
    source_addr_ton: 1,
    source_addr_npi: 1,
    destination_addr: PERSON.slice(1),
    dest_addr_ton: 1,
    registered_delivery: 1,
    data_coding: 0,
    esm_class: 0,
    short_message: { message: 'Hi ü€' },
  });
});

test.each([
  ['12345', { source_addr: '12345', source_addr_ton: 3, source_addr_npi: 0 }],
  ['ACME', { source_addr: 'ACME', source_addr_ton: 5, source_addr_npi: 0 }],
])('sender %s goes out as its kind', async (from, fields) => {
  await bench.send({ from });
  expect(carrier.submits[0]).toMatchObject(fields);
});

test('a long text goes part by part with headers, in UCS-2 where it must', async () => {
  const text = `Ж${'ж'.repeat(99)}🙂`;
  const sms = await bench.send({ text });
  expect(sms).toMatchObject({ segments: 2, encoding: 'ucs2', cost_usd: 0.0084 });
  expect(carrier.submits).toHaveLength(2);
  const headers = carrier.submits.map(({ short_message: short }) => [...(short?.udh?.[0] ?? [])]);
  expect(headers.map(([kind, length, , total, number]) => [kind, length, total, number])).toEqual([
    [0, 3, 2, 1],
    [0, 3, 2, 2],
  ]);
  expect(headers[0]?.[2]).toBe(headers[1]?.[2]);
  expect(carrier.submits.every(({ data_coding, esm_class }) => data_coding === 8 && esm_class === 0x40)).toBe(true);
  expect(carrier.submits.map(bytesOf).join('')).toBe(text);
});

test('or whole, where the entry says so', async () => {
  const own = await SmsBench.start({ vendors: [entryOf(carrier, { long_messages: 'payload' })] });
  try {
    const text = 'a'.repeat(400);
    expect(await own.send({ text })).toMatchObject({ segments: 3 });
    const sent = carrier.submits.at(-1)?.message_payload;
    expect(typeof sent === 'string' ? sent : sent?.message).toBe(text);
  } finally {
    await own.stop();
  }
});

test('no more are unanswered at once than the window has', async () => {
  carrier.waitingMost = 0;
  carrier.answer = async () => {
    // sleeps: a slow carrier, so that all that may be unanswered at once are
    await new Promise((resolve) => setTimeout(resolve, 100));
    return {};
  };
  const sent = await Promise.all(Array.from({ length: 12 }, (_, n) => bench.send({ to: `+1202555${2_000 + n}` })));
  expect(sent.every(({ status }) => status === 'sent')).toBe(true);
  expect(carrier.waitingMost).toBe(4);
});

describe('what the carrier refuses costs nothing', () => {
  test.each([
    [0x0b, 502, 'SMS_SEND_FAILED', 'smpp_0x0b'],
    [0x0a, 502, 'SMS_SEND_FAILED', 'smpp_0x0a'],
    [0x45, 502, 'SMS_SEND_FAILED', 'smpp_0x45'],
    [0x08, 503, 'VENDOR_DOWN', 'smpp_0x08'],
  ])('status %i', async (status, http, code, detail) => {
    const own = await bench.another();
    carrier.answer = () => ({ status });
    const error = await own.refused('/v1/sms/send', { to: PERSON, text: 'Hi' });
    expect(error).toMatchObject({ status: http, code });
    if (http === 502) expect(error.code_detail).toBe(detail);
    expect(await own.balance()).toBe(5);
    const [sms] = (await own.ok('GET', '/v1/sms/list')).items;
    expect(sms).toMatchObject({ status: 'failed', error_code: detail, cost_usd: 0 });
  });

  test('a throttled one is told when to come again, and the next is not sent before', async () => {
    const own = await SmsBench.start({ vendors: [entryOf(carrier)] });
    try {
      carrier.answer = () => ({ status: 0x58 });
      const error = await own.refused('/v1/sms/send', { to: PERSON, text: 'Hi' });
      expect(error).toMatchObject({ status: 429, code: 'RATE_LIMIT_VENDOR' });
      expect(error.retry_after_ms).toBeLessThanOrEqual(2_000);
      carrier.answer = () => ({});
      expect(await own.refused('/v1/sms/send', { to: PERSON, text: 'Hi' })).toMatchObject({ status: 429 });
      expect(carrier.submits).toHaveLength(1);
    } finally {
      await own.stop();
    }
  });
});

test('a connection that ends before the answer leaves the outcome unknown: charged, and sent once', async () => {
  const own = await bench.another();
  carrier.answer = () => 'hang up';
  const sms = await own.send();
  expect(sms).toMatchObject({ status: 'sent', detail: 'outcome_unknown', cost_usd: 0.0042 });
  carrier.answer = () => ({});
  // The session is opened again, by itself.
  const next = await eventually(async () => {
    const reply = await own.call('POST', '/v1/sms/send', { to: PERSON, text: 'Again' });
    return reply.status === 200 ? reply.body.data : null;
  });
  expect(next).toMatchObject({ status: 'sent', detail: null });
  expect(carrier.submits.filter((pdu) => bytesOf(pdu) === 'Your table is ready.')).toHaveLength(1);
});

test('a long text whose second part is refused may have arrived in part: charged, and not sent again', async () => {
  const own = await bench.another();
  carrier.answer = () => (carrier.submits.length === 1 ? {} : { status: 0x45 });
  expect(await own.send({ text: 'b'.repeat(200) })).toMatchObject({
    status: 'sent',
    detail: 'outcome_unknown',
    segments: 2,
  });
  expect(carrier.submits).toHaveLength(2);
});

test('a login that is refused is told at once, and the next carrier is asked', async () => {
  const refusing = await SmppDouble.open();
  refusing.bindStatus = 0x0d;
  const vendors = [entryOf(refusing, { id: 'first', priority: 1 }), entryOf(carrier, { id: 'second', priority: 2 })];
  const own = await SmsBench.start({ vendors });
  try {
    await eventually(async () => refusing.binds.length > 0);
    const reply = await own.call('POST', '/v1/sms/send', { to: PERSON, text: 'Hi' });
    expect(reply.body.data).toMatchObject({ status: 'sent', vendor: 'second' });
    expect(JSON.stringify(reply.body.metadata.failover_info)).toContain('VENDOR_AUTH_ERROR');
    expect(await own.refused('/v1/sms/send', { to: PERSON, text: 'Hi', vendor: 'first' })).toMatchObject({
      code: 'VENDOR_AUTH_ERROR',
    });
  } finally {
    await own.stop();
    await refusing.close();
  }
});

test('a carrier that is not there is VENDOR_DOWN, and nothing is charged', async () => {
  const gone = await SmppDouble.open();
  const entry = entryOf(gone);
  await gone.close();
  const own = await SmsBench.start({ vendors: [entry] });
  try {
    expect(await own.refused('/v1/sms/send', { to: PERSON, text: 'Hi' })).toMatchObject({
      status: 503,
      code: 'VENDOR_DOWN',
    });
    expect(await own.balance()).toBe(5);
  } finally {
    await own.stop();
  }
});

test('ssmpp is under TLS, whose certificate is checked', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'qm-smpp-tls-'));
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      join(folder, 'key'),
      '-out',
      join(folder, 'cert'),
      ...subject,
    ],
    { stdio: 'ignore' },
  );
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const secure = await SmppDouble.open({ key: read('key'), cert: read('cert') });
  const own = await SmsBench.start({ vendors: [entryOf(secure, { url: `ssmpp://127.0.0.1:${secure.port}` })] });
  try {
    // Nobody has vouched for it.
    expect(await own.refused('/v1/sms/send', { to: PERSON, text: 'Hi' })).toMatchObject({ code: 'VENDOR_DOWN' });
    expect(secure.binds).toEqual([]);
  } finally {
    await own.stop();
    await secure.close();
  }
});
