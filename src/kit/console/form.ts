// Forms of the console. Each has the session's token and an idempotency key of its own, so a double click acts once. A refused form is shown
// again with what had been typed, and the failure is tied to its field.
import { type Html, html } from '../../lib/html.ts';
import { randomHex } from '../../lib/random-hex.ts';
import { invalidField } from '../../problems/problem.ts';
import type { Visit } from './visit.ts';

const KEY_BYTES = 16;

/** The field that every form of a session has. */
export function tokenField({ formToken }: { readonly formToken: string }): Html {
  return html`<input type="hidden" name="form_token" value="${formToken}">`;
}

/** The fields that every form of the console has. */
export function formFields(visit: Visit, act: string): Html {
  return html`${tokenField({ formToken: visit.formToken })}${formKeyField(keyAgain(visit, act))}<input type="hidden" name="act" value="${act}">`;
}

/** The idempotency key of a form. */
export function formKeyField(key: string = randomHex(KEY_BYTES)): Html {
  return html`<input type="hidden" name="form_key" value="${key}">`;
}

/** What waits for an approval is sent again as the same call. */
function keyAgain({ refused }: Visit, act: string): string | undefined {
  if (refused?.act !== act || refused.problem.code !== 'APPROVAL_REQUIRED') return undefined;
  return refused.form.get('form_key') ?? undefined;
}

/** A form that sends the page itself `act`. Hidden fields tell what it is about. */
export function actForm(visit: Visit, act: string, content: Html, hidden: Readonly<Record<string, string>> = {}): Html {
  const fields = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<form method="post" class="act">${formFields(visit, act)}${fields}${content}</form>`;
}

/** A form of one button, such as "Pause" beside a row. Hidden fields tell what it is about. */
export function actButton(
  visit: Visit,
  act: string,
  label: string,
  hidden: Readonly<Record<string, string>> = {},
): Html {
  return actForm(visit, act, html`<button>${label}</button>`, hidden);
}

export interface Field {
  readonly name: string;
  readonly label: string;
  /** As it is before somebody types; empty when absent. */
  readonly value?: string;
  readonly hint?: string;
  /** Attributes of the input: `html\`type="number" min="1"\``. */
  readonly attributes?: Html;
  readonly isRequired?: boolean;
  /** Lines of a text; absent: one line. */
  readonly rows?: number;
  /** It is typed unseen and never shown again: a form that was refused asks for it anew. */
  readonly isSecret?: boolean;
}

/** A labelled field of the act's form, with what it was refused for. */
export function field(
  visit: Visit,
  act: string,
  { name, label, value = '', hint, attributes, isRequired = false, rows, isSecret = false }: Field,
): Html {
  const id = `${act}-${name}`;
  const fault = faultOf(visit, act, name);
  const shown = isSecret ? '' : (sentOf(visit, act, name) ?? value);
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(fault === null ? [] : [`${id}-fault`])];
  const common = html`id="${id}" name="${name}"${isRequired ? html` required` : ''}${fault === null ? '' : html` aria-invalid="true"`}${described.length === 0 ? '' : html` aria-describedby="${described.join(' ')}"`} ${isSecret ? html`type="password" autocomplete="off" spellcheck="false" ` : ''}${attributes ?? ''}`;
  const input =
    rows === undefined
      ? html`<input ${common} value="${shown}">`
      : html`<textarea ${common} rows="${rows}" spellcheck="false">\n${shown}</textarea>`;
  return html`<div class="field"><label for="${id}">${label}</label>${input}${hint === undefined ? '' : html`<p class="hint" id="${id}-hint">${hint}</p>`}${faultText(id, fault)}</div>`;
}

/** A choice of few. `options`: value and label. */
export function choice(
  visit: Visit,
  act: string,
  {
    name,
    label,
    value,
    options,
  }: Pick<Field, 'name' | 'label'> & {
    readonly value: string;
    readonly options: readonly (readonly [string, string])[];
  },
): Html {
  const id = `${act}-${name}`;
  const shown = sentOf(visit, act, name) ?? value;
  const fault = faultOf(visit, act, name);
  const tied = fault === null ? '' : html` aria-invalid="true" aria-describedby="${id}-fault"`;
  const each = ([of, text]: readonly [string, string]) =>
    html`<option value="${of}"${of === shown ? html` selected` : ''}>${text}</option>`;
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${name}"${tied}>${options.map(each)}</select>${faultText(id, fault)}</div>`;
}

/** A box to be ticked; `isChecked`: before somebody did. */
export function checkbox(
  visit: Visit,
  act: string,
  { name, label, isChecked = false }: Pick<Field, 'name' | 'label'> & { readonly isChecked?: boolean },
): Html {
  const id = `${act}-${name}`;
  const isOn = typedIn(visit, act)?.has(name) ?? isChecked;
  const fault = faultOf(visit, act, name);
  const tied = fault === null ? '' : html` aria-invalid="true" aria-describedby="${id}-fault"`;
  return html`<label class="choice"><input type="checkbox" id="${id}" name="${name}"${isOn ? html` checked` : ''}${tied}> ${label}</label>${faultText(id, fault)}`;
}

/** A choice of several of a few, each sent under the same name. `chosen`: as it is before somebody chooses. */
export function checkboxes(
  visit: Visit,
  act: string,
  {
    name,
    label,
    hint,
    options,
    chosen,
  }: Pick<Field, 'name' | 'label' | 'hint'> & {
    /** Value and text. */
    readonly options: readonly (readonly [string, string])[];
    readonly chosen: readonly string[];
  },
): Html {
  const id = `${act}-${name}`;
  const sent = typedIn(visit, act)?.getAll(name) ?? chosen;
  const fault = faultOf(visit, act, name);
  const described = [...(hint === undefined ? [] : [`${id}-hint`]), ...(fault === null ? [] : [`${id}-fault`])];
  const tied = described.length === 0 ? '' : html` aria-describedby="${described.join(' ')}"`;
  const each = ([value, text]: readonly [string, string]) =>
    html`<label class="choice"><input type="checkbox" name="${name}" value="${value}"${sent.includes(value) ? html` checked` : ''}><span>${text}</span></label>`;
  return html`<fieldset class="boxes"${tied}><legend>${label}</legend>${hint === undefined ? '' : html`<p class="hint" id="${id}-hint">${hint}</p>`}${options.map(each)}${faultText(id, fault)}</fieldset>`;
}

/** What the form was refused for that belongs to `param` as a whole, where several fields send it. */
export function faultAt(visit: Visit, act: string, param: string): Html {
  const isOfWhole = visit.refused?.problem.param === param;
  return isOfWhole ? faultText(`${act}-${param}`, faultOf(visit, act, param)) : html``;
}

function faultText(id: string, fault: string | null): Html {
  return fault === null ? html`` : html`<p class="fault" id="${id}-fault">${fault}</p>`;
}

/** The act's form as somebody filled it in: it was refused, or is still being filled in. Null: it was another form, or none. */
export function typedIn({ refused, draft }: Visit, act: string): URLSearchParams | null {
  return [refused, draft].find((each) => each?.act === act)?.form ?? null;
}

/** What was typed into a field of that form; null: it is shown as it is. */
export function sentOf(visit: Visit, act: string, name: string): string | null {
  return typedIn(visit, act)?.get(name) ?? null;
}

function faultOf({ refused }: Visit, act: string, name: string): string | null {
  if (refused?.act !== act) return null;
  const { problem } = refused;
  const found = problem.errors?.find(({ param }) => isFaultOf(name, param));
  if (found !== undefined) return found.message;
  return problem.param !== undefined && isFaultOf(name, problem.param) ? problem.message : null;
}

/** Whether the field sends `param` or what it is part of; of rows `rule-2-name` sends `rules[2].name`. A name may be a path: `when.input`. */
function isFaultOf(name: string, param: string): boolean {
  if (name.includes('.')) return param === name || param.startsWith(`${name}.`) || param.startsWith(`${name}[`);
  const [, group, n, rest] = /^(\w+)s[.[](\d+)\]?\.(\w+)$/.exec(param) ?? [];
  return param.split(/[.[]/)[0] === name || (group !== undefined && name === `${group}-${n}-${rest}`);
}

/** A number that somebody typed: as it is when it is none, so that the capability says what is wrong with it; undefined: nothing. */
export function numberOf(form: URLSearchParams, name: string): number | string | undefined {
  const text = form.get(name)?.trim() ?? '';
  if (text === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
}

/** The JSON that somebody typed, as it was typed. Throws VALIDATION_FAILED. */
export function jsonTextOf(form: URLSearchParams, name: string): string {
  const text = form.get(name) ?? '';
  try {
    JSON.parse(text);
  } catch (error) {
    throw invalidField(name, 'json', `${name} must be JSON: ${(error as Error).message}.`);
  }
  return text;
}

/** The value of JSON that somebody typed: the text when it is none, so that the capability says what is wrong with it; undefined: nothing. */
export function jsonOf(form: URLSearchParams, name: string): unknown {
  const text = textOf(form, name);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** A text that somebody typed; undefined: nothing. */
export function textOf(form: URLSearchParams, name: string): string | undefined {
  const text = form.get(name)?.trim() ?? '';
  return text === '' ? undefined : text;
}
