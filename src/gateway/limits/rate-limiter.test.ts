import { describe, expect, test } from 'vitest';
import { tierLimits } from '../../core/callers/tiers.ts';
import { FailedLogins } from './failed-logins.ts';
import { RateLimiter } from './rate-limiter.ts';

describe('free reads', () => {
  test('a full bucket holds four seconds, and fills at the rate of the tier', () => {
    const limiter = new RateLimiter();
    const take = (nowMs: number) => limiter.take('acct', 'standard', 'reads', nowMs);
    const allowed = () => Array.from({ length: 500 }, () => take(0)).filter((grant) => grant.allowed).length;
    expect(allowed()).toBe(400);
    expect(take(0)).toMatchObject({ allowed: false, retryAfterMs: 10 });
    expect(take(10).allowed).toBe(true);
    expect(take(10).allowed).toBe(false);
    expect(Array.from({ length: 200 }, () => take(1_010)).filter((grant) => grant.allowed)).toHaveLength(100);
  });

  test('without time passing nothing is added', () => {
    const limiter = new RateLimiter();
    while (limiter.take('acct', 'standard', 'reads', 1_000).allowed);
    expect(limiter.take('acct', 'standard', 'reads', 1_000).allowed).toBe(false);
  });

  test('2,000 deletes may come at once', () => {
    const limiter = new RateLimiter();
    const take = () => limiter.take('acct', 'standard', 'deletes', 0);
    expect(Array.from({ length: 2_100 }, take).filter((grant) => grant.allowed)).toHaveLength(2_000);
  });

  test('reads and writes, and accounts, have buckets of their own', () => {
    const limiter = new RateLimiter();
    while (limiter.take('one', 'standard', 'writes', 0).allowed);
    expect(limiter.take('one', 'standard', 'reads', 0).allowed).toBe(true);
    expect(limiter.take('two', 'standard', 'writes', 0).allowed).toBe(true);
  });
});

describe('running calls', () => {
  test('as many as the tier allows; each that ends makes room for one', () => {
    const limiter = new RateLimiter();
    const { inFlightMax } = tierLimits.standard;
    const begin = () => limiter.begin('acct', 'standard');
    expect(Array.from({ length: inFlightMax }, begin)).not.toContain(false);
    expect(begin()).toBe(false);
    limiter.end('acct');
    expect([begin(), begin()]).toEqual([true, false]);
    expect(limiter.begin('other', 'standard')).toBe(true);
  });
});

describe('failed logins', () => {
  test('the 21st in a minute waits for the end of that minute', () => {
    const failures = new FailedLogins();
    expect(Array.from({ length: 20 }, () => failures.fail('10.0.0.1', 0))).toEqual(Array(20).fill(0));
    expect(failures.fail('10.0.0.1', 15_000)).toBe(45_000);
    expect(failures.fail('10.0.0.2', 15_000)).toBe(0);
    expect(failures.fail('10.0.0.1', 60_000)).toBe(0);
  });

  test.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['::ffff:10.0.0.1', '10.0.0.1', true],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.2', false],
    ['10.0.0.1', '10.0.0.2', false],
    ['a name', 'another', false],
  ])('%s and %s count as one: %s', (one, other, same) => {
    const failures = new FailedLogins();
    for (let i = 0; i < 20; i += 1) failures.fail(one, 0);
    expect(failures.fail(other, 0) > 0).toBe(same);
  });

  test('a flood of addresses keeps the memory bounded', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 30_000; i += 1) expect(failures.fail(`10.${i}`, 0)).toBe(0);
  });
});
