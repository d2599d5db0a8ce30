import { describe, expect, test } from 'vitest';
import { nearest } from './nearest.ts';

describe('nearest', () => {
  const names = ['queue.ack', 'queue.publish', 'vector.query'];

  test('a typo finds its name first', () => {
    expect(nearest('queue.pubilsh', names, 2)[0]).toBe('queue.publish');
  });

  test('names that begin with the target come first', () => {
    expect(nearest('vector', names, 1)).toEqual(['vector.query']);
  });

  test('the last part of a name finds it', () => {
    expect(nearest('publish', names, 3)).toEqual(['queue.publish']);
  });

  test.each([
    ['queue.pblish', ['queue.publish']],
    ['vektor.querry', ['vector.query']],
    ['queue.akc', ['queue.ack']],
    ['queue.ak', ['queue.ack']],
    ['queue.kca', []],
    ['email.send', []],
    ['queue.send', []],
    ['vector.upsert', []],
    ['__proto__', []],
    ['a', []],
    ['', []],
  ])('only what is near is named: %j finds %j', (target, found) => {
    expect(nearest(target, names, 3)).toEqual(found);
  });

  test('a very long target costs no more than a short one', () => {
    expect(nearest('x'.repeat(1_000_000), names, 3)).toEqual([]);
  });
});
