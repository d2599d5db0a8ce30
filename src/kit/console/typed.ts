// What cannot be undone: a page of its own says what will happen in numbers, and its form asks for the name or id of what ends.
import { type Html, html } from '../../lib/html.ts';
import { invalidField } from '../../problems/problem.ts';
import { actForm, field } from './form.ts';
import type { Visit } from './visit.ts';

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
