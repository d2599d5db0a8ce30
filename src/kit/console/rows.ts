// Rows of a form that people add, remove and move. Each button sends the form as it stands, and the page shows it again (`redraw` of the act),
// so no script is needed. The fields of row 2 of the group `rule` begin with `rule-2-`; a row may have a group of its own, such as `rule-2-when`.
import { type Html, html } from '../../lib/html.ts';

/** Fields of a row by their names, without what they begin with. */
export type RowFields = Readonly<Record<string, string>>;

const EDIT = 'edit';
/** A row that was just added has this alone. */
const FRESH = 'fresh';

type Move = 'add' | 'remove' | 'up';

/** The rows of a group, in their order. */
export function rowsOf(form: URLSearchParams, group: string): readonly RowFields[] {
  const rows = new Map<number, Record<string, string>>();
  for (const [name, value] of form) {
    const [, n, rest] = partsOf(name, group) ?? [];
    if (n === undefined || rest === undefined) continue;
    const row = rows.get(Number(n)) ?? {};
    // Of fields of one name the last one counts, as of a box and what stands for it unticked.
    rows.set(Number(n), { ...row, [rest]: value });
  }
  return [...rows].toSorted(([one], [other]) => one - other).map(([, row]) => row);
}

export const isFresh = (row: RowFields) => Object.hasOwn(row, FRESH);

/** The form after the button that was pressed; null: it was none of these. */
export function redrawRows(form: URLSearchParams): URLSearchParams | null {
  const [move, group = '', at = ''] = form.get(EDIT)?.split(':') ?? [];
  if (move === undefined || group === '') return null;
  const rows = rowsOf(form, group).map((row) => ({ ...row, [FRESH]: undefined }));
  const drawn = new URLSearchParams([...form].filter(([name]) => name !== EDIT && partsOf(name, group) === null));
  for (const [n, row] of moveRows(rows, move as Move, Number(at)).entries())
    for (const [name, value] of Object.entries(row))
      if (value !== undefined) drawn.append(`${group}-${n}-${name}`, value);
  return drawn;
}

function moveRows<Row extends object>(rows: readonly Row[], move: Move, at: number) {
  if (move === 'add') return [...rows, { [FRESH]: '' }];
  const row = rows[at];
  if (row === undefined) return rows;
  const others = rows.toSpliced(at, 1);
  return move === 'remove' ? others : others.toSpliced(Math.max(0, at - 1), 0, row);
}

/** The button that Enter in a field presses: the first of its form. Before all others. */
export function enterButton(act: string): Html {
  return html`<button class="unseen" tabindex="-1" aria-hidden="true" name="act" value="${act}">Save</button>`;
}

export function addRow(group: string, label: string): Html {
  return html`<button name="${EDIT}" value="add:${group}" formnovalidate>${label}</button>`;
}

/** Up, unless it is the first row, and out. `what`: the row, for those who hear the button. */
export function rowButtons(group: string, n: number, what: string, isOrdered = true): Html {
  const button = (move: Move, label: string) =>
    html`<button name="${EDIT}" value="${move}:${group}:${n}" formnovalidate formaction="#${group}">${label}<span class="unseen"> ${what}</span></button>`;
  return html`<span class="row-buttons">${isOrdered && n > 0 ? button('up', 'Move up') : ''}${button('remove', 'Remove')}</span>`;
}

function partsOf(name: string, group: string): readonly string[] | null {
  return name.startsWith(`${group}-`) ? /^(\d{1,3})-(.+)$/.exec(name.slice(group.length + 1)) : null;
}
