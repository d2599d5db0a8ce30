// "New …": a button beside the title leads to the form, which is a page of its own (`?new`) and needs no script. What was refused is shown
// there again with its form.
//
//   const newQueue: NewForm = { act: 'create', heading: 'New queue', capability: create, form: createForm };
//   actions: [newAction('/queues', newQueue)], // of the page: the palette offers it too
//   async show(visit) {
//     if (asksForNew(visit, newQueue)) return newView(visit, newQueue);
//     const content = html`${titleWithNew(visit, 'Queues', newQueue)} …`;
//
// `form` gives the fields and the button, or a promise of them. The act is one of the page's own, and what follows it is the page without `?new`.
import { type Html, html } from '../../lib/html.ts';
import { actForm, typedIn } from './form.ts';
import type { PageAction, View } from './page.ts';
import { withQuery } from './table.ts';
import type { Callable, Visit } from './visit.ts';

/** The field of an address that asks for the form. */
export const NEW = 'new';

export interface NewForm {
  /** Name of the page's act. */
  readonly act: string;
  /** `New queue`: of the button, and of the page of the form. */
  readonly heading: string;
  readonly capability: Pick<Callable, 'id'>;
  /** A sentence or two below the heading. */
  readonly intro?: string;
  form(visit: Visit, act: string): Html | Promise<Html>;
}

/** Whether the address asks for the form, or the form was refused; false for a visitor who may not. */
export function asksForNew(visit: Visit, { act, capability }: NewForm): boolean {
  const isAsked = visit.query.get(NEW) !== null || typedIn(visit, act) !== null;
  return isAsked && visit.may(capability);
}

export async function newView(visit: Visit, { act, heading, intro, form }: NewForm): Promise<View> {
  const content = html`<p><a href="${withQuery(visit, { [NEW]: null })}">Back</a></p>
<h1>${heading}</h1>
${intro === undefined ? '' : html`<p>${intro}</p>`}
${actForm(visit, act, await form(visit, act))}`;
  return { title: heading, content };
}

/** The act as the palette offers it. `path`: of the page. */
export function newAction(path: string, { heading, capability }: Pick<NewForm, 'heading' | 'capability'>): PageAction {
  return { label: heading, path: `${path}?${NEW}=1`, needs: capability };
}

/** The title of a page, with the button where the visitor may make one. `others`: further buttons or links. */
export function titleWithNew(visit: Visit, title: Html | string, of: NewForm | null, others: Html | '' = ''): Html {
  const link = of === null ? '' : (newLink(visit, of) ?? '');
  return html`<div class="head"><h1>${title}</h1><div class="actions">${others}${link}</div></div>`;
}

/** The button that leads to the form; undefined: the visitor may make none. */
export function newLink(visit: Visit, { heading, capability }: NewForm): Html | undefined {
  if (!visit.may(capability)) return undefined;
  return html`<a class="main" href="${withQuery(visit, { [NEW]: '1', cursor: null })}">${heading}</a>`;
}
