import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CaptureInput, type FacetCount, facetKey, type GroupState, KIND } from './capture-types.ts';
import { addFacets, FacetSums, facetsText, KnownFacets, parseFacets } from './facets.ts';
import { noCounts } from './period-counts.ts';

function group(): GroupState {
  return {
    groupId: 1n,
    title: 't',
    exceptionType: null,
    level: 'error',
    isResolved: false,
    isIgnored: false,
    count: 0,
    userCount: 0,
    tagNames: 0,
    lastSeq: 1n,
    recent: noCounts,
    hours: noCounts,
    facets: new Map(),
    toldAtMs: null,
    anomalyAtMs: null,
  };
}

function event(fields: Partial<CaptureInput>): CaptureInput {
  return {
    fingerprint: '00',
    level: 'error',
    title: 't',
    exceptionType: null,
    message: null,
    environment: null,
    release: null,
    userId: null,
    tags: {},
    occurredAtMs: null,
    detail: Buffer.from('{}'),
    words: [],
    ...fields,
  };
}

function sumsOf(events: readonly Partial<CaptureInput>[], known: Record<string, number> = {}, to = group()) {
  const sums = new FacetSums((key) => known[key] ?? 0);
  for (const fields of events) sums.addEvent(to, event(fields));
  const facets = sums.added.map(([, facet]) => facet);
  return { facets, group: to };
}

test('a user counts once, however often it happens to them, and not again when known', () => {
  const users = [{ userId: 'a' }, { userId: 'b' }, { userId: 'a' }, { userId: 'c' }];
  const { facets, group: after } = sumsOf(users, { [facetKey(KIND.user, 'c', '')]: 7 });
  expect(after.userCount).toBe(2);
  expect(facets).toEqual([
    [KIND.user, 'a', '', 2],
    [KIND.user, 'b', '', 1],
    [KIND.user, 'c', '', 1],
  ]);
});

test('the 101st value of a tag is other, those that are known go on counting', () => {
  const events = Array.from({ length: 150 }, (_, i) => ({ tags: { id: String(i) } }));
  const { facets, group: after } = sumsOf([...events, { tags: { id: '3' } }]);
  expect(facets.filter(([kind]) => kind === KIND.tag)).toHaveLength(101);
  expect(facets).toContainEqual([KIND.tag, 'id', '(other)', 50]);
  expect(facets).toContainEqual([KIND.tag, 'id', '3', 2]);
  expect(facets).toContainEqual([KIND.tagName, 'id', '', 100]);
  expect(after.tagNames).toBe(1);
});

test('the 101st tag name has no facets', () => {
  const events = Array.from({ length: 101 }, (_, i) => ({ tags: { [`n${i}`]: 'v' } }));
  const { facets, group: after } = sumsOf(events);
  expect(after.tagNames).toBe(100);
  expect(facets.filter(([, name]) => name === 'n100')).toEqual([]);
});

test('caps count what is known from before', () => {
  const known = {
    [facetKey(KIND.tagName, 'id', '')]: 100,
    [facetKey(KIND.tag, 'id', 'old')]: 5,
  };
  const { facets } = sumsOf([{ tags: { id: 'new' } }, { tags: { id: 'old' } }], known);
  expect(facets).toEqual([
    [KIND.tag, 'id', '(other)', 1],
    [KIND.tag, 'id', 'old', 1],
  ]);
});

const facet = fc.tuple(
  fc.integer({ min: 1, max: 5 }),
  fc.string({ unit: 'grapheme', maxLength: 5 }),
  fc.string({ maxLength: 3 }),
  fc.integer({ min: 1, max: 1_000_000 }),
);
const keyOf = ([kind, name, value]: FacetCount) => facetKey(kind, name, value);
const eventsByKey = (facets: readonly FacetCount[]) => {
  const sums = new Map<string, number>();
  for (const one of facets) sums.set(keyOf(one), (sums.get(keyOf(one)) ?? 0) + one[3]);
  return Object.fromEntries([...sums].sort());
};

test('what is added adds up, through the text of the row', () => {
  const distinct = fc.uniqueArray(facet, { selector: keyOf, maxLength: 12 });
  fc.assert(
    fc.property(distinct, distinct, (there, added) => {
      const text = facetsText(there);
      fc.pre(text !== null);
      const sums = addFacets(
        parseFacets(text) as Map<string, FacetCount>,
        added.map((one) => [keyOf(one), one] as const),
      );
      expect(eventsByKey([...sums.values()])).toEqual(eventsByKey([...there, ...added]));
      for (const [key, one] of sums) expect(keyOf(one)).toBe(key);
    }),
  );
});

test('a row holds a kilobyte of them', () => {
  const users = (count: number, name = 'user') =>
    Array.from({ length: count }, (_, i): FacetCount => [1, `${name}-${i}`, '', 1]);
  expect(parseFacets(facetsText(users(40)))?.size).toBe(40);
  expect(facetsText(users(60))).toBeNull();
  expect(facetsText(users(40, 'użytkowniczka'))).toBeNull();
  expect(parseFacets(null)).toBeNull();
});

test('knows what was added, by group', () => {
  const known = new KnownFacets();
  known.add('g', 'a');
  known.add('h', 'b');
  known.add('g', 'c');
  expect([...(known.of('g') ?? [])]).toEqual(['a', 'c']);
  expect(known.of('h')?.has('a')).toBe(false);
  expect(known.of('i')).toBeUndefined();
});

test('keeps groups that are asked for and forgets others', () => {
  const known = new KnownFacets();
  known.add('asked', 'a');
  known.add('quiet', 'a');
  for (let group = 0; group < 3_000; group += 1) {
    for (let facet = 0; facet < 100; facet += 1) known.add(`g${group}`, String(facet));
    expect(known.of('asked')?.has('a')).toBe(true);
  }
  expect(known.of('quiet')).toBeUndefined();
  const kept = Array.from({ length: 3_000 }, (_, group) => known.of(`g${group}`)?.size ?? 0);
  expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(100_000);
  expect(kept.at(-1)).toBe(100);
});

test('one group with ever more facets does not grow without bound', () => {
  const known = new KnownFacets();
  let most = 0;
  for (let facet = 0; facet < 200_000; facet += 1) {
    known.add('g', String(facet));
    most = Math.max(most, known.of('g')?.size ?? 0);
  }
  expect(most).toBeLessThanOrEqual(25_000);
  expect(known.of('g')?.has('199999')).toBe(true);
});
