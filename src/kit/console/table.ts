// Tables, lists page by page, and the figures at the head of a page.

import { type Html, html } from '../../lib/html.ts';
import { codeBlock, copiedBlock } from './copied.ts';
import { type Select, selectBox, selectForm } from './select.ts';
import { Sort, type Sortable, type SortKey } from './sort.ts';
import { decimalsOf, digits, shareText } from './text.ts';
import type { CodeSample, Visit } from './visit.ts';

export type Column<Row> = TextColumn<Row> | MoneyColumn<Row>;

interface TextColumn<Row> {
  readonly title: string;
  /** `number`: lined up at its right end. `number steady`: so too, in a table whose columns stay where they are while rows arrive. */
  readonly kind?: 'number' | 'number steady';
  cell(row: Row): Html | string;
  /** What the rows can be sorted by. */
  sortBy?(row: Row): SortKey;
}

/** Amounts, whose decimal points stand below one another. The title says that they are USD. */
interface MoneyColumn<Row> {
  readonly title: string;
  /** Null: there is no amount. */
  usd(row: Row): number | null;
}

export interface Table<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Shown where there are no rows: what fills the page. */
  readonly empty: Html;
  /**
   * Its address holds how the rows are sorted (`?sort=`, `?dir=`): the heads of columns that say `sortBy`, and of amounts, are links that
   * sort. For lists that are on the page as a whole.
   */
  readonly sorted?: Visit;
  /** Rows to be ticked, for acts that take many. */
  readonly select?: Select<Row>;
  /** The heading that a row stands under, such as its day: rows of one heading follow one another. */
  groupOf?(row: Row): string;
}

/** The first column names its row; of the others those that say nothing are left out. On narrow screens each row is a block, whose cells say their column. */
export function table<Row>({ caption, columns, rows, empty, sorted, select, groupOf = () => '' }: Table<Row>): Html {
  if (rows.length === 0) return html`<div class="empty">${empty}</div>`;
  const said = columns.filter((column, i) => i === 0 || rows.some((row) => saysOf(column, row)));
  const sort =
    sorted === undefined
      ? null
      : new Sort(sorted, said.map(sortable), (fields) => withQuery(sorted, { ...fields, cursor: null }));
  const shown = said.map((column) => shownColumn(column, rows));
  const head = shown.map(({ title, kind }, i) => {
    const of = sort?.head(i, title);
    return html`<th scope="col"${classOf(kind)}${of?.attribute ?? ''}>${of?.content ?? title}</th>`;
  });
  const box = (row: Row) => (select === undefined ? '' : selectBox(select, row));
  const cell =
    (row: Row) =>
    ({ name, kind, cell: of }: ShownColumn<Row>, i: number) =>
      i === 0
        ? html`<th scope="row">${box(row)}${of(row)}</th>`
        : html`<td data-title="${name}"${classOf(kind)}>${of(row)}</td>`;
  const bodies = [...Map.groupBy(sort?.rows(rows) ?? rows, groupOf)].map(([heading, of]) => {
    const title = html`<tr class="heading"><th colspan="${shown.length}" scope="rowgroup">${heading}</th></tr>`;
    return html`<tbody>${heading === '' ? '' : title}${of.map((row) => html`<tr>${shown.map(cell(row))}</tr>\n`)}</tbody>`;
  });
  const content = html`<div class="table" role="region" aria-label="${caption}" tabindex="0"><table class="rows"><caption class="unseen">${caption}</caption><thead><tr>${head}</tr></thead>
${bodies}</table></div>`;
  return select === undefined ? content : selectForm(select, content);
}

function saysOf<Row>(column: Column<Row>, row: Row): boolean {
  if ('usd' in column) return column.usd(row) !== null;
  const cell = column.cell(row);
  return (typeof cell === 'string' ? cell : cell.text) !== '';
}

interface ShownColumn<Row> {
  readonly title: string;
  /** The title where it stands beside its value. */
  readonly name: string;
  readonly kind: string;
  cell(row: Row): Html | string;
}

function shownColumn<Row>(column: Column<Row>, rows: readonly Row[]): ShownColumn<Row> {
  const { title } = column;
  if (!('usd' in column)) return { title, name: title, kind: column.kind ?? '', cell: (row) => column.cell(row) };
  // As wide as the longest fraction of the column: the points meet, and nothing is left empty where amounts are round.
  const decimals = Math.max(...rows.map((row) => decimalsOf(column.usd(row) ?? 0)));
  return {
    title: `${title}, USD`,
    name: title,
    kind: `number money decimals-${decimals}`,
    cell(row) {
      const usd = column.usd(row);
      return usd === null ? '' : digits(usd);
    },
  };
}

function sortable<Row>(column: Column<Row>): Sortable<Row> {
  const { title } = column;
  if ('usd' in column) return { title, isNumber: true, key: (row) => column.usd(row) };
  const { sortBy } = column;
  return { title, isNumber: column.kind !== undefined, key: sortBy === undefined ? null : (row) => sortBy(row) };
}

function classOf(kind: string): Html {
  return kind === '' ? html`` : html` class="${kind}"`;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/** The link to the next page of a list. `name`: of the field of the address that holds its cursor. */
export function more(visit: Visit, { next_cursor: next }: Pick<Page<unknown>, 'next_cursor'>, name = 'cursor'): Html {
  const isFirst = !visit.query.has(name);
  const first = isFirst ? '' : html`<a href="${withQuery(visit, { [name]: null })}">First page</a>`;
  const following = next === null ? '' : html`<a href="${withQuery(visit, { [name]: next })}" rel="next">Next page</a>`;
  return isFirst && next === null
    ? html``
    : html`<nav class="more" aria-label="Pages of the list">${first} ${following}</nav>`;
}

/** This page with other fields in its query; null takes one out. */
export function withQuery({ query, url }: Visit, fields: Readonly<Record<string, string | null>>): string {
  const changed = new URLSearchParams(query);
  changed.delete('done');
  for (const [name, value] of Object.entries(fields)) {
    if (value === null) changed.delete(name);
    else changed.set(name, value);
  }
  const path = url.split('?', 1)[0] ?? '';
  const last = path.slice(path.lastIndexOf('/') + 1);
  return `./${last}${changed.size === 0 ? '' : `?${changed}`}`;
}

/** Figures beside one another, each with its name. */
export function figures(entries: readonly (readonly [string, Html | string, (Html | string)?])[]): Html {
  const each = ([name, value, note]: readonly [string, Html | string, (Html | string)?]) =>
    html`<div><dt>${name}</dt><dd>${value}</dd>${note === undefined ? '' : html`<dd class="note">${note}</dd>`}</div>`;
  return html`<dl class="figures">${entries.map(each)}</dl>`;
}

/** Facts below one another. */
export function facts(entries: readonly (readonly [string, Html | string | null])[]): Html {
  const known = entries.flatMap(([name, value]) => (value === null ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`]));
  return html`<dl class="facts">${known}</dl>`;
}

/** How much of a whole it is, as a bar and in words; nothing where it is none. */
export function share(part: number, whole: number): Html {
  if (part === 0 || whole === 0) return html``;
  const percent = Math.min(100, (100 * part) / whole);
  return html`<span class="part">${meter(percent)}${shareText(part, whole)}</span>`;
}

/** A bar of so many percent: what it tells stands beside it. `isOver`: it should not be full. */
export function meter(percent: number, isOver = false): Html {
  return html`<svg class="meter${isOver ? ' over' : ''}" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${percent.toFixed(2)}" height="1"/></svg>`;
}

/** A word for a state, in its colour; the word says it all. */
export function badge(text: string, kind: 'good' | 'warning' | 'critical' | 'plain' = 'plain'): Html {
  return html`<span class="badge ${kind}">${text}</span>`;
}

/** Calls that fill an empty page: as commands, or in several languages (`visit.samples`). */
export function teach(sentence: string, calls: string | readonly CodeSample[]): Html {
  if (typeof calls !== 'string') return html`<p>${sentence}</p>${codeBlock('first-calls', calls)}`;
  return html`<p>${sentence}</p>${copiedBlock(html`<pre class="text" tabindex="0" aria-label="Commands">${calls}</pre>`, 'the commands')}`;
}

/** Links to the pages that something has, such as a queue's messages and settings. */
export function pageTabs(label: string, entries: Parameters<typeof tabs>[1]): Html {
  return html`<div class="pages">${tabs(label, entries)}</div>`;
}

/** Links that choose one of a few views of a page. */
export function tabs(
  label: string,
  entries: readonly { readonly text: string; readonly href: string; readonly isHere: boolean }[],
): Html {
  const each = ({ text, href, isHere }: (typeof entries)[number]) =>
    html`<li><a href="${href}"${isHere ? html` aria-current="true"` : ''}>${text}</a></li>`;
  return html`<nav class="tabs" aria-label="${label}"><ul>${entries.map(each)}</ul></nav>`;
}
