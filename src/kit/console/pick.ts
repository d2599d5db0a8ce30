// Fields that choose a resource of the account: a queue by its name, a key by its name.
import { type Html, html } from '../../lib/html.ts';
import { type Field, field } from './form.ts';
import type { Callable, Visit } from './visit.ts';

/** Beyond these it is typed. */
const OFFERED_MAX = 100;
const queueList: Callable = { id: 'queue.list' };
const NAME_CHARACTERS_MAX = 40;

/** A text field that offers the queues that the visitor may list; another name can be typed. */
export async function queueField(visit: Visit, act: string, of: Field): Promise<Html> {
  const { data } = visit.may(queueList) ? await visit.call(queueList, { limit: OFFERED_MAX }) : { data: null };
  if (data === null) return field(visit, act, of);
  const { items } = data as { readonly items: readonly { readonly name: string }[] };
  const id = `${act}-${of.name}-list`;
  const attributes = html`list="${id}" spellcheck="false" autocapitalize="off" autocomplete="off" ${of.attributes ?? ''}`;
  return html`${field(visit, act, { ...of, attributes })}<datalist id="${id}">${items.map(({ name }) => html`<option value="${name}">`)}</datalist>`;
}

/** A filter by key, as a field of a form that asks by GET. `keys`: id and name; one that they do not have, such as one that has ended, stays chosen. */
export function keyFilter(keys: readonly (readonly [string, string])[], chosen: string | undefined): Html {
  const isKnown = chosen === undefined || keys.some(([id]) => id === chosen);
  const option = ([id, name]: readonly [string, string]) =>
    html`<option value="${id}"${id === chosen ? html` selected` : ''}>${name.slice(0, NAME_CHARACTERS_MAX).toWellFormed()}</option>`;
  return html`<label>Key <select name="key_id"><option value="">all</option>${[...keys, ...(isKnown ? [] : [[chosen, chosen] as const])].map(option)}</select></label>`;
}
