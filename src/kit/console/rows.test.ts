import { expect, test } from 'vitest';
import { isFresh, redrawRows, rowsOf } from './rows.ts';

const typed = 'act=save&rule-0-name=a&rule-0-when-0-value=1&rule-1-name=b&rule-2-name=c&threshold=5';

function edited(edit: string) {
  const form = redrawRows(new URLSearchParams(`${typed}&edit=${edit}`));
  if (form === null) return null;
  expect([form.get('act'), form.get('threshold'), form.get('edit')]).toEqual(['save', '5', null]);
  return rowsOf(form, 'rule');
}

test('what no button of a row sent is not drawn again', () => {
  expect(redrawRows(new URLSearchParams(typed))).toBeNull();
});

test.each([
  ['remove:rule:1', ['a', 'c']],
  ['up:rule:1', ['b', 'a', 'c']],
  ['up:rule:0', ['a', 'b', 'c']],
  ['remove:rule:7', ['a', 'b', 'c']],
])('%s: the other rows stay as they were typed', (edit, names) => {
  expect(edited(edit)?.map(({ name }) => name)).toEqual(names);
});

test('a row that moves takes its own rows along', () => {
  expect(edited('up:rule:1')?.[1]).toEqual({ name: 'a', 'when-0-value': '1' });
});

test('a row is added last, to a group within a row too', () => {
  const rows = edited('add:rule');
  expect(rows?.map(isFresh)).toEqual([false, false, false, true]);
  expect(edited('add:rule-0-when')?.[0]).toEqual({ name: 'a', 'when-0-value': '1', 'when-1-fresh': '' });
  const again = redrawRows(new URLSearchParams('rule-0-fresh=&rule-0-name=&edit=add:rule'));
  expect(rowsOf(again ?? new URLSearchParams(), 'rule').map(isFresh)).toEqual([false, true]);
});
