import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { EndpointCompiler } from './endpoint.ts';

const endpoint = new EndpointCompiler().compile('test', () => null, {
  id: 'test.echo',
  method: 'POST',
  path: '/v1/test/echo',
  input: Type.Object({ items: Type.Array(Type.Integer()) }),
} as never);

test('every fault of a short body is told, of a long one only the first', () => {
  const input = { items: ['a', 'b', 'c'] };
  expect(endpoint.faults(input, 64 * 1024)).toHaveLength(3);
  expect(endpoint.faults(input, 64 * 1024 + 1)).toHaveLength(1);
});
