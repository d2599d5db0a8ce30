import { expect, test } from 'vitest';
import { eventText, fitData } from './wire.ts';

const row = {
  account_id: 'acct_anon_1',
  sequence: 7n,
  event_id: 'evt_1',
  type: 'queue.dlq',
  data: '{"object":{"big":12345678901234567890,"a":"\\u00e9"}}',
  request_id: null,
  test: false,
  created_at: Date.UTC(2026, 10, 1),
};

test('data reaches the wire as it was written', () => {
  const text = eventText(row, 'western');
  expect(text).toContain(`"data":${row.data}}`);
  expect(JSON.parse(text)).toMatchObject({
    event_id: 'evt_1',
    sequence: 7,
    timestamp: '2026-11-01T00:00:00.000Z',
    region: 'western',
    test: false,
  });
});

test('data within its limit is not touched', () => {
  expect(fitData(row.data)).toBe(row.data);
});

test.each([
  ['one long text', { object: { id: 'x', text: 'é'.repeat(50_000) } }],
  [
    'many fields',
    { object: Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field_${i}`, 'value'.repeat(50)])) },
  ],
  [
    'long lists in lists',
    { object: { list: Array.from({ length: 300 }, () => Array.from({ length: 300 }, () => 'abcdefgh')) } },
  ],
  ['split surrogates', { object: { text: '😀'.repeat(20_000) } }],
])('a whole event with %s stays within 20 KiB and says that it was cut', (_name, data) => {
  const text = eventText({ ...row, data: fitData(JSON.stringify(data)) }, 'western');
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20 * 1024);
  const event = JSON.parse(text) as { data: { truncated: boolean; object: unknown } };
  expect(event.data.truncated).toBe(true);
  expect(event.data.object).toBeTypeOf('object');
  expect(text.isWellFormed()).toBe(true);
});
