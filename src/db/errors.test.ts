import { expect, test } from 'vitest';
import { isConnectionError, sqlState } from './errors.ts';

test.each([
  ['EPIPE', undefined, true],
  ['ECONNRESET', undefined, true],
  ['57P01', '57P01', true],
  ['08006', '08006', true],
  ['53300', '53300', true],
  ['23505', '23505', false],
  ['40P01', '40P01', false],
])('the code %s', (code, state, lost) => {
  const error = Object.assign(new Error('failed'), { code });
  expect(sqlState(error)).toBe(state);
  expect(isConnectionError(error)).toBe(lost);
});

test.each([
  ['Connection terminated unexpectedly', true],
  ['Query read timeout', true],
  ['something else', false],
])('the message %j', (message, lost) => {
  expect(isConnectionError(new Error(message))).toBe(lost);
});

test('nothing at all is no lost connection', () => {
  expect(isConnectionError(null)).toBe(false);
  expect(sqlState(undefined)).toBeUndefined();
});
