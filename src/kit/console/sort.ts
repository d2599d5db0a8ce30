// Order of a table's rows, from the address: `?sort=name&dir=desc`. Each column head is a link, so every order is an address.
import { type Html, html } from '../../lib/html.ts';
import type { Visit } from './visit.ts';

export type SortKey = string | number | null;

export interface Sortable<Row> {
  readonly title: string;
  /** It begins with the largest. */
  readonly isNumber: boolean;
  /** Null: it sorts nothing. */
  readonly key: ((row: Row) => SortKey) | null;
}

export class Sort<Row> {
  readonly #columns: readonly Sortable<Row>[];
  /** The column that rows are sorted by; undefined: they stay as they came. */
  readonly #here: Sortable<Row> | undefined;
  readonly #isDown: boolean;
  readonly #address: (fields: Readonly<Record<string, string>>) => string;

  /** @param address this page with these fields in its query */
  constructor(
    { query }: Visit,
    columns: readonly Sortable<Row>[],
    address: (fields: Readonly<Record<string, string>>) => string,
  ) {
    const asked = query.get('sort');
    this.#columns = columns;
    this.#here = columns.find((column) => column.key !== null && nameOf(column) === asked);
    this.#isDown = query.get('dir') === 'desc';
    this.#address = address;
  }

  /** What has no key comes last in both directions; equals stay as they came. */
  rows(rows: readonly Row[]): readonly Row[] {
    const key = this.#here?.key ?? null;
    if (key === null) return rows;
    const sign = this.#isDown ? -1 : 1;
    return rows.toSorted((one, other) => {
      const [left, right] = [key(one), key(other)];
      if (left === null || right === null) return Number(left === null) - Number(right === null);
      return sign * compareValues(left, right);
    });
  }

  /** The head of a column, as a link where it sorts. */
  head(i: number, title: string): { readonly attribute: Html; readonly content: Html | string } {
    const column = this.#columns[i] as Sortable<Row>;
    if (column.key === null) return { attribute: html``, content: title };
    const isHere = column === this.#here;
    const isDown = isHere ? !this.#isDown : column.isNumber;
    const href = this.#address({ sort: nameOf(column), dir: isDown ? 'desc' : 'asc' });
    return {
      attribute: isHere ? html` aria-sort="${this.#isDown ? 'descending' : 'ascending'}"` : html``,
      content: html`<a class="sort" href="${href}">${title}</a>`,
    };
  }
}

/** As addresses have it: `spent-in-30-days`. */
function nameOf({ title }: { readonly title: string }): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

function compareValues(left: string | number, right: string | number): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  return String(left).localeCompare(String(right), 'en', { numeric: true });
}
