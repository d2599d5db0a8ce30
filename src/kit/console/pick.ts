// Fields for things of the account: a queue by its name, a key by its own. They offer what the visitor may list; who may not types it.
import { type Html, html } from '../../lib/html.ts';
import { choice, type Field, field } from './form.ts';
import type { Callable, Visit } from './visit.ts';

/** Beyond these it is typed. */
const OFFERED_MAX = 100;
const queueList: Callable = { id: 'queue.list' };
const keysList: Callable = { id: 'account.keys.list' };

/** A text field that offers the account's queues; another name can be typed. */
export async function queueField(visit: Visit, act: string, of: Field): Promise<Html> {
  const found = await offered<{ readonly name: string }>(visit, queueList);
  if (found === null) return field(visit, act, of);
  const id = `${act}-${of.name}-list`;
  const attributes = html`list="${id}" spellcheck="false" autocapitalize="off" autocomplete="off" ${of.attributes ?? ''}`;
  return html`${field(visit, act, { ...of, attributes })}<datalist id="${id}">${found.items.map(({ name }) => html`<option value="${name}">`)}</datalist>`;
}

/** A choice of the account's keys by name, sent as id. `none`: what stands for no key, such as "All keys". A text field where there are too many. */
export async function keyField(visit: Visit, act: string, of: Field & { readonly none: string }): Promise<Html> {
  const found = await offered<{ readonly id: string; readonly name: string | null }>(visit, keysList);
  if (found === null || found.next_cursor !== null) return field(visit, act, of);
  const keys = found.items.map(({ id, name }) => [id, name ?? id] as const);
  const { value = '' } = of;
  // One that has gone from the list stays as it was.
  const gone = value === '' || keys.some(([id]) => id === value) ? [] : [[value, value] as const];
  return choice(visit, act, { ...of, value, options: [['', of.none], ...keys, ...gone] });
}

/** Null: the visitor may not list them, or they could not be read. */
async function offered<Item>(
  visit: Visit,
  list: Callable,
): Promise<{ readonly items: readonly Item[]; readonly next_cursor: string | null } | null> {
  if (!visit.may(list)) return null;
  const { data } = await visit.call(list, { limit: OFFERED_MAX });
  return data as { readonly items: readonly Item[]; readonly next_cursor: string | null } | null;
}
