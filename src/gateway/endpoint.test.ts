import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { compileEndpoint } from './endpoint.ts';

const endpoint = compileEndpoint('test', () => null, {
  id: 'test.echo',
  method: 'POST',
  path: '/v1/test/echo',
  input: Type.Object({ items: Type.Array(Type.Integer()) }),
} as never);

test('an instant is one that a calendar has', () => {
  const { isValid } = compileEndpoint('test', () => null, {
    id: 'test.at',
    method: 'POST',
    path: '/v1/test/at',
    input: Type.Object({ at: Type.String({ format: 'date-time' }) }),
  } as never);
  for (const at of ['2026-02-28T23:59:59Z', '2024-02-29t00:00:00.123456z', '2026-12-31T00:00:00+14:00']) {
    expect([at, isValid({ at })]).toEqual([at, true]);
  }
  for (const at of [
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:00+99:99',
    '2026-01-01T00:00:00',
    '2026-01-01',
  ]) {
    expect([at, isValid({ at })]).toEqual([at, false]);
  }
});

test('every fault of a short body is told, of a long one only the first', () => {
  const input = { items: ['a', 'b', 'c'] };
  expect(endpoint.faults(input, 8 * 1024)).toHaveLength(3);
  expect(endpoint.faults(input, 8 * 1024 + 1)).toHaveLength(1);
});
