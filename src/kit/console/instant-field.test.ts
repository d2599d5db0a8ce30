import { expect, test } from 'vitest';
import { instantField, instantOf, secondsUntil } from './instant-field.ts';
import type { Visit } from './visit.ts';

const visit = {
  preferences: { zone: 'Europe/Berlin' },
  nowMs: Date.parse('2026-11-24T14:00:00Z'),
  refused: null,
  draft: null,
} as unknown as Visit;
const sent = (fields: Record<string, string>) => instantOf(new URLSearchParams(fields), 'at', visit);

test('it is picked by the clock of the reader, whose zone stands beside it', () => {
  const { text } = instantField(visit, 'save', { name: 'at', label: 'At', value: '2026-11-24T14:30:07.123Z' });
  expect(text).toContain('type="datetime-local"');
  expect(text).toContain('value="2026-11-24T15:30"');
  expect(text).toContain('Europe/Berlin');
});

test.each<[Record<string, string>, string | undefined]>([
  [{ at: '' }, undefined],
  [{}, undefined],
  [{ at: '2026-11-24T15:30' }, '2026-11-24T14:30:00.000Z'],
  // Browsers send seconds that are not zero.
  [{ at: '2026-11-24T15:30:00' }, '2026-11-24T14:30:00.000Z'],
  [{ at: '2026-07-24T15:30' }, '2026-07-24T13:30:00.000Z'],
  [{ at: '2026-11-24T14:30:07Z' }, '2026-11-24T14:30:07Z'],
  [{ at: 'tomorrow' }, 'tomorrow'],
  [{ at: '2026-11-24T15:30', at_as_it_was: '2026-11-24T14:30:07.123Z' }, '2026-11-24T14:30:07.123Z'],
  [{ at: '2026-11-24T15:31', at_as_it_was: '2026-11-24T14:30:07.123Z' }, '2026-11-24T14:31:00.000Z'],
  [{ at: '2026-11-24T15:31', at_as_it_was: 'x' }, '2026-11-24T14:31:00.000Z'],
])('%j is %s', (fields, instant) => {
  expect(sent(fields)).toBe(instant);
});

test('how long until then, in whole seconds', () => {
  const until = (at: string) => secondsUntil(new URLSearchParams({ at }), 'at', visit);
  expect([until('2026-11-24T15:01'), until(''), until('soon')]).toEqual([60, undefined, 'soon']);
});
