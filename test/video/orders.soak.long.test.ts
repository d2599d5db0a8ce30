// Cancel, delete, callback, poll and deadline, and what the vendor does meanwhile, in every order: one end a job, and the books add up.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { isSoak } from '../support/soak.ts';
import type { DoubleJob } from '../support/vendors/wire.ts';
import { openaiWire, replicateWire } from '../support/vendors/wires.ts';
import type { Data, VideoBench } from './harness.ts';
import { PER_SECOND, VendorBench } from './vendors-harness.ts';

const ACTIONS = ['cancel', 'delete', 'finish', 'fail', 'callback', 'poll'] as const;
type Action = (typeof ACTIONS)[number];

/** Before which action the deadline comes. */
const DEADLINES = [
  ['none', null],
  ['the first', 0],
  ['the second', 1],
  ['the third', 2],
] as const;
/** What a whole soak plays at both vendors: each once. */
const ROUNDS = {
  acme: isSoak ? DEADLINES : [DEADLINES[0]],
  corp: isSoak ? DEADLINES : [DEADLINES[1]],
};
const JOBS_PER_ACCOUNT = 8;

interface Course {
  readonly of: VideoBench;
  readonly id: string;
  readonly at: DoubleJob;
  readonly actions: readonly Action[];
}

let bench: VendorBench;
beforeAll(async () => {
  const model = { deadline_minutes: 1 };
  bench = await VendorBench.at(
    [
      { id: 'acme', wire: openaiWire, model },
      { id: 'corp', wire: replicateWire, model },
    ],
    { BASE_URL: 'https://qm.example.com' },
  );
});
afterAll(() => bench.close());

describe.each(['acme', 'corp'] as const)('at %s', (vendor) => {
  test.each(ROUNDS[vendor])(
    'each order of three, the deadline before %s',
    async (_, deadline) => {
      const double = bench.double(vendor);
      double.endsAfterPolls = null;
      const before = {
        jobs: double.jobs.length,
        billed: double.billedSeconds,
        books: total(await bench.books(), vendor),
      };
      const courses = await begin(vendor, orders(deadline === null && isSoak ? 3 : 2));
      const accounts = [...new Set(courses.map(({ of }) => of))];
      for (let n = 0; n < 3; n += 1) {
        if (n === deadline) await bench.service.advance(61);
        await Promise.all(courses.map((course) => act(course, course.actions[n])));
      }
      // What the vendor has not ended by now it makes.
      for (const { at } of courses) if (at.state === 'queued' || at.state === 'running') at.state = 'succeeded';
      await eventually(async () => {
        await bench.service.advance(3);
        const held = await Promise.all(accounts.map(async (of) => (await of.balance()).held));
        const books = total(await bench.books(), vendor);
        const billed = billedSeconds(double.jobs.slice(before.jobs), vendor) * PER_SECOND;
        return held.every((usd) => usd === 0) && Math.abs(books.billed - before.books.billed - billed) < 1e-9;
      });
      expect(double.jobs.length - before.jobs).toBe(courses.length);
      const paid = await Promise.all(accounts.map(async (of) => 100 - (await of.balance()).balance));
      const captured = total(await bench.books(), vendor).captured - before.books.captured;
      expect(captured).toBeCloseTo(
        paid.reduce((sum, usd) => sum + usd, 0),
        9,
      );
      for (const course of courses) await expectOneEnd(course);
      for (const of of accounts) expect(await of.findings()).toEqual([]);
    },
    120_000,
  );
});

/**
 * What is known of the bill. The first stops for nothing, the second bills what ran. A video that was made after the last look and before
 * the call that removes it is told to nobody.
 */
function billedSeconds(jobs: readonly DoubleJob[], vendor: string): number {
  const billed = jobs.filter(
    ({ state, purged, endTold }) =>
      (state === 'succeeded' && (endTold || !purged)) || (state === 'cancelled' && vendor === 'corp'),
  );
  return billed.reduce((sum, { seconds }) => sum + seconds, 0);
}

function orders(length: number): Action[][] {
  if (length === 0) return [[]];
  return orders(length - 1).flatMap((order) =>
    ACTIONS.filter((action) => !order.includes(action)).map((action) => [...order, action]),
  );
}

/** Jobs that the vendor has taken and is at work on, one for each order. */
async function begin(vendor: string, all: readonly Action[][]): Promise<Course[]> {
  const double = bench.double(vendor);
  const courses: Course[] = [];
  let of: VideoBench = bench;
  for (const [n, actions] of all.entries()) {
    if (n % JOBS_PER_ACCOUNT === 0) of = await bench.withAccount();
    const before = double.jobs.length;
    const { job_id: id } = await of.generate({ model: 'auto', vendor, duration_seconds: 1 + (n % 3) });
    await bench.until(() => double.jobs.length > before);
    const at = double.jobs[before] as DoubleJob;
    Object.assign(at, { state: 'running', started: true });
    courses.push({ of, id, at, actions });
  }
  return courses;
}

async function act({ of, id, at }: Course, action: Action | undefined): Promise<void> {
  const isLive = at.state === 'running';
  switch (action) {
    case 'cancel':
      expect([200, 404, 409]).toContain((await of.call('POST', `/v1/video/cancel/${id}`)).status);
      return;
    case 'delete':
      expect((await of.call('DELETE', `/v1/video/delete/${id}`)).status).toBe(200);
      return;
    case 'finish':
      if (isLive) at.state = 'succeeded';
      return;
    case 'fail':
      if (isLive) at.state = 'failed';
      return;
    case 'callback':
      if (at.callbackUrl !== null) await callBack(at);
      return;
    case 'poll':
      await bench.service.advance(1);
      return;
    case undefined:
  }
}

async function callBack(at: DoubleJob): Promise<void> {
  const { headers, body } = bench.double('corp').callback(at, { atMs: bench.service.core.vendors.health.nowMs });
  const url = `${bench.service.url}${new URL(at.callbackUrl ?? '').pathname}`;
  const init = { headers: { 'content-type': 'application/json', ...headers }, body: new Uint8Array(body) };
  expect((await fetch(url, { method: 'POST', ...init })).status).toBe(200);
}

async function expectOneEnd({ of, id, actions }: Course): Promise<void> {
  const ends = (await of.events()).filter(({ type, object }) => type.startsWith('video.job.') && object.job_id === id);
  expect(ends, actions.join()).toHaveLength(1);
  const reply = await of.call('GET', `/v1/video/get/${id}`);
  if (actions.includes('delete')) return expect(reply.status).toBe(404);
  const job = reply.body.data as Data;
  expect(job.state).toBe(ends[0]?.object.state);
  if (job.state === 'failed' || job.state === 'expired') expect(job.cost_usd).toBe(0);
}

function total(books: Awaited<ReturnType<VendorBench['books']>>, vendor: string) {
  const rows = Object.entries(books).filter(([name]) => name.startsWith(vendor));
  const sum = (what: 'billed' | 'captured') => rows.reduce((all, [, row]) => all + row[what], 0);
  return { billed: sum('billed'), captured: sum('captured') };
}
