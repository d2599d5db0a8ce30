// A service that vendors can reach: what they say of their own accord, true or not, and what they list.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { attemptsOf } from '../../src/routing/attempts.ts';
import type { VendorDouble } from '../support/vendors/double.ts';
import { falWire, replicateWire } from '../support/vendors/wires.ts';
import { arkWire } from '../support/vendors/wires-china.ts';
import type { Data } from './harness.ts';
import { VendorBench } from './vendors-harness.ts';

let bench: VendorBench;
beforeAll(async () => {
  bench = await VendorBench.at(
    [
      { id: 'bolt', wire: falWire },
      { id: 'corp', wire: replicateWire },
      { id: 'dora', wire: arkWire },
    ],
    { BASE_URL: 'https://qm.example.com' },
  );
});
afterAll(() => bench.close());
beforeEach(() => {
  for (const double of bench.doubles.values()) {
    double.forget();
    double.endsAfterPolls = 1;
  }
});

const pathOf = (url: string | null) => new URL(url ?? '').pathname;

async function post(path: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<number> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: new Uint8Array(body),
  };
  return (await fetch(`${bench.service.url}${path}`, init)).status;
}

async function call(double: VendorDouble, path: string, options: { forged?: boolean; atMs?: number } = {}) {
  const { headers, body } = double.callback(double.jobs.at(-1) as Data, options);
  return post(path, headers, body);
}

describe.each(['bolt', 'corp', 'dora'])('a callback of %s', (vendor) => {
  test('makes the vendor be asked at once, and is not believed', async () => {
    const { id, at } = await bench.taken(vendor);
    const polls = at.polls;
    expect(at.callbackUrl).toMatch(/^https:\/\/qm\.example\.com\/v1\/vendors\/callback\/[0-9A-Za-z]{30}$/);
    // It says that the video is there; the vendor, asked, says that it is not.
    at.state = 'succeeded';
    const path = pathOf(at.callbackUrl);
    const { headers, body } = bench.double(vendor).callback(at);
    at.state = 'running';
    expect(await post(path, headers, body)).toBe(200);
    await bench.until(() => at.polls > polls);
    expect((await bench.get(id)).state).not.toBe('succeeded');
    at.state = 'succeeded';
    expect(await call(bench.double(vendor), path)).toBe(200);
    expect(await bench.until(async () => (await bench.get(id)).state === 'succeeded')).toBe(true);
    // Late ones change nothing.
    expect(await call(bench.double(vendor), path)).toBe(200);
  });
});

test.each(['bolt', 'corp'])('a forged callback of %s, and one by an unknown token, wake nobody', async (vendor) => {
  const { id, at } = await bench.taken(vendor);
  const path = pathOf(at.callbackUrl);
  expect(await call(bench.double(vendor), path, { forged: true })).toBe(404);
  expect(await call(bench.double(vendor), path, { atMs: Date.now() - 3_600_000 })).toBe(404);
  expect(await call(bench.double(vendor), `${path.slice(0, -1)}${path.endsWith('a') ? 'b' : 'a'}`)).toBe(404);
  expect((await bench.get(id)).state).toBe('queued');
  await bench.ok('POST', `/v1/video/cancel/${id}`);
});

describe('an answer that was lost', () => {
  test('is found where the vendor lists its jobs, and the video delivered', async () => {
    const before = bench.double('corp').count('submit');
    bench.double('corp').script('submit', 'lost');
    const job = await bench.soon((await bench.job({ vendor: 'corp' })).job_id);
    expect([job.state, bench.double('corp').count('submit') - before]).toEqual(['succeeded', 1]);
  });

  test('comes by the callback with the token of the attempt', async () => {
    const double = bench.double('bolt');
    const before = double.count('submit');
    double.script('submit', 'lost');
    const { job_id: id } = await bench.job({ vendor: 'bolt' });
    await bench.soon(id, async () => {
      const [attempt] = await attemptsOf(bench.service.core.db, bench.account.accountId, `video:${id}`);
      return attempt?.state === 'unknown';
    });
    const at = double.jobs.at(-1) as Data;
    at.state = 'succeeded';
    expect(await call(double, pathOf(at.callbackUrl))).toBe(200);
    expect(await bench.soon(id)).toMatchObject({ state: 'succeeded' });
    expect(double.count('submit') - before).toBe(1);
  });
});
