import { expect, test } from 'vitest';
import { describe } from './describe.ts';

const offered = { method: 'POST', path: '/v1/a', summary: 'Does it.', price: 'free', scope: 'a', idempotent: false };

test.each([
  ['Name of it; unique in the account', 'Name of it; unique in the account.'],
  ['How many at most, 1 to 100; 20 when not sent. More of it here.', 'How many at most, 1 to 100; 20 when not sent.'],
  ['One of these:', 'One of these.'],
])('%j is told as a whole sentence', (description, told) => {
  const schema = { type: 'object', properties: { name: { type: 'string', description } } };
  expect(describe('a', { ...offered, schema })).toContain(`${told}`);
  expect(describe('a', { ...offered, schema })).not.toMatch(/[;:,]$/);
});

test('of a stream it is said what to do', () => {
  const schema = { type: 'object', properties: {} };
  expect(describe('a.tail', { ...offered, schema, stream: true })).toContain('until you stop it');
});
