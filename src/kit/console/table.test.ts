// Tables of amounts, and shares of a whole.
import { expect, test } from 'vitest';
import { html } from '../../lib/html.ts';
import { share, table } from './table.ts';

const spend = (...amounts: readonly (number | null)[]) =>
  table<number | null>({
    caption: 'Spend',
    columns: [
      { title: 'Name', cell: () => 'a' },
      { title: 'Spend', usd: (amount) => amount },
    ],
    rows: amounts,
    empty: html``,
  }).text;

test('amounts of a column have room for the longest fraction among them, so that their points meet', () => {
  const text = spend(1.5, 0.00002, null);
  expect(text).toContain('<th scope="col" class="number money decimals-5">Spend, USD</th>');
  const cell = '<td data-title="Spend" class="number money decimals-5">';
  expect(text).toContain(`${cell}<span class="number-value">1<span class="fraction">.50</span></span></td>`);
  expect(text).toContain(`${cell}<span class="number-value">0<span class="fraction">.00002</span></span></td>`);
  // No amount is not one of nothing.
  expect(text).toContain(`${cell}</td>`);
  expect(spend(1, 2)).toContain('decimals-2');
});

test('a column that says nothing of any row is left out', () => {
  const titles = (...notes: readonly string[]) =>
    [
      ...table({
        caption: 'Notes',
        columns: [
          { title: 'Name', cell: () => '' },
          { title: 'Note', cell: (note: string) => note },
          { title: 'Paid', usd: () => null },
          { title: 'Kept', cell: () => html`yes` },
        ],
        rows: notes,
        empty: html``,
      }).text.matchAll(/<th scope="col">(\w+)</g),
    ].map(([, title]) => title);
  expect(titles('', '')).toEqual(['Name', 'Kept']);
  expect(titles('', 'late')).toEqual(['Name', 'Note', 'Kept']);
});

test('a share is a bar and its words; of nothing it is empty', () => {
  const { text } = share(1, 4);
  expect([text.includes('width="25.00"'), text.includes('25.0 %')]).toEqual([true, true]);
  expect([share(0, 4).text, share(0, 0).text]).toEqual(['', '']);
});
