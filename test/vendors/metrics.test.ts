// What /metrics says of vendors: what came of calls, who is down, and what is billed to whom.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { falWire, openaiWire } from '../support/vendors/wires.ts';
import { VendorBench } from '../video/vendors-harness.ts';

let bench: VendorBench;
beforeAll(async () => {
  bench = await VendorBench.at([
    { id: 'acme', wire: openaiWire, entry: { priority: 1 } },
    { id: 'bolt', wire: falWire, entry: { priority: 2 } },
  ]);
});
afterAll(() => bench.close());

/** Values by name and labels, as they stand in the text. */
async function read(): Promise<Map<string, number>> {
  const text = await (await fetch(`${bench.service.url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('qm_vendor_'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

async function readBills(): Promise<void> {
  const { core } = bench.service;
  const sweep = core.vendors.sweeps(core.db).find(({ name }) => name === 'vendors.bills');
  await sweep?.run(new AbortController().signal);
}

test('calls are counted by what came of them, in this order: left, accepted, passed over, refused', async () => {
  bench.double('acme').script('submit', { refusal: 'auth' });
  await bench.soon((await bench.job({ duration_seconds: 2 })).job_id);
  bench.double('bolt').script('submit', { refusal: 'content' });
  await bench.soon((await bench.job()).job_id);
  bench.double('bolt').script('submit', 'reset');
  const { job_id: id } = await bench.job({ vendor: 'bolt' });
  await bench.until(() => bench.double('bolt').count('submit') === 3);
  await bench.until(async () => (await read()).has(callsOf('bolt', 'unknown')));
  const metrics = await read();
  const calls = [...metrics].filter(([name]) => name.startsWith('qm_vendor_calls_total'));
  expect(Object.fromEntries(calls)).toEqual({
    [callsOf('acme', 'vendor_auth_error')]: 1,
    [callsOf('acme', 'passed_over')]: 1,
    [callsOf('bolt', 'accepted')]: 1,
    [callsOf('bolt', 'content_refused')]: 1,
    [callsOf('bolt', 'unknown')]: 1,
  });
  await bench.ok('POST', `/v1/video/cancel/${id}`);
});

test('for how long a vendor has been down; 0 is up', async () => {
  await bench.until(async () => ((await read()).get(downOf('acme')) ?? 0) > 0);
  expect((await read()).get(downOf('bolt'))).toBe(0);
  expect([...(await read()).keys()].some((name) => name.includes('sandbox'))).toBe(false);
});

test('bills of today by cause: what was sold, and what is lost', async () => {
  bench.double('bolt').video = 'html';
  await bench.soon((await bench.job({ vendor: 'bolt', duration_seconds: 5 })).job_id);
  await readBills();
  const metrics = await read();
  expect(metrics.get('qm_vendor_bills_today{vendor="bolt",cause="sold"}')).toBe(1);
  expect(metrics.get('qm_vendor_billed_today_usd{vendor="bolt",cause="sold"}')).toBe(0.08);
  expect(metrics.get('qm_vendor_billed_today_usd{vendor="bolt",cause="unsound"}')).toBe(0.2);
});

function callsOf(vendor: string, outcome: string): string {
  return `qm_vendor_calls_total{vendor="${vendor}",capability="video.generate",outcome="${outcome}"}`;
}

function downOf(vendor: string): string {
  return `qm_vendor_down_seconds{vendor="${vendor}",capability="video.generate"}`;
}
