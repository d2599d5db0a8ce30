// Completes tables: every row gets a cell for each column, an empty one under a span or in a gap. Spans are kept in attributes of their own, for
// the layout.
import { Refused } from '../refused.ts';
import type { Document, Element } from './dom.ts';

export const ROWS_SPANNED = 'data-rows';
export const COLUMNS_SPANNED = 'data-columns';
const CELLS_MAX = 200_000;
const COLUMNS_MAX = 200;

export function squareTables(document: Document): void {
  for (const table of [...document.querySelectorAll('table')]) {
    wrapRows(document, table);
    square(document, rowsOf(table));
  }
}

/** Rows that stand in a table itself get the body that a browser would give them. */
function wrapRows(document: Document, table: Element): void {
  let body: Element | null = null;
  for (const child of [...table.children]) {
    if (child.nodeName !== 'TR') body = null;
    else {
      if (body === null) {
        body = document.createElement('tbody');
        child.replaceWith(body);
      }
      body.append(child);
    }
  }
}

/** Those without a cell go. */
function rowsOf(table: Element): Element[] {
  const rows: Element[] = [];
  for (const section of table.children)
    for (const row of [...section.children])
      if (row.nodeName !== 'TR') continue;
      else if (cellsOf(row).length === 0) row.remove();
      else rows.push(row);
  return rows;
}

const cellsOf = (row: Element) => [...row.children].filter(({ nodeName }) => nodeName === 'TD' || nodeName === 'TH');

function square(document: Document, rows: readonly Element[]): void {
  const grid: (Element | null | undefined)[][] = rows.map(() => []);
  for (const [at, row] of rows.entries()) {
    let column = 0;
    for (const cell of cellsOf(row)) {
      while (grid[at]?.[column] !== undefined) column += 1;
      place(grid, cell, at, column);
    }
  }
  const columns = Math.max(0, ...grid.map((row) => row.length));
  if (columns > COLUMNS_MAX || columns * rows.length > CELLS_MAX)
    throw new Refused('content', 'too_complex', `A table has more than ${COLUMNS_MAX} columns or ${CELLS_MAX} cells.`);
  for (const [at, row] of rows.entries())
    for (let column = 0; column < columns; column += 1) row.append(grid[at]?.[column] ?? document.createElement('td'));
}

/** Null: what the cell reaches over. */
function place(grid: (Element | null | undefined)[][], cell: Element, row: number, column: number): void {
  const wide = spanOf(cell, 'colspan');
  const high = Math.min(spanOf(cell, 'rowspan'), grid.length - row);
  for (let below = row; below < row + high; below += 1)
    for (let beside = column; beside < column + wide; beside += 1) (grid[below] as (Element | null)[])[beside] = null;
  (grid[row] as (Element | null)[])[column] = cell;
  if (wide > 1) cell.setAttribute(COLUMNS_SPANNED, String(wide));
  if (high > 1) cell.setAttribute(ROWS_SPANNED, String(high));
}

function spanOf(cell: Element, name: string): number {
  const span = Number(cell.getAttribute(name) ?? 1);
  cell.removeAttribute(name);
  return span;
}
