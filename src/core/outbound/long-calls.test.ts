import { expect, test } from 'vitest';
import { admission } from '../admission.ts';
import { hostOf, isLong, type LongCaller, LongCalls } from './long-calls.ts';

const bounds = { longCalls: 4_096, longCallsOfHost: 200, longCallBytesMax: 1_000 };
const caller = (accountId: string, changes: Partial<LongCaller> = {}): LongCaller => ({
  accountId,
  tier: 'standard',
  host: 'a.example',
  ...changes,
});

test.each([
  ['standard', 20],
  ['pro', 200],
  ['enterprise', 2_000],
] as const)('an account of tier %s has %i at once, to one host or to many', (tier, most) => {
  const calls = new LongCalls(admission.all);
  const [one, other] = [caller('a', { tier }), caller('a', { tier, host: 'b.example' })];
  expect(calls.reserve(one, most - 1)).toBe(most - 1);
  expect(calls.reserve(other, 9)).toBe(1);
  expect([calls.reserve(one, 1), calls.room('a', tier)]).toEqual([0, 0]);
  calls.release(one, 1);
  expect([calls.room('a', tier), calls.reserve(other, 9)]).toEqual([1, 1]);
});

test('accounts together keep a host at its bound; whoever has none there may begin one, and other hosts have room', () => {
  const calls = new LongCalls(bounds);
  for (let i = 0; i < 10; i += 1) expect(calls.reserve(caller(`a${i}`), 20)).toBe(20);
  expect(calls.reserve(caller('b'), 5)).toBe(1);
  expect(calls.reserve(caller('b'), 5)).toBe(0);
  expect(calls.reserve(caller('b', { host: 'other.example' }), 5)).toBe(5);
  expect(calls.reserve(caller('c', { host: null }), 20)).toBe(20);
});

test('when 1,000 accounts hold all that they may, a newcomer finds a place', () => {
  const calls = new LongCalls(bounds);
  for (let i = 0; i < 1_000; i += 1) calls.reserve(caller(`a${i}`, { host: `h${i}` }), 20);
  expect(calls.reserve(caller('new', { host: 'new.example' }), 1)).toBe(1);
});

test('bytes held by calls bound the next ones, and come back with their places', async () => {
  const calls = new LongCalls(bounds);
  expect(calls.reserve(caller('a'), 2)).toBe(2);
  const first = Promise.withResolvers<void>();
  const running = calls.during('a', 900, () => first.promise);
  expect([calls.reserve(caller('a'), 1), calls.room('a', 'standard')]).toEqual([0, 0]);
  first.resolve();
  await running;
  calls.release(caller('a'), 2);
  expect(calls.metrics()[0]?.value).toBe(0);
  expect(calls.reserve(caller('a'), 20)).toBe(20);
});

test('a call of 15 seconds is none of them; a host is counted without port and case', () => {
  expect([15, 16].map(isLong)).toEqual([false, true]);
  expect(['https://A.example:8443/x', 'http://a.example/y'].map(hostOf)).toEqual(['a.example', 'a.example']);
});
