// What cannot be undone: a page of its own says what will happen in numbers, and its form asks for the name or id of what ends.
import { type Html, html } from '../../lib/html.ts';
import { invalidField } from '../../problems/problem.ts';
import { actForm, field } from './form.ts';
import type { ConsolePage } from './page.ts';
import { short } from './text.ts';
import type { Callable, Visit } from './visit.ts';

/** `what`: "revoke the key". Throws VALIDATION_FAILED where something else was typed. */
export function requireTyped(form: URLSearchParams, wanted: string, what: string): void {
  if (form.get('typed')?.trim() !== wanted) throw invalidField('typed', 'equal', `Type ${wanted} to ${what}.`);
}

interface TypedForm {
  readonly wanted: string;
  /** What stands on it. */
  readonly button: string;
  /** Fields above and below the typed one. */
  readonly before?: Html;
  readonly after?: Html;
}

/** The form of the act. */
export function typedForm(visit: Visit, act: string, { wanted, button, before, after }: TypedForm): Html {
  const typed = field(visit, act, {
    name: 'typed',
    label: `Type ${wanted}`,
    isRequired: true,
    attributes: html`autocomplete="off" spellcheck="false" autocapitalize="off"`,
  });
  return actForm(visit, act, html`${before ?? ''}${typed}${after ?? ''}<button class="danger">${button}</button>`);
}

interface Deletion extends Pick<ConsolePage, 'name' | 'path'> {
  /** `inbox` */
  readonly noun: string;
  readonly capability: Pick<Callable, 'id'>;
  /** Parameter of the path that names it, and the capability's field, which is the same when absent. */
  readonly parameter: string;
  readonly field?: string;
  /** Told of it before. Throws the Problem of what is not there. */
  about(visit: Visit, id: string): Promise<DeletionText>;
  /** Of the page; `Delete the inbox` when absent. */
  readonly title?: string;
  /** Told on the page that follows; `Inbox deleted.` when absent. */
  readonly done?: string;
  /** Path below /console of the page that follows. */
  readonly next: string;
}

interface DeletionText {
  /** What a person calls it; its id when absent. */
  readonly label?: string;
  /** Path below /console of its page. */
  readonly back: string;
  /** `Delete the inbox` when absent. */
  readonly heading?: string;
  /** What is gone afterwards, and what stays. */
  readonly text: Html | string;
}

/** The page that deletes one. */
export function deletionPage({ noun, capability, parameter, about, next, ...of }: Deletion): ConsolePage {
  const idOf = ({ params }: Visit) => params[parameter] ?? '';
  const usual = `Delete the ${noun}`;
  return {
    name: of.name,
    path: of.path,
    needs: capability,
    async show(visit) {
      const id = idOf(visit);
      const { label = id, back, heading = usual, text } = await about(visit, id);
      const content = html`<p><a href="${visit.path(back)}">${short(label, 100)}</a></p>
<h1>${heading}</h1>
<p>${text}</p>
${typedForm(visit, 'delete', { wanted: id.trim(), button: 'Delete' })}`;
      return { title: of.title ?? usual, content };
    },
    acts: {
      delete: {
        capability,
        input(form, visit) {
          requireTyped(form, idOf(visit).trim(), `delete the ${noun}`);
          return { [of.field ?? parameter]: idOf(visit) };
        },
        done: of.done ?? `${noun[0]?.toUpperCase()}${noun.slice(1)} deleted.`,
        next: () => next,
      },
    },
  };
}
