import { expect, test } from 'vitest';
import { Pictures } from './pictures.ts';

const MIB = 1024 * 1024;

test('an account has no more than half of the bytes of pictures, whatever its calls: another still has room', () => {
  const pictures = new Pictures(72 * MIB);
  const one = pictures.of('a');
  one.take(24 * MIB);
  pictures.of('a').take(10 * MIB);
  expect(() => pictures.of('a').take(10 * MIB)).toThrow(expect.objectContaining({ code: 'CONCURRENCY_LIMITED' }));
  const other = pictures.of('b');
  other.take(10 * MIB);
  expect(pictures.bytes).toBe(44 * MIB);
  one.release();
  one.release();
  expect(pictures.bytes).toBe(20 * MIB);
  pictures.of('a').take(10 * MIB);
});

test('where many hold all of it, who holds little is told that the service is busy', () => {
  const pictures = new Pictures(8 * MIB);
  for (let i = 0; i < 30; i += 1) {
    try {
      pictures.of(`account ${i}`).take(MIB);
    } catch (error) {
      expect(error).toMatchObject({ code: 'OVERLOADED' });
      return;
    }
  }
  expect.unreachable();
});
