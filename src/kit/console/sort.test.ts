// Rows in the order that the address asks for, and heads that lead to the next order.
import { expect, test } from 'vitest';
import { html } from '../../lib/html.ts';
import { table } from './table.ts';
import type { Visit } from './visit.ts';

interface Row {
  readonly name: string;
  readonly calls: number | null;
}

const rows: readonly Row[] = [
  { name: 'job-10', calls: 2 },
  { name: 'job-9', calls: null },
  { name: 'Job-1', calls: 30 },
];

function shown(query: string) {
  const visit = { url: `/console/keys?${query}`, query: new URLSearchParams(query) } as Visit;
  const { text } = table<Row>({
    caption: 'Jobs',
    rows,
    empty: html``,
    sorted: visit,
    columns: [
      { title: 'Name', cell: ({ name }) => name, sortBy: ({ name }) => name },
      { title: 'Calls', kind: 'number', cell: ({ calls }) => String(calls), sortBy: ({ calls }) => calls },
      { title: 'Plain', cell: () => '' },
    ],
  });
  const names = [...text.matchAll(/<th scope="row">([^<]+)/g)].map(([, name]) => name);
  const links = [...text.matchAll(/class="sort" href="([^"]+)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&'));
  return { names, links, order: /aria-sort="(\w+)"/.exec(text)?.[1] };
}

test('nothing is sorted unless the address asks, and what it keeps stays', () => {
  expect(shown('status=active&cursor=x')).toEqual({
    names: ['job-10', 'job-9', 'Job-1'],
    links: ['./keys?status=active&sort=name&dir=asc', './keys?status=active&sort=calls&dir=desc'],
    order: undefined,
  });
  expect(shown('sort=plain').names).toEqual(['job-10', 'job-9', 'Job-1']);
});

test('texts are in the order of people, numbers from the largest, nothing comes last in both directions', () => {
  expect(shown('sort=name&dir=asc')).toMatchObject({
    names: ['Job-1', 'job-9', 'job-10'],
    links: ['./keys?sort=name&dir=desc', './keys?sort=calls&dir=desc'],
    order: 'ascending',
  });
  expect(shown('sort=calls&dir=desc')).toMatchObject({ names: ['Job-1', 'job-10', 'job-9'], order: 'descending' });
  expect(shown('sort=calls&dir=asc').names).toEqual(['job-10', 'Job-1', 'job-9']);
});
