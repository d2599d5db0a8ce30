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

const three = ['a', 'b', 'c'];
it.each([
  ['three', three, [], null],
  ['more than three', [...three, 'd'], [], '4 test files failed: more than 3 are not repeated'],
  ['more than three with those before', ['d', 'e'], three, '5 test files failed: more than 3 are not repeated'],
  ['none', [], [], 'no test file is known to have failed'],
])('%s', (_, failed, earlier, expected) => {
  expect(refusal(failed, earlier)).toBe(expected);
});
