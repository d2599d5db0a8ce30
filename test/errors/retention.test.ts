// After 90 days events are gone with their partition; groups, their counts stay, and nothing dangles.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createErrorsState } from '../../src/modules/errors/state.ts';
import { errorsSweeps } from '../../src/modules/errors/sweeps.ts';
import { ErrorsBench } from './harness.ts';

const DAY = 86_400;
let bench: ErrorsBench;
beforeAll(async () => {
  bench = await ErrorsBench.start({ isFresh: true });
});
afterAll(() => bench.service.stop());

/** Runs the background work of the module until there is nothing left to do. */
async function sweep(): Promise<void> {
  const { signal } = new AbortController();
  for (const { run } of errorsSweeps(createErrorsState(bench.service.core))) while (await run(signal));
}

const partitions = (which = 'true') =>
  bench.number(`SELECT count(*)::int AS number FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                 WHERE i.inhparent = 'errors.event'::regclass AND ${which}`);

test('events end with their day, the group survives them', async () => {
  const old = await bench.capture({ fingerprint: 'f', user_id: 'u', tags: { a: 'b' }, environment: 'staging' });
  await bench.service.advance(30 * DAY);
  const young = await bench.capture({ fingerprint: 'f', user_id: 'v' });
  const lonely = await bench.capture({ fingerprint: 'lonely' });
  await bench.change('resolve', lonely.error_group_id);
  const reopening = await bench.capture({ fingerprint: 'lonely' });
  const reopened = async () => (await bench.detail(lonely.error_group_id)).activity_log[0];
  expect(await reopened()).toMatchObject({ type: 'reopened', event_id: reopening.event_id });
  await bench.service.advance(61 * DAY);
  // Over by the clock, before any background work.
  expect((await bench.fails('GET', `/v1/errors/get/${old.event_id}`)).code).toBe('EVENT_NOT_FOUND');
  expect(await bench.list()).toMatchObject({ total: 3, has_more: false });
  expect(await bench.events(old.error_group_id)).toMatchObject({ total: 1, items: [{ previous_event_id: null }] });
  expect((await bench.get(young.event_id)).previous_event_id).toBeNull();
  const before = await partitions();
  expect(
    await partitions(`right(c.relname, 8) < to_char(core.clock_now() - interval '90 days', 'YYYYMMDD')`),
  ).toBeGreaterThan(0);
  await sweep();
  expect(await bench.number('SELECT count(*)::int AS number FROM errors.event')).toBe(3);
  expect(await partitions()).toBeLessThan(before);
  const detail = await bench.detail(old.error_group_id);
  expect(detail).toMatchObject({
    count: 2,
    user_count: 2,
    sample_event_id: young.event_id,
    user_distribution: { u: 1, v: 1 },
    tag_distribution: { 'a:b': 1 },
    environments: ['staging'],
    trend_24h: { current: 0, previous: 0, change_pct: null },
  });
  await bench.service.advance(31 * DAY);
  await sweep();
  expect(await bench.number('SELECT count(*)::int AS number FROM errors.event')).toBe(0);
  expect(await bench.number('SELECT count(*)::int AS number FROM errors.event_detail')).toBe(0);
  expect(await bench.number('SELECT count(*)::int AS number FROM errors.day_count')).toBe(0);
  expect(await partitions(`right(c.relname, 8) < to_char(core.clock_now() - interval '90 days', 'YYYYMMDD')`)).toBe(0);
  expect(await reopened()).toMatchObject({ type: 'reopened', event_id: null });
  for (const id of [old.error_group_id, lonely.error_group_id]) {
    expect(await bench.detail(id)).toMatchObject({ sample_event_id: null, representative_event: null });
    expect(await bench.events(id)).toMatchObject({ items: [], total: 0, next_cursor: null });
  }
  expect(await bench.groups()).toMatchObject({ total: 2, groups: [{ count: 2 }, { count: 2 }] });
  expect(await bench.search('f')).toMatchObject({ items: [], total: 0 });
});

test('the next event of an old group joins it', async () => {
  const again = await bench.capture({ fingerprint: 'lonely' });
  expect(again.is_new_group).toBe(false);
  expect(await bench.detail(again.error_group_id)).toMatchObject({ count: 3, sample_event_id: again.event_id });
});

test('an event of a day without a partition makes one', async () => {
  await bench.service.advance(1_000 * DAY);
  const { event_id } = await bench.capture({ message: 'much later' });
  expect((await bench.get(event_id)).title).toBe('much later');
});

test('an old partition is not dropped while a reader holds it, and captures go on', async () => {
  await sweep();
  const { db } = bench.service.core;
  await bench.service.advance(100 * DAY);
  await db.transaction(async (tx) => {
    await tx.query({ name: '', text: 'SELECT count(*) FROM errors.event' }, []);
    const dropping = sweep().catch((error: { code?: string }) => error.code);
    // The reader stays until this is answered.
    await bench.capture({ message: 'meanwhile' });
    expect(await dropping).toBe('55P03');
  });
  await sweep();
});
