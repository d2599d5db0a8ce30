// What a key may do, as a form asks for it: everything in all modules is a choice of its own, and nothing that is left empty means it.

import { field, sentOf } from '../../../../kit/console/form.ts';
import { otherScopes, pickedScopes, scopePicker } from '../../../../kit/console/scope-picker.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { invalidField } from '../../../../problems/problem.ts';

const ALL = 'all';
const CHOSEN = 'chosen';

/** @param scopes as they are; null: all modules */
export function scopesField(visit: Visit, act: string, scopes: readonly string[] | null): Html {
  const { refused } = visit;
  const sent = refused?.act === act ? refused.form : null;
  const isAll = (sentOf(visit, act, 'access') ?? (scopes === null ? ALL : CHOSEN)) === ALL;
  const chosen = sent === null ? (scopes ?? []) : pickedScopes(sent);
  const { modules } = visit;
  const others = otherScopes(modules, chosen).join(' ');
  const single = field(visit, act, {
    name: 'scopes',
    label: 'Single operations',
    value: others,
    hint: 'Ids separated by spaces, such as errors.capture.',
    attributes: html`spellcheck="false" autocapitalize="off"`,
  });
  const access = (value: string, text: string, isChecked: boolean) =>
    html`<label class="choice"><input type="radio" name="access" value="${value}"${isChecked ? html` checked` : ''}> ${text}</label>`;
  return html`<fieldset class="scopes"><legend>What it may do</legend>
${access(CHOSEN, 'Only this:', !isAll)}
${scopePicker(act, modules, chosen)}${single}
${access(ALL, 'Everything in all modules, also those to come', isAll)}</fieldset>`;
}

/** The scopes that the form chooses; none: all modules. Throws VALIDATION_FAILED where nothing was chosen. */
export function scopesOf(form: URLSearchParams): string[] {
  if (form.get('access') === ALL) return [];
  const typed = (form.get('scopes') ?? '').split(/[\s,]+/).filter((scope) => scope !== '');
  const scopes = [...pickedScopes(form), ...typed];
  if (scopes.length > 0) return scopes;
  throw invalidField(
    'scopes',
    'minItems',
    'Choose what the key may do in one module at least, or everything in all modules.',
  );
}
