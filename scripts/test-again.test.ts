import { expect, it } from 'vitest';
import { failedIn, refusal } from './test-again.ts';

it('names the files that failed, their tests, and what they failed with', () => {
  const test = (fullName: string, status: string) => ({
    fullName,
    status,
    failureMessages: ['expected 1\n\n  at a.ts'],
  });
  const testResults = [
    { name: '/p/test/a.test.ts', status: 'passed', assertionResults: [test('holds', 'passed')] },
    {
      name: '/p/test/b.test.ts',
      status: 'failed',
      assertionResults: [test('b one', 'passed'), test('b two', 'failed')],
    },
    { name: '/p/test/hooks.test.ts', status: 'failed', message: 'no database', assertionResults: [] },
  ];
  expect(Object.fromEntries(failedIn({ testResults }, '/p'))).toEqual({
    'test/b.test.ts': ['b two\n    expected 1\n      at a.ts'],
    'test/hooks.test.ts': ['hooks\n    no database'],
  });
});

const six = ['a', 'b', 'c', 'd', 'e', 'f'];
it.each([
  ['six', six, [], null],
  ['more than six', [...six, 'g'], [], '7 test files failed: more than 6 are not repeated'],
  ['more than six with those before', ['g', 'h'], six, '8 test files failed: more than 6 are not repeated'],
  ['none', [], [], 'no test file is known to have failed'],
])('%s', (_, failed, earlier, expected) => {
  expect(refusal(failed, earlier)).toBe(expected);
});
