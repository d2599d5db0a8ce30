// Values as people read them: no amount is shown as nothing, no field or file has an exponent.
import { expect, test } from 'vitest';
import { csv } from './csv.ts';
import {
  ago,
  count,
  countOf,
  durationText,
  money,
  moneyText,
  payload,
  plainNumber,
  roughMoney,
  shareText,
  sizeText,
  time,
} from './text.ts';
import type { Visit } from './visit.ts';

const textOf = (usd: number) => roughMoney(usd).text.replaceAll(/<[^>]+>/g, '');

test.each([
  [0, '0.00'],
  [-0, '0.00'],
  [5, '5.00'],
  [0.5, '0.50'],
  [0.00002, '0.00002'],
  [1e-9, '0.000000001'],
  [0.1 + 0.2, '0.30'],
  [-0.00002, '-0.00002'],
  [-12.5, '-12.50'],
  [1_234_567.891, '1,234,567.891'],
  [9_007_199.25474099, '9,007,199.25474099'],
])('money has all digits that it has: %d', (usd, text) => {
  expect(moneyText(usd)).toBe(text);
});

test.each([
  [0, '$0.00'],
  [1e-9 / 7, '$0.000000000143'],
  [0.00002, '$0.00002'],
  [0.0000123456, '$0.0000123'],
  [0.123456, '$0.123'],
  [-0.123456, '-$0.123'],
  [12.3456, '$12.35'],
  [123_456.789, '$123,456.79'],
])('a rate has the three digits that count, and at least cents: %d', (usd, text) => {
  expect(textOf(usd)).toBe(text);
});

test.each([
  [0, '$0.00', null],
  [26.939694381, '$26.94', '$26.939694381'],
  [-1_234.5, '-$1,234.50', null],
  [0.00002, '$0.00002', null],
  [0.0000123456, '$0.0000123', '$0.000012346'],
  [0.004999, '$0.005', '$0.004999'],
])('an amount for people has cents, and its exact one for who asks: %d', (usd, shown, exact) => {
  const rest = exact === null ? '' : `<span class="unseen"> (exactly ${exact})</span>`;
  const title = exact === null ? '' : ` title="${exact}"`;
  expect(money(usd).text).toBe(`<span class="number-value"${title}>${shown}${rest}</span>`);
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1_023, '1,023 bytes'],
  [1_024, '1.0 kB'],
  [1_048_575, '1.0 MB'],
  [13_002_342, '12.4 MB'],
  [3 * 1_024 ** 4, '3.0 TB'],
  [5_000 * 1_024 ** 4, '5,000.0 TB'],
])('a size is told in the unit that keeps it short: %d', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});

test.each([
  [0, '0 s'],
  [0.4, '0 s'],
  [59.9, '59 s'],
  [60, '1 min'],
  [3_599, '59 min'],
  [3_600, '1 h'],
  [2 * 86_400 - 1, '47 h'],
  [2 * 86_400, '2 days'],
  [1e9, '11,574 days'],
])('a duration is told in its largest unit, never more than it is: %d s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text);
});

test.each([
  [0, 0, '0.0 %'],
  [0, 9, '0.0 %'],
  [1, 100_000, '< 0.1 %'],
  [1, 1_000, '0.1 %'],
  [1, 3, '33.3 %'],
  [99_999, 100_000, '> 99.9 %'],
  [9, 9, '100.0 %'],
])('a share that is there is not told as none, nor a rest as nothing: %d of %d', (part, whole, text) => {
  expect(shareText(part, whole)).toBe(text);
});

test('counts have no fraction, and one is one', () => {
  expect([count(0), count(4_210), count(1e15)]).toEqual(['0', '4,210', '1,000,000,000,000,000']);
  expect([countOf(1, 'message'), countOf(0, 'message'), countOf(2, 'reply', 'replies')]).toEqual([
    ...['1 message', '0 messages', '2 replies'],
  ]);
});

test.each([
  [0, '0'],
  [-0, '0'],
  [2e-7, '0.0000002'],
  [0.1 + 0.2, '0.3'],
  [-2e-7, '-0.0000002'],
  [1e21, '1000000000000000000000'],
  [1_234.5, '1234.5'],
])('fields and files hold numbers that anything reads: %d', (value, text) => {
  expect(plainNumber(value)).toBe(text);
  expect(csv(['a'], [[value]])).toBe(`a\r\n${text}\r\n`);
});

test('what is cut says where the whole is: a file, or the call that answers it', () => {
  const long = 'x'.repeat(70_000);
  expect(payload('short', 'Text', { call: 'cron.get' }).text).not.toContain('Cut');
  expect(payload(long, 'Text', { call: 'cron.get' }).text).toContain(
    'Cut after 64 KiB of 69. <code>cron.get</code> has all of it.',
  );
  expect(payload(long, 'Text', { download: './x?as=jsonl' }).text).toContain(
    '<a href="./x?as=jsonl">Download it whole</a>',
  );
});

test.each([
  ['UTC', '2026-03-01 10:20:30 UTC', '2026-03-01 10:20:30 UTC'],
  ['Asia/Tokyo', '2026-03-01 19:20:30 GMT+9', '2026-03-01 10:20:30 UTC, 2026-03-01 19:20:30 GMT+9'],
])('every instant has both zones, to the second: %s', (zone, shown, title) => {
  const visit = { preferences: { zone }, nowMs: Date.parse('2026-03-01T10:23:30Z') } as Visit;
  const at = '2026-03-01T10:20:30.500Z';
  expect(time(visit, at).text).toBe(`<time datetime="${at}" title="2026-03-01 10:20:30 UTC">${shown}</time>`);
  expect(ago(visit, at).text).toBe(`<time datetime="${at}" title="${title}">2 min ago</time>`);
});
