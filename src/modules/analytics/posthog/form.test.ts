import { expect, test } from 'vitest';
import { threadMsOf } from '../../../../test/support/thread-time.ts';
import { jsonOf } from './form.ts';

const json = '{"event":"a b+c","properties":{"text":"ü%&="}}';
const base64 = Buffer.from(json).toString('base64');

test.each([
  ['JSON', json],
  ['base64', `data=${encodeURIComponent(base64)}`],
  ['base64 whose plus is not escaped', `data=${base64}`],
  ['base64 behind its compression', `compression=base64&data=${base64}`],
  ['base64 before other fields', `data=${encodeURIComponent(base64)}&ip=1&ver=1.2`],
  ['escaped JSON', `data=${encodeURIComponent(json)}`],
  ['JSON of a form', `data=${new URLSearchParams({ data: json }).toString().slice('data='.length)}`],
])('%s', (_, body) => {
  expect(jsonOf(Buffer.from(body)).toString()).toBe(json);
});

test('broken escapes stay as they are', () => {
  expect(jsonOf(Buffer.from('data={%zz%4')).toString()).toBe('{%zz%4');
});

test('of the beginning of a form the beginning of its JSON', () => {
  const whole = Buffer.from(`data=${encodeURIComponent(base64)}`);
  for (let end = 20; end <= whole.length; end += 1) {
    // An escape that is cut may leave a wrong last byte.
    expect(Buffer.from(json).indexOf(jsonOf(whole.subarray(0, end)).subarray(0, -1))).toBe(0);
  }
});

test('time grows with the bytes, whatever they are', () => {
  for (const fill of ['a&', '+', '%41', '%', 'A']) {
    const body = Buffer.from(`data=${fill.repeat((4 * 1024 * 1024) / fill.length)}`);
    // URLSearchParams took over a minute for the first.
    expect(threadMsOf(() => jsonOf(body))).toBeLessThan(2_000);
  }
});
