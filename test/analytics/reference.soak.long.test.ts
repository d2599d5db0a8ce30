// Every question answers what a plain count in memory does: over random events, joins of people in any order, blocks before and after they
// are merged, and people who are deleted.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSoak, randomOf, rounds, seed } from '../support/soak.ts';
import { AnalyticsBench, DAY_MS } from './harness.ts';
import { type RefEvent, Reference } from './reference.ts';

let bench: AnalyticsBench;
beforeAll(async () => {
  bench = await AnalyticsBench.start();
});
afterAll(() => bench.service.stop());

const EVENTS = 300;
const CALLS = 12;
const names = ['view', 'sign_up', 'buy', 'leave'];
const day = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const from = new Date(day - 6 * DAY_MS).toISOString();
const to = new Date(day + DAY_MS).toISOString();

type Own = Awaited<ReturnType<AnalyticsBench['withAccount']>>;

test.each(Array.from({ length: rounds(3) }, (_, i) => seed + i))(
  'counts of seed %i',
  { timeout: 300_000 },
  async (of) => {
    const whole = randomOf(of);
    const random = () => whole(1_000_000) / 1_000_000;
    const pick = pickBy(random);
    const own = await bench.withAccount();
    const reference = new Reference();
    let clock = day - 6 * DAY_MS;
    const many = isSoak ? 4_000 : EVENTS;
    const step = (6 * DAY_MS) / many;
    for (let call = 0; call < CALLS; call += 1) {
      const batch: RefEvent[] = [];
      for (let i = 0; i < many / CALLS; i += 1) {
        clock += step * random();
        batch.push(eventAt(random, new Date(Math.floor(clock) + i).toISOString()));
      }
      const parts = Array.from({ length: Math.ceil(batch.length / 1_000) }, (_, i) =>
        batch.slice(i * 1_000, i * 1_000 + 1_000),
      );
      for (const part of parts) expect((await own.capture({ items: part })).accepted).toBe(part.length);
      for (const event of batch) reference.add(event);
      if (call === CALLS / 2) await own.sweep('merge');
    }
    await compare(own, reference);
    await own.sweep('merge');
    await compare(own, reference);
    for (const id of [pick(ids), pick(ids)]) {
      await own.ok('DELETE', `/v1/analytics/person/delete/${id}`);
      reference.delete(id);
    }
    await compare(own, reference);
    await own.sweep('erase');
    await compare(own, reference);
    const shown = await own.events({ from, to });
    const newest = reference.events.toSorted((a, b) => (a.timestamp < b.timestamp ? 1 : -1)).slice(0, 100);
    expect(
      shown.map(({ event, distinct_id, properties, timestamp }) => ({ event, distinct_id, properties, timestamp })),
    ).toEqual(
      newest.map(({ event, distinct_id, properties, timestamp }) => ({ event, distinct_id, properties, timestamp })),
    );
  },
);

const ids = Array.from({ length: 40 }, (_, i) => `u${i}`);
const pickBy =
  (random: () => number) =>
  <T>(list: readonly T[]) =>
    list[Math.floor(random() * list.length)] as T;

function eventAt(random: () => number, timestamp: string): RefEvent {
  const pick = pickBy(random);
  const distinct_id = pick(ids);
  const kind = random();
  if (kind < 0.03) return { event: '$identify', distinct_id, timestamp, properties: { $anon_distinct_id: pick(ids) } };
  if (kind < 0.05) return { event: '$create_alias', distinct_id, timestamp, properties: { alias: pick(ids) } };
  if (kind < 0.055) return { event: '$merge_dangerously', distinct_id, timestamp, properties: { alias: pick(ids) } };
  return {
    event: pick(names),
    distinct_id,
    timestamp,
    properties: {
      ...(random() < 0.7 ? { plan: pick(['free', 'pro', 'team']) } : {}),
      ...(random() < 0.5 ? { amount: Math.floor(random() * 100) } : {}),
      ...(random() < 0.02 ? { [`rare${Math.floor(random() * 5)}`]: pick([true, 'yes', 7]) } : {}),
    },
  };
}

async function compare(own: Own, reference: Reference): Promise<void> {
  const filters = [
    [],
    [{ field: 'plan', value: 'pro' }],
    [
      { field: 'plan', operator: 'not_equals', value: 'pro' },
      { field: 'amount', operator: 'gt', value: 50 },
    ],
    [{ field: 'rare1', operator: 'is_set' }],
  ];
  for (const filter of filters) {
    for (const math of ['total', 'uniques', 'sum', 'avg']) {
      const asked = { events: ['view', 'buy'], from, to, interval: 'day', math, property: 'amount', filter };
      const { series } = await own.ask('trends', asked);
      for (const name of asked.events) {
        const { values, total } = series.find(({ event }: { event: string }) => event === name);
        expect({ math, filter, values, total }).toEqual({ math, filter, ...reference.trend(asked, name) });
      }
    }
  }
  const broken = { events: ['view'], from, to, interval: 'day', math: 'uniques', breakdown: 'plan' };
  for (const { breakdown, values, total } of (await own.ask('trends', broken)).series) {
    expect({ values, total }).toEqual(reference.trend(broken, 'view', breakdown));
  }
  for (const window_seconds of [3_600, 86_400]) {
    const asked = { steps: [{ event: 'view' }, { event: 'sign_up' }, { event: 'buy' }], from, to, window_seconds };
    const [{ steps }] = (await own.ask('funnel', asked)).series;
    expect(steps.map(({ people }: { people: number }) => people)).toEqual(reference.funnel(asked));
  }
  const asked = { start_event: 'view', return_event: 'buy', period: 'day', periods: 7, to };
  const { cohorts } = await own.ask('retention', asked);
  expect(cohorts.map(({ people, returned }: { people: number; returned: number[] }) => [people, ...returned])).toEqual(
    reference.retention({ ...asked, from }),
  );
}
