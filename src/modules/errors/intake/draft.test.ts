import { expect, test } from 'vitest';
import { type StackFrame, trimBreadcrumbs, trimContext, trimFrames, trimTags } from './draft.ts';

const frame = (line: number): StackFrame => ({
  func: 'f',
  file: 'a.ts',
  line,
  col: null,
  in_app: true,
  context_pre: null,
  context_line: null,
  context_post: null,
  vars: null,
});
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

test('250 frames stay; of more, the middle gives way to a mark', () => {
  expect(trimFrames(numbers(250), frame)).toHaveLength(250);
  const trimmed = trimFrames(numbers(1_000), frame);
  expect(trimmed).toHaveLength(250);
  expect(trimmed.filter(({ func }) => func === '(751 frames omitted)')).toHaveLength(1);
  expect(trimmed.map(({ line }) => line)).toEqual([...numbers(125), 0, ...numbers(124).map((i) => 876 + i)]);
});

test('five lines on each side, those nearest to the frame', () => {
  const lines = numbers(8).map(String);
  expect(trimContext(lines, 'pre')).toEqual(['3', '4', '5', '6', '7']);
  expect(trimContext(lines, 'post')).toEqual(['0', '1', '2', '3', '4']);
  expect(trimContext(null, 'pre')).toBeNull();
});

test('the latest 100 breadcrumbs and the first 100 tags', () => {
  expect(trimBreadcrumbs(numbers(101))).toEqual(numbers(101).slice(1));
  const tags = Object.fromEntries(numbers(101).map((i) => [`t${i}`, 'v']));
  expect(Object.keys(trimTags(tags))).toEqual(numbers(100).map((i) => `t${i}`));
});
