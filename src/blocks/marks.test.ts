import { expect, test } from 'vitest';
import { BUCKET_BYTES, Marks, markPlace, mayHold } from './marks.ts';

function asked(filter: Buffer, mark: string): boolean {
  const place = markPlace(mark);
  const at = (place.bucket % (filter.length / BUCKET_BYTES)) * BUCKET_BYTES;
  return mayHold(filter.subarray(at, at + BUCKET_BYTES), place);
}

test('a filter holds every mark that was added, and says maybe to few others', () => {
  const marks = new Marks();
  const added = Array.from({ length: 20_000 }, (_, i) => `word${i}`);
  for (const mark of added) marks.add(mark);
  const filter = marks.pack();
  expect(filter.length).toBeLessThan(20_000 * 1.3);
  expect(added.filter((mark) => !asked(filter, mark))).toEqual([]);
  const others = Array.from({ length: 20_000 }, (_, i) => `other-${i}`).filter((mark) => asked(filter, mark));
  expect(others.length / 20_000).toBeLessThan(0.03);
  expect(new Marks().pack()).toHaveLength(0);
});
