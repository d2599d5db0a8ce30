// On the thread of the event loop no expression of a caller is compiled, whatever part of a query has it.
import { expect, test } from 'vitest';
import { evaluateQuery, listSeries, readQuery } from './tasks.ts';

const range = { startMs: 0, endMs: 0, stepMs: 1 };
const read = (query: string, here: boolean) => readQuery.run([], { query, range, as: 'instant', here });

test.each([
  'up{job=~"a.*"}',
  'up{job!~"a.*"}',
  'label_replace(up, "x", "$1", "v", "((a*)*){900}[0-9]+")',
  'sum(label_replace(up, "x", "$1", "v", "(.*)"))',
])('%s goes to a thread', (query) => {
  expect(read(query, true)).toEqual({ needsThread: true });
  expect(read(query, false)).toMatchObject({ answer: { hasExpressions: true } });
});

test('what has no expression is read here', () => {
  for (const query of ['sum(up)', 'up{job="=~"}', 'up{job=~"api|web"}'])
    expect(read(query, true)).toMatchObject({ answer: { hasExpressions: false } });
});

test('an expression that came as far as the series goes to a thread', () => {
  const told = read('label_replace(up{v=~"a.*"}, "x", "$1", "v", "(.*)")', false);
  if (!('answer' in told)) throw new Error('it is not read');
  const { expression, selections } = told.answer;
  const pages = [[]];
  const asked = { expression, selections, pages, range, as: 'instant' as const, leftMs: 1_000 };
  expect(evaluateQuery.run([], { ...asked, here: true })).toEqual({ needsThread: true });
  expect(evaluateQuery.run([], { ...asked, here: false })).toMatchObject({ answer: { result: '[]' } });
  const selectors = selections.map(({ matchers }) => matchers);
  expect(listSeries.run([], { kind: { of: 'series' }, selectors, pages, limit: 1, here: true })).toEqual({
    needsThread: true,
  });
});
