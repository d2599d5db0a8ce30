import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

test('owners take turns, each in the order of what they brought', () => {
  const queue = new FairQueue<string>({ max: 100, perOwnerMax: 100 });
  for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) queue.push(item.charAt(0), item);
  const taken = [queue.shift(), queue.shift()];
  queue.push('d', 'd1');
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) taken.push(item);
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'd1', 'c2', 'a3', 'a4']);
  expect(queue.size).toBe(0);
});

test('an owner fills no more than his share, all together no more than the whole', () => {
  const queue = new FairQueue<number>({ max: 3, perOwnerMax: 2 });
  expect([queue.push('a', 1), queue.push('a', 2), queue.push('a', 3)]).toEqual([null, null, 'owner']);
  expect([queue.push('b', 1), queue.push('b', 2)]).toEqual([null, 'all']);
  queue.shift();
  expect(queue.push('b', 2)).toBe(null);
  expect(queue.size).toBe(3);
});

test('an owner that has begun goes behind those that have not, until nothing waits', () => {
  const queue = new FairQueue<string>({ max: 100, perOwnerMax: 100 });
  queue.begin('a');
  for (const item of ['a1', 'a2', 'b1']) queue.push(item.charAt(0), item);
  expect(queue.shift()).toBe('b1');
  queue.begin('b');
  queue.push('b', 'b2');
  expect(queue.shift((owner) => owner !== 'a')).toBe('b2');
  expect(queue.shift((owner) => owner !== 'a')).toBeUndefined();
  queue.delete('a', 'a1');
  queue.delete('b', 'b9');
  expect([queue.shift(), queue.size, queue.shift()]).toEqual(['a2', 0, undefined]);
  for (const item of ['a3', 'c1']) queue.push(item.charAt(0), item);
  expect([queue.shift(), queue.shift()]).toEqual(['a3', 'c1']);
});
