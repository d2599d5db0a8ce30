// Checkboxes on rows of a table, and acts for all selected rows. One form surrounds the table, so it works without scripts.
import { type Html, html } from '../../lib/html.ts';
import { formKeyField, tokenField } from './form.ts';
import type { Visit } from './visit.ts';

export interface Select<Row> {
  readonly visit: Visit;
  /** Acts of the page by their names, each with its button. Enter in a box does the first one. */
  readonly acts: readonly { readonly act: string; readonly label: string; readonly isDanger?: boolean }[];
  /** Sent as `id`, once for each row that is ticked: read by `selectedIds`. */
  idOf(row: Row): string;
  /** What a row is called, for those who hear its box. */
  nameOf(row: Row): string;
}

/** The rows that were ticked. */
export function selectedIds(form: URLSearchParams): readonly string[] {
  return form.getAll('id');
}

/** With an id of its own: when rows go and come, what was ticked stays with its row. */
export function selectBox<Row>({ visit: { refused }, acts, idOf, nameOf }: Select<Row>, row: Row): Html {
  const id = idOf(row);
  const isOn = acts.some(({ act }) => act === refused?.act) && refused?.form.getAll('id').includes(id);
  return html`<input type="checkbox" class="select" id="select-${id}" name="id" value="${id}"${isOn ? html` checked` : ''} aria-label="Select ${nameOf(row)}">`;
}

export function selectForm<Row>({ visit, acts }: Select<Row>, content: Html): Html {
  const buttons = acts.map(
    ({ act, label, isDanger }) =>
      html`<button name="act" value="${act}"${isDanger === true ? html` class="danger"` : ''}>${label}</button>`,
  );
  return html`<form method="post" class="act selection">${tokenField(visit)}${formKeyField()}
<div class="actions">${buttons}<label class="choice"><input type="checkbox" data-select-all> Select all</label></div>
${content}</form>`;
}
