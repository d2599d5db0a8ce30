// CSV of a page's table (RFC 4180). Cells that a spreadsheet would run as a formula are written as text.

import { withQuery } from './table.ts';
import { plainNumber } from './text.ts';
import type { Visit } from './visit.ts';

type Cell = string | number | null;

export function csv(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [head, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('');
}

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return plainNumber(cell);
  const text = cell ?? '';
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Address of the page's file. */
export function csvHref(visit: Visit): string {
  return withQuery(visit, { as: 'csv' });
}
