import { expect, test } from 'vitest';
import { lruOf } from './lru.ts';

test('what was used last stays, and no more than so many', () => {
  const cache = lruOf<number>(3);
  for (const [n, name] of ['a', 'b', 'c'].entries()) cache.set(name, n);
  cache.get('a');
  cache.set('d', 3);
  cache.set('d', 4);
  expect([...cache.keys()].sort()).toEqual(['a', 'c', 'd']);
  expect([cache.get('a'), cache.get('d')]).toEqual([0, 4]);
});

test('what is too old is gone', async () => {
  const cache = lruOf<number>(3, { ttl: 1, ttlResolution: 0 });
  cache.set('a', 1);
  await expect.poll(() => cache.get('a')).toBeUndefined();
});

test('room for very many is taken when they come', () => {
  const begun = process.memoryUsage().heapUsed;
  const caches = Array.from({ length: 20 }, () => lruOf<number>(1_000_000));
  expect(process.memoryUsage().heapUsed - begun).toBeLessThan(20 * 1_000_000);
  expect(caches.every(({ size }) => size === 0)).toBe(true);
});
