// Many captures at once, on one process and on two: nothing is lost, nothing counted twice, one first event.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { acceptedUnits } from '../../src/core/wallet/ledger/accepted-units.ts';
import { isSoak } from '../support/soak.ts';
import { CAPTURE_NANOS, type ErrorsBench, ErrorsPair } from './harness.ts';

let pair: ErrorsPair;
beforeAll(async () => {
  pair = await ErrorsPair.start();
});
afterAll(() => pair.stop());

test('of 200 first captures on two processes one is the first', async () => {
  const benches = await pair.both();
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, i) =>
      (benches[i % 2] as ErrorsBench).capture({ fingerprint: 'same', message: `m${i}`, user_id: `u${i % 20}` }),
    ),
  );
  expect(results.filter(({ is_new_group }) => is_new_group)).toHaveLength(1);
  const [id] = [...new Set(results.map(({ error_group_id }) => error_group_id))];
  const first = results.find(({ is_new_group }) => is_new_group);
  const detail = await benches[1].detail(id);
  expect(detail).toMatchObject({ count: 200, user_count: 20 });
  expect(detail.title).toBe((await benches[0].get(first.event_id)).title);
  expect((await benches[0].told()).map(({ type }) => type).sort()).toEqual(['error.captured', 'error.rate_anomaly']);
});

/** Of groups with few facets and of groups with many. */
function facetsOfKind(kind: number): string {
  return `SELECT (
      (SELECT coalesce(sum(events), 0) FROM errors.facet_count WHERE account_id = $account AND kind = ${kind})
    + (SELECT coalesce(sum((f->>3)::int), 0) FROM errors.error_group g, jsonb_array_elements(g.facets::jsonb) f
        WHERE g.account_id = $account AND f->>0 = '${kind}'))::int AS number`;
}

/** Captures of an account, of all at once. */
const EACH = isSoak ? 30 : 12;
/** That are there before the walks. */
const KEPT = isSoak ? 300 : 150;
const RACES = isSoak ? 25 : 8;
const BURST = isSoak ? 5_000 : 500;

test(`a burst of ${BURST} captures: events, count, hours, days, facets and money agree`, async () => {
  const [a, b] = await pair.both();
  const waiting = Array.from({ length: BURST }, (_, i) => i);
  const worker = async (bench: ErrorsBench) => {
    for (let i = waiting.pop(); i !== undefined; i = waiting.pop()) {
      const of = i % 2 === 0 ? 'hot' : `group ${i % 40}`;
      await bench.capture({
        fingerprint: of,
        user_id: `u${i % 70}`,
        tags: { n: String(i % 120) },
        environment: 'production',
      });
    }
  };
  await Promise.all(Array.from({ length: 32 }, (_, i) => worker(i % 2 === 0 ? a : b)));
  const { groups } = await a.groups({ sort: 'count_desc', limit: 100 });
  expect(groups).toHaveLength(21);
  expect(groups[0].count).toBe(BURST / 2);
  expect(groups.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(BURST);
  const numbers = [
    'SELECT count(*)::int AS number FROM errors.event WHERE account_id = $account',
    'SELECT sum(events)::int AS number FROM errors.day_count WHERE account_id = $account AND group_id > 0',
    'SELECT sum(events)::int AS number FROM errors.day_count WHERE account_id = $account AND group_id = 0',
    facetsOfKind(1),
    facetsOfKind(4),
  ];
  for (const text of numbers) expect(await a.number(text), text).toBe(BURST);
  expect((await b.list({ limit: 1 })).total).toBe(BURST);
  for (const group of groups.slice(0, 3)) {
    const detail = await b.detail(group.error_group_id);
    const sum = (facets: Record<string, number>) => Object.values(facets).reduce((total, n) => total + n, 0);
    expect(sum(detail.sparkline)).toBe(group.count);
    expect(sum(detail.user_distribution)).toBe(group.count);
    expect(sum(detail.tag_distribution)).toBe(group.count);
    expect(Object.keys(detail.user_distribution)).toHaveLength(group.user_count);
  }
  expect(await a.spentNanos()).toBe(BigInt(BURST) * CAPTURE_NANOS);
  expect(await acceptedUnits(a.service.core.db, a.account.accountId)).toEqual(
    new Map([['errors.capture', BigInt(BURST)]]),
  );
}, 120_000);

test('captures of many accounts at once on both processes do not lock each other out', async () => {
  const accounts = await Promise.all(Array.from({ length: 12 }, () => pair.both()));
  const replies = await Promise.all(
    accounts.flatMap((benches) =>
      Array.from({ length: EACH }, (_, i) =>
        (benches[i % 2] as ErrorsBench).tryCapture({
          fingerprint: `f${i % 3}`,
          user_id: `u${i % 4}`,
          tags: { a: `${i % 5}` },
        }),
      ),
    ),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  for (const [bench] of accounts) {
    const { groups } = await bench.groups();
    expect(groups.map(({ count }: { count: number }) => count)).toEqual([EACH / 3, EACH / 3, EACH / 3]);
  }
});

test('large and small events of one group at once: all are counted, none waits in vain', async () => {
  const [a, b] = await pair.both();
  const large = 'x'.repeat(300_000);
  const results = await Promise.all(
    Array.from({ length: 24 }, (_, i) =>
      (i % 2 === 0 ? a : b).capture({ fingerprint: 'same', user_id: 'u', extra: i % 3 === 0 ? { large } : {} }),
    ),
  );
  expect(results.filter(({ is_new_group }) => is_new_group)).toHaveLength(1);
  expect(await a.detail(results[0].error_group_id)).toMatchObject({ count: 24, user_count: 1 });
  expect(await a.spentNanos()).toBe(24n * CAPTURE_NANOS);
});

test('a resolution that races with a capture ends before or after it, with one entry', async () => {
  const [a, b] = await pair.both();
  for (let i = 0; i < RACES; i += 1) {
    const { error_group_id: id } = await a.capture({ fingerprint: `race ${i}` });
    await Promise.all([a.change('resolve', id), b.change('resolve', id), b.capture({ fingerprint: `race ${i}` })]);
    const detail = await a.detail(id);
    const log = detail.activity_log.map(({ type }: { type: string }) => type).reverse();
    expect(detail.count).toBe(2);
    // One resolution before the capture; two of them around it; or one after it.
    expect(['resolved', 'resolved reopened', 'resolved reopened resolved']).toContain(log.join(' '));
    expect(detail.is_resolved).toBe(log.at(-1) === 'resolved');
  }
});

interface Walked {
  /** Events, which name their group too, or groups. */
  readonly items: readonly { event_id?: string; error_group_id: string }[];
  readonly next_cursor: string | null;
}

/** Ids of all pages in order; `go` reads one. */
async function walk(go: (cursor: object) => Promise<Walked>): Promise<string[]> {
  const seen: string[] = [];
  for (let cursor: object | null = {}; cursor !== null; ) {
    const page: Walked = await go(cursor);
    seen.push(...page.items.map(({ event_id, error_group_id }) => event_id ?? error_group_id));
    cursor = page.next_cursor === null ? null : { cursor: page.next_cursor };
  }
  return seen;
}

test('walks while captures arrive: nothing twice, nothing missed that was there', async () => {
  const [a, b] = await pair.both();
  const message = (i: number) => `failure number ${i % 50}`;
  const before = await Promise.all(Array.from({ length: KEPT }, (_, i) => a.capture({ message: message(i) })));
  const eventIds = before.map(({ event_id }) => event_id);
  const groupIds = [...new Set(before.map(({ error_group_id }) => error_group_id))];
  const hot = before[0].error_group_id;
  const running = { on: true, sent: 0 };
  const sender = async (bench: ErrorsBench) => {
    while (running.on) {
      running.sent += 1;
      await bench.capture({ message: running.sent % 3 === 0 ? `new ${running.sent}` : message(running.sent) });
    }
  };
  const senders = Array.from({ length: 16 }, (_, i) => sender(i % 2 === 0 ? a : b));
  const [listed, searched, ofGroup, byFirst, byLast, byCount] = await Promise.all([
    walk((cursor) => b.list({ limit: 15, ...cursor })),
    walk((cursor) => b.search('failure number', { limit: 15, ...cursor })),
    walk((cursor) => b.events(hot, { limit: 2, ...cursor })),
    walk((cursor) => b.groups({ sort: 'first_seen_desc', limit: 3, ...cursor })),
    walk((cursor) => b.groups({ sort: 'last_seen_desc', limit: 3, ...cursor })),
    walk((cursor) => b.groups({ sort: 'count_desc', limit: 3, ...cursor })),
  ]);
  running.on = false;
  await Promise.all(senders);
  expect(running.sent).toBeGreaterThan(KEPT / 3);
  for (const seen of [listed, searched, ofGroup, byFirst, byLast, byCount])
    expect(new Set(seen).size).toBe(seen.length);
  for (const seen of [listed, searched]) expect(eventIds.filter((id) => !seen.includes(id))).toEqual([]);
  expect(before.filter(({ error_group_id: id, event_id }) => id === hot && !ofGroup.includes(event_id))).toEqual([]);
  expect(groupIds.filter((id) => !byFirst.includes(id))).toEqual([]);
});
