// Search, histogram and fields answer what a plain look at each record says, whatever is asked, while blocks are merged in between.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { levels } from '../../src/modules/logs/records/levels.ts';
import { isSoak, randomOf, rounds, seed } from '../support/soak.ts';
import { type Filter, type LogRecord, LogsBench, Reference } from './harness.ts';
import { RandomLogs } from './random.ts';

const HOUR_MS = 3_600_000;
const QUESTIONS = isSoak ? 150 : 25;

let bench: LogsBench;
beforeAll(async () => {
  bench = await LogsBench.start();
});
afterAll(() => bench.service.stop());

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Data = any;

/** All pages, each with another limit. */
async function allOf(logs: LogsBench, filter: Filter, random: (below: number) => number, extra: object = {}) {
  const found: LogRecord[] = [];
  let cursor: string | null = null;
  do {
    const page: Data = await logs.search({
      ...filter,
      ...extra,
      limit: 1 + random(100),
      ...(cursor === null ? {} : { cursor }),
    });
    found.push(...page.items);
    expect(page.has_more).toBe(page.next_cursor !== null);
    cursor = page.next_cursor;
    if (random(10) === 0) await logs.sweep('merge');
  } while (cursor !== null);
  return found;
}

test.each(Array.from({ length: rounds(4) }, (_, i) => seed + i))(
  'as the reference (seed %i)',
  { timeout: 300_000 },
  async (from) => {
    const random = randomOf(from);
    const logs = await bench.withAccount();
    const reference = new Reference();
    const source = new RandomLogs(random, Date.now(), 30 * HOUR_MS);
    for (let call = 0; call < 40; call += 1) {
      const records = source.records(call % 8 === 0 ? 150 : 12);
      expect(await logs.ingest(records)).toEqual({ accepted: records.length, rejected: [] });
      reference.add(records);
      if (random(15) === 0) await logs.sweep('merge');
    }
    for (let i = 0; i < QUESTIONS; i += 1) {
      const filter = source.filter();
      const wanted = reference.find(filter);
      expect(await allOf(logs, filter, random), JSON.stringify(filter)).toEqual(wanted);
      if (i % 4 === 0) expect(await allOf(logs, filter, random, { order: 'oldest' })).toEqual([...wanted].reverse());
      if (i % 3 === 0) await sameCounts(logs, reference, filter, [1_800, 60, 3_600, 7][random(4)] as number);
      if (i % 10 === 0) await sameFields(logs, reference, filter);
    }
    await logs.sweep('merge');
    expect(Object.keys(await logs.blocks())).not.toEqual(['0']);
    expect(await allOf(logs, {}, random)).toEqual(reference.find({}));
  },
);

async function sameCounts(logs: LogsBench, reference: Reference, asked: Filter, seconds: number): Promise<void> {
  const toMs = Date.parse(asked.to ?? new Date(Date.now() + 60_000).toISOString());
  const from = new Date(
    Math.max(Date.parse(asked.from ?? '2000-01-01T00:00:00Z'), toMs - seconds * 1_400_000),
  ).toISOString();
  const filter = { ...asked, from, to: new Date(toMs).toISOString() };
  const answer = await logs.histogram({ ...filter, interval_seconds: seconds });
  const wanted = reference.counts(filter, seconds * 1_000);
  expect(answer.is_complete).toBe(true);
  expect(new Map(answer.buckets.map(({ at, counts }: Data) => [at, counts])), JSON.stringify(filter)).toEqual(wanted);
  expect(answer.total).toBe(reference.find(filter).length);
}

async function sameFields(logs: LogsBench, reference: Reference, { from, to }: Filter): Promise<void> {
  const period = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const records = reference.find(period);
  const counted = (names: readonly string[]) => {
    const counts = new Map<string, number>();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  };
  const { levels: byLevel, services, attributes, is_complete } = await logs.fields(period);
  const asMap = (list: Data) => new Map(list.map(({ name, records: count }: Data) => [name, count]));
  expect(is_complete).toBe(true);
  expect(byLevel).toEqual(
    Object.fromEntries(levels.map((each) => [each, records.filter(({ level }) => level === each).length])),
  );
  expect(asMap(services)).toEqual(counted(records.map(({ service }) => service)));
  expect(asMap(attributes)).toEqual(counted(records.flatMap((record) => Object.keys(record.attributes))));
}
