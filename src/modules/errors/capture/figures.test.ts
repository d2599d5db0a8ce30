import { expect, test } from 'vitest';
import { type CaptureInput, figureKey, type GroupState, KIND } from './capture-types.ts';
import { FigureSums } from './figures.ts';
import { noCounts } from './period-counts.ts';

function group(): GroupState {
  return {
    groupId: 1n,
    title: 't',
    level: 'error',
    isResolved: false,
    isIgnored: false,
    count: 0,
    userCount: 0,
    tagNames: 0,
    lastSeq: 1n,
    recent: noCounts,
    hours: noCounts,
    figures: new Map(),
    toldAtMs: null,
    anomalyAtMs: null,
  };
}

function event(fields: Partial<CaptureInput>): CaptureInput {
  return {
    fingerprint: '00',
    level: 'error',
    title: 't',
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
  const sums = new FigureSums((key) => known[key] ?? 0);
  for (const fields of events) sums.addEvent(to, event(fields));
  const figures = sums.added.map(([, figure]) => figure);
  return { figures, group: to };
}

test('a user counts once, however often it happens to them, and not again when known', () => {
  const users = [{ userId: 'a' }, { userId: 'b' }, { userId: 'a' }, { userId: 'c' }];
  const { figures, group: after } = sumsOf(users, { [figureKey(KIND.user, 'c', '')]: 7 });
  expect(after.userCount).toBe(2);
  expect(figures).toEqual([
    [KIND.user, 'a', '', 2],
    [KIND.user, 'b', '', 1],
    [KIND.user, 'c', '', 1],
  ]);
});

test('the 101st value of a tag is other, those that are known go on counting', () => {
  const events = Array.from({ length: 150 }, (_, i) => ({ tags: { id: String(i) } }));
  const { figures, group: after } = sumsOf([...events, { tags: { id: '3' } }]);
  expect(figures.filter(([kind]) => kind === KIND.tag)).toHaveLength(101);
  expect(figures).toContainEqual([KIND.tag, 'id', '(other)', 50]);
  expect(figures).toContainEqual([KIND.tag, 'id', '3', 2]);
  expect(figures).toContainEqual([KIND.tagName, 'id', '', 100]);
  expect(after.tagNames).toBe(1);
});

test('the 101st tag name has no figures', () => {
  const events = Array.from({ length: 101 }, (_, i) => ({ tags: { [`n${i}`]: 'v' } }));
  const { figures, group: after } = sumsOf(events);
  expect(after.tagNames).toBe(100);
  expect(figures.filter(([, name]) => name === 'n100')).toEqual([]);
});

test('caps count what is known from before', () => {
  const known = {
    [figureKey(KIND.tagName, 'id', '')]: 100,
    [figureKey(KIND.tag, 'id', 'old')]: 5,
  };
  const { figures } = sumsOf([{ tags: { id: 'new' } }, { tags: { id: 'old' } }], known);
  expect(figures).toEqual([
    [KIND.tag, 'id', '(other)', 1],
    [KIND.tag, 'id', 'old', 1],
  ]);
});
