// Deleting keeps up with writing: deletes have a rate of their own, by calls, keys and bytes.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { S3Bench } from './harness.ts';
import { send } from './wire.ts';

let bench: S3Bench;
beforeAll(async () => {
  bench = await S3Bench.start({ env: { RATE_LIMITS: 'on' } });
});
afterAll(() => bench.stop());

const listOf = (from: number, count: number) =>
  `<Delete>${Array.from({ length: count }, (_, i) => `<Object><Key>none-${from + i}</Key></Object>`).join('')}</Delete>`;

/** How many of these calls pass before one is refused; at most `most`. */
async function passed(by: S3Bench, body: string, most: number): Promise<number> {
  for (let calls = 0; calls < most; calls += 1) {
    const { code } = await send(by, { method: 'POST', path: '/box?delete', body });
    if (code === 'SlowDown') return calls;
  }
  return most;
}

test('three times as many objects as an account may make changes in a minute are deleted one by one', async () => {
  await bench.bucket('box');
  const rest = Array.from({ length: 360 }, (_, i) => i);
  const worker = async () => {
    for (let i = rest.pop(); i !== undefined; i = rest.pop()) {
      const { status } = await send(bench, { method: 'DELETE', path: `/box/none-${i}` });
      expect(status, `${i}`).toBe(204);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  const reply = await bench.rest('POST', '/v1/storage/object/delete', { bucket: 'box', keys: ['none'] });
  expect(reply.headers.get('ratelimit-policy')).toBe('"deletes";q=100;w=1');
});

test('what lists delete is counted by their keys', async () => {
  const other = await bench.withAccount();
  await other.bucket('box');
  const list = (_: unknown, i: number) => send(other, { method: 'POST', path: '/box?delete', body: listOf(i, 1_000) });
  await Promise.all(Array.from({ length: 30 }, list));
  const reply = await other.rest('POST', '/v1/storage/object/delete', { bucket: 'box', keys: ['none'] });
  const left = /^"deletes";r=(\d+)/.exec(reply.headers.get('ratelimit') ?? '')?.[1];
  // They took 1,500 of 2,000; some have come back meanwhile.
  expect(Number(left)).toBeGreaterThanOrEqual(499);
  expect(Number(left)).toBeLessThan(1_900);
});

test('what bodies weigh is taken although they are refused', async () => {
  const other = await bench.withAccount();
  await other.bucket('box');
  // 2 MiB are worth 128 calls.
  expect(await passed(other, `<Delete>${' '.repeat(2 * 2 ** 20 - 8)}`, 60)).toBeLessThan(60);
});
