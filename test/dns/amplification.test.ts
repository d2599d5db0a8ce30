// Forged addresses: what a network gets in a second is bounded, and beyond that nothing longer than the question.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AnswerRate, networkOf } from '../../src/modules/dns/server/rate.ts';
import { type DnsBench, edns, queryOf, rcodeOf, startDnsBench } from './harness.ts';

const RATE = 50;
const QUESTIONS = 2_000;

let bench: DnsBench;

beforeAll(async () => {
  bench = await startDnsBench({ rate: RATE });
  const owner = await bench.owner();
  const values = Array.from({ length: 200 }, (_, i) => `192.0.2.${i}`);
  await owner.zone('acme.test', 'a IN A 192.0.2.1');
  await owner.data('PUT', '/v1/dns/record/set', { zone: 'acme.test', name: 'many', type: 'A', values });
  await owner.data('PUT', '/v1/dns/record/set', {
    zone: 'acme.test',
    name: 'text',
    type: 'TXT',
    values: ['x'.repeat(1_000)],
  });
  await bench.askUntil('acme.test', 'SOA', (answer) => rcodeOf(answer) === 'NOERROR');
});
afterAll(() => bench.stop());

test('no answer by UDP is longer than 1,232 bytes, or than the client takes', async () => {
  for (const [room, most] of [
    [65_535, 1_232],
    [1_232, 1_232],
    [600, 600],
    [0, 512],
  ] as const) {
    for (const [name, type] of [
      ['many', 'A'],
      ['text', 'TXT'],
      ['a', 'A'],
      ['none', 'ANY'],
    ] as const) {
      const answer = await bench.send(queryOf(`${name}.acme.test`, type, room === 0 ? {} : edns(room)));
      expect(answer?.length ?? 0, `${name} ${room}`).toBeLessThanOrEqual(most);
    }
  }
});

/** Asks from another network, whose answers count apart: what was asked before has been answered by then. */
async function answeredElsewhere(): Promise<void> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.1.1');
  await once(socket, 'listening');
  let isAnswered = false;
  socket.on('message', () => {
    isAnswered = true;
  });
  // A full queue of the server loses questions.
  await expect
    .poll(() => {
      socket.send(queryOf('acme.test', 'SOA'), bench.port, '127.0.0.1');
      return isAnswered;
    })
    .toBe(true);
  socket.close();
}

test('a flood gets its answers of a second, cut ones no longer than the question, and often nothing', async () => {
  const query = queryOf('text.acme.test', 'TXT', edns(1_232));
  const socket = createSocket('udp4');
  let whole = 0;
  let cut = 0;
  let longestCut = 0;
  socket.on('message', (answer) => {
    if ((answer.readUInt16BE(2) & 0x0200) === 0) whole += 1;
    else {
      cut += 1;
      longestCut = Math.max(longestCut, answer.length);
    }
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const startedMs = performance.now();
  for (let sent = 0; sent < QUESTIONS; sent += 1) {
    socket.send(query, bench.port, '127.0.0.1');
    if (sent % 100 === 99) await setImmediate();
  }
  await answeredElsewhere();
  const seconds = (performance.now() - startedMs) / 1_000;
  socket.close();
  expect(whole).toBeGreaterThan(0);
  expect(whole).toBeLessThanOrEqual(RATE * (seconds + 1));
  expect(longestCut).toBeLessThanOrEqual(query.length);
  expect(whole + cut).toBeLessThan(0.75 * QUESTIONS);
  // By TCP it is answered all the same.
  expect((await bench.sendTcp(queryOf('text.acme.test', 'TXT'))).length).toBeGreaterThan(1_000);
});

describe('networks', () => {
  test.each([
    ['192.0.2.77', '192.0.2'],
    ['::ffff:192.0.2.77', '192.0.2'],
    ['2001:db8:1:2ff::5', '2001:db8:1:2'],
    ['2001:db8:1:2aa:1:2:3:4', '2001:db8:1:2'],
    ['2001:db8:1:3ff::5', '2001:db8:1:3'],
    ['::1', '0:0:0:0'],
    ['2001:db8::', '2001:db8:0:0'],
  ])('%s', (address, network) => expect(networkOf(address)).toBe(network));

  test('each has a rate of its own, and fills again', () => {
    const rate = new AnswerRate(2);
    const take = (address: string, nowMs: number) => rate.take(address, nowMs);
    expect([
      take('192.0.2.1', 0),
      take('192.0.2.2', 0),
      take('192.0.2.3', 0),
      take('192.0.2.4', 0),
      take('192.0.2.5', 0),
    ]).toEqual(['answer', 'answer', 'cut', 'drop', 'cut']);
    expect(take('192.0.3.1', 0)).toBe('answer');
    expect([take('192.0.2.1', 500), take('192.0.2.1', 500)]).toEqual(['answer', 'drop']);
    expect(Array.from({ length: 9 }, () => new AnswerRate(0).take('192.0.2.1', 0))).not.toContain('drop');
  });

  test('are 50,000 at most, and are all forgotten when another one comes', () => {
    const rate = new AnswerRate(1);
    const network = (n: number) => `10.${n >> 8}.${n & 255}.1`;
    expect([rate.take('192.0.2.1', 0), rate.take('192.0.2.1', 0)]).toEqual(['answer', 'cut']);
    for (let n = 0; n < 49_999; n += 1) rate.take(network(n), 0);
    expect(rate.take('192.0.2.1', 0)).toBe('drop');
    rate.take(network(49_999), 0);
    expect(rate.take('192.0.2.1', 0)).toBe('answer');
  });
});
