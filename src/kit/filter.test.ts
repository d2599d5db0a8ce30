// What a list of conditions stands for.
import { expect, test } from 'vitest';
import { type FilterOperators, filterObject } from './filter.ts';

const operators: FilterOperators = {
  equals: (value) => value,
  gt: (value) => ({ $gt: value }),
  lt: (value) => ({ $lt: value }),
  is_set: () => ({ $exists: true }),
};
const condition = (operator: string | undefined, value: unknown, field: unknown = 'a') => ({ field, operator, value });

test.each([
  ['no condition', [], {}],
  ['values', [condition('equals', 1), condition(undefined, null, 'b')], { a: 1, b: null }],
  ['bounds of one field', [condition('gt', 1), condition('lt', 9)], { a: { $gt: 1, $lt: 9 } }],
  ['one condition twice', [condition('equals', 1), condition('equals', 1)], { a: 1 }],
  ['no value where none is needed', [{ field: 'a', operator: 'is_set' }], { a: { $exists: true } }],
])('%s', (_, conditions, expected) => {
  expect(filterObject(conditions, 'filter', operators)).toEqual(expected);
});

test.each([
  ['filter[0]', ['a']],
  ['filter[0]', [null]],
  ['filter[0].field', [{ operator: 'equals', value: 1 }]],
  ['filter[0].field', [condition('equals', 1, '__proto__')]],
  ['filter[0].operator', [condition('contains', 1)]],
  ['filter[0].operator', [condition('toString', 1)]],
  ['filter[0].value', [{ field: 'a' }]],
  ['filter[0].property', [{ property: 'a', value: 1 }]],
  ['filter[1].field', [condition('equals', 1), condition('equals', 2)]],
  ['filter[1].field', [condition('gt', 1), condition('gt', 2)]],
  ['filter[1].field', [condition('equals', 1), condition('gt', 2)]],
  ['filter', Array.from({ length: 101 }, () => condition('equals', 1))],
])('%s is named', (param, conditions: unknown[]) => {
  const fault = expect.objectContaining({ code: 'VALIDATION_FAILED', param }) as Error;
  expect(() => filterObject(conditions, 'filter', operators)).toThrow(fault);
});

test('an operator that is not there is told with those that are', () => {
  expect(() => filterObject([condition('gte', 1)], 'filter', operators)).toThrow(
    'filter[0].operator must be one of equals, gt, lt, is_set.',
  );
});
