import { expect, it } from 'vitest';
import { failedIn, refusal } from './test-again.ts';

it('names the files that failed and their tests', () => {
  const test = (fullName: string, status: string) => ({ fullName, status });
  const testResults = [
    { name: '/p/test/a.test.ts', status: 'passed', assertionResults: [test('holds', 'passed')] },
    {
      name: '/p/test/b.test.ts',
      status: 'failed',
      assertionResults: [test('b one', 'passed'), test('b two', 'failed')],
    },
    { name: '/p/test/hooks.test.ts', status: 'failed', assertionResults: [] },
  ];
  expect(Object.fromEntries(failedIn({ testResults }, '/p'))).toEqual({
    'test/b.test.ts': ['b two'],
    'test/hooks.test.ts': [],
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
