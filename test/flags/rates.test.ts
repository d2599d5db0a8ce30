// The rate of evaluations is one of its own, and costly rules take more of it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownerOf, startFlagBench } from './harness.ts';

let bench: Awaited<ReturnType<typeof startFlagBench>>;
beforeAll(async () => {
  bench = await startFlagBench({ env: { RATE_LIMITS: 'on' } });
});
afterAll(() => bench.stop());

/** Of the bucket that the call was taken from. */
async function left(headers: Headers): Promise<readonly [string, number]> {
  const [, name = '', tokens = ''] = /^"(\w+)";r=(\d+)/.exec(headers.get('ratelimit') ?? '') ?? [];
  return [name, Number(tokens)];
}

test('evaluations take nothing of the reads', async () => {
  const owner = await ownerOf(bench.test);
  await owner.flag('a');
  const read = await left((await owner.call('GET', '/v1/flags/list')).headers);
  expect(read[0]).toBe('reads');
  const reply = await owner.call('POST', '/v1/flags/evaluate', { key: 'a' });
  const [name, tokens] = await left(reply.headers);
  expect(name).toBe('evaluations');
  expect(tokens).toBeGreaterThan(3_900);
  expect((await owner.call('GET', '/v1/flags/list')).headers.get('ratelimit-policy')).toBe('"reads";q=100;w=1');
});

test('a costly rule takes more, and what is beyond is refused in the form of OFREP', async () => {
  const owner = await ownerOf(bench.test);
  const costly = { or: Array.from({ length: 20 }, () => ({ in: [{ var: 'a' }, { var: 'b' }] })) };
  await owner.flag('costly', { targeting: { if: [costly, 'on', null] } });
  let refused = 0;
  let calls = 0;
  for (; calls < 400 && refused === 0; calls += 1) {
    const reply = await owner.ofrep('/costly');
    if (reply.status === 429) {
      refused += 1;
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(reply.body).toMatchObject({ key: 'costly', errorCode: 'GENERAL', code: 'RATE_LIMITED' });
    }
  }
  expect(refused).toBe(1);
  expect(calls).toBeGreaterThan(50);
});
