import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { Traffic } from './traffic.ts';

const MIB = 1024 * 1024;
const announced = (mib: number) => ({ 'content-length': String(mib * MIB) });

test('bodies of one account never fill the service', () => {
  const traffic = new Traffic(new Registry());
  const places = Array.from({ length: 64 }, () => traffic.begin(announced(1), MIB, false));
  for (const place of places) traffic.claim(place, 'acct_a');
  const further = traffic.begin(announced(1), MIB, false);
  expect(() => traffic.claim(further, 'acct_a')).toThrow(expect.objectContaining({ code: 'CONCURRENCY_LIMITED' }));
  traffic.claim(further, 'acct_b');
  for (const place of [...places, ...places, further]) traffic.end(place);
  expect(traffic.running).toBe(0);
  for (let i = 0; i < 64; i += 1) traffic.claim(traffic.begin(announced(1), MIB, false), 'acct_a');
});

test('a chunked body counts as what it may become until it is there, then as what it is', () => {
  const traffic = new Traffic(new Registry());
  for (let i = 0; i < 1_000; i += 1) {
    const place = traffic.begin({ 'transfer-encoding': 'chunked' }, MIB, true);
    traffic.claim(place, 'acct_a');
    traffic.arrived(place, 100);
  }
  expect(traffic.running).toBe(1_000);
});

test('a body that turns out to be of another account counts for that one only', () => {
  const traffic = new Traffic(new Registry());
  for (let i = 0; i < 64; i += 1) {
    const place = traffic.begin(announced(1), MIB, false);
    traffic.claim(place, 'nobody');
    traffic.claim(place, 'acct_a');
    traffic.claim(place, 'acct_a');
  }
  const further = traffic.begin(announced(1), MIB, false);
  traffic.claim(further, 'nobody');
  expect(() => traffic.claim(further, 'acct_a')).toThrow(expect.objectContaining({ code: 'CONCURRENCY_LIMITED' }));
  traffic.end(further);
});

test('a call that ended before its account was known counts for nobody', () => {
  const traffic = new Traffic(new Registry());
  for (let i = 0; i < 100; i += 1) {
    const place = traffic.begin(announced(1), MIB, false);
    traffic.end(place);
    traffic.claim(place, 'acct_a');
  }
  expect(traffic.running).toBe(0);
  traffic.claim(traffic.begin(announced(1), MIB, false), 'acct_a');
});

test('waiting calls take no place of the others, and have a bound of their own', () => {
  const traffic = new Traffic(new Registry());
  for (let i = 0; i < 50_000; i += 1) traffic.begin({}, MIB, true);
  expect(() => traffic.begin({}, MIB, true)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  for (let i = 0; i < 20_000; i += 1) traffic.begin({}, MIB, false);
  expect(() => traffic.begin({}, MIB, false)).toThrow(expect.objectContaining({ code: 'OVERLOADED' }));
  expect(traffic.running).toBe(70_000);
});
