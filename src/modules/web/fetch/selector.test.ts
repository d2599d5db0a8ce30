import { expect, test } from 'vitest';
import { requireSelector } from './selector.ts';

test.each([
  '#root',
  'main',
  '*',
  ' .price ',
  'div.price#first[data-id]',
  'ul > li + li ~ li a',
  'h1, h2,h3',
  'app-root [role="main"]',
  "a[href^='/docs'] .größe",
  '[data-state=ready]',
  '-webkit',
])('%s is taken', (selector) => {
  expect(requireSelector(selector)).toBe(selector.trim());
});

test.each([
  ['', 'selector'],
  ['   ', 'selector'],
  ['a >', 'selector'],
  ['> a', 'selector'],
  ['a,,b', 'selector'],
  ['a:hover', 'selector'],
  [':has(:has(*))', 'selector'],
  ['a:not(b)', 'selector'],
  ['text=Price', 'selector'],
  ['a >> b', 'selector'],
  ['//div', 'selector'],
  ['a { color: red }', 'selector'],
  ['[a="b', 'selector'],
  ['[a="\\"]', 'selector'],
  ['#1', 'selector'],
  [Array(11).fill('a').join(' '), 'too_many'],
])('%j is refused', (selector, code) => {
  expect(() => requireSelector(selector)).toThrow(
    expect.objectContaining({ code: 'VALIDATION_FAILED', param: 'wait_for', detail: code }),
  );
});
