import { describe, expect, it } from 'vitest';
import { parseFilter } from './filter.ts';

describe('parseFilter', () => {
  it('reads values, operators and several operators on a key', () => {
    expect(
      parseFilter({ a: 1, b: null, c: { $ne: 'x', $exists: true }, d: { $in: [1, 'y'] }, e: { $lte: 'z' } }, 'filter'),
    ).toEqual([
      { key: 'a', op: 'eq', value: 1 },
      { key: 'b', op: 'eq', value: null },
      { key: 'c', op: 'ne', value: 'x' },
      { key: 'c', op: 'exists', value: true },
      { key: 'd', op: 'in', values: [1, 'y'] },
      { key: 'e', op: 'lte', value: 'z' },
    ]);
  });

  it('takes no filter and an empty one for none', () => {
    expect(parseFilter(undefined, 'filter')).toBeNull();
    expect(parseFilter({}, 'filter')).toBeNull();
  });

  it.each([
    [{ $and: [] }, 'UNSUPPORTED_FILTER', 'filter.$and'],
    [{ a: { $eq: 1 } }, 'UNSUPPORTED_FILTER', 'filter.a.$eq'],
    [{ a: { b: 1 } }, 'UNSUPPORTED_FILTER', 'filter.a.b'],
    [{ a: {} }, 'UNSUPPORTED_FILTER', 'filter.a'],
    [{ a: ['x'] }, 'UNSUPPORTED_FILTER', 'filter.a'],
    [{ a: { $ne: { b: 1 } } }, 'UNSUPPORTED_FILTER', 'filter.a.$ne'],
    [{ a: { $in: 'x' } }, 'VALIDATION_FAILED', 'filter.a.$in'],
    [{ a: { $in: [] } }, 'VALIDATION_FAILED', 'filter.a.$in'],
    [{ a: { $in: [1, []] } }, 'UNSUPPORTED_FILTER', 'filter.a.$in[1]'],
    [{ a: { $gt: null } }, 'VALIDATION_FAILED', 'filter.a.$gt'],
    [{ a: { $exists: 1 } }, 'VALIDATION_FAILED', 'filter.a.$exists'],
    [{ a: Number.POSITIVE_INFINITY }, 'VALIDATION_FAILED', 'filter.a'],
    [{ a: 'x\0' }, 'VALIDATION_FAILED', 'filter.a'],
    [{ '\ud800': 1 }, 'VALIDATION_FAILED', 'filter.\ud800'],
  ])('refuses %j', (filter, code, param) => {
    expect(() => parseFilter(filter, 'filter')).toThrow(expect.objectContaining({ code, param }));
  });
});
