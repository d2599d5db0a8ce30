// Form made from a capability's input schema: simple fields as inputs, all others as JSON. Empty fields are not sent.
import type { Capability } from '../../../kit/capability.ts';
import { checkbox, choice, field, numberOf } from '../../../kit/console/form.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { referencedStep } from '../../../manifest/example.ts';
import { alternatives, asJsonSchema, type JsonSchema } from '../../../manifest/json-schema.ts';
import { invalidField } from '../../../problems/problem.ts';
import { typeInWords } from '../../documents/fields.ts';

type Kind = 'text' | 'number' | 'choice' | 'json';

interface FormField {
  readonly name: string;
  readonly kind: Kind;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

/** What is sent beside the named fields, where a body is free-form. */
const OTHERS = 'other_fields';
/** Asked of what cannot be undone. */
const CONFIRMED = 'confirmed';
const JSON_ROWS = 5;

/** `typed`: what is to stand in it; null: the example. */
export function formOf(visit: Visit, capability: Capability, typed: URLSearchParams | null): Html {
  const { id } = capability;
  const each = fieldsOf(capability).map((one) => inputHtml(visit, capability, one, typed));
  const others = isFreeForm(capability)
    ? field(visit, id, {
        name: OTHERS,
        label: 'Other fields',
        value: typed?.get(OTHERS) ?? '',
        hint: 'A JSON object.',
        rows: JSON_ROWS,
      })
    : '';
  const confirm = capability.destructive
    ? checkbox(visit, id, { name: CONFIRMED, label: 'This removes or ends something permanently. Do it.' })
    : '';
  return html`${each}${others}${confirm}`;
}

/** The input that the form makes. Throws VALIDATION_FAILED for JSON that is none, and for what was not confirmed. */
export function inputOf(capability: Capability, form: URLSearchParams): Readonly<Record<string, unknown>> {
  if (capability.destructive && !form.has(CONFIRMED))
    throw invalidField(CONFIRMED, 'required', 'Confirm that it is to be done.');
  const named = fieldsOf(capability).map(
    ({ name, kind, schema }) => [name, sentValue(form, name, kind, schema)] as const,
  );
  const others = isFreeForm(capability) ? (jsonOf(form, OTHERS) ?? {}) : {};
  if (typeof others !== 'object' || others === null || Array.isArray(others))
    throw invalidField(OTHERS, 'type', 'Other fields must be a JSON object.');
  return { ...others, ...Object.fromEntries(named.filter(([, value]) => value !== undefined)) };
}

function isFreeForm({ input }: Capability): boolean {
  return asJsonSchema(input).additionalProperties === true;
}

function fieldsOf({ input }: Capability): FormField[] {
  const { properties = {}, required = [] } = asJsonSchema(input);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    kind: kindOf(schema),
    isRequired: required.includes(name),
  }));
}

function kindOf(schema: JsonSchema): Kind {
  if (choicesOf(schema) !== null) return 'choice';
  const types = alternatives(schema).flatMap(({ type }) => type ?? 'any');
  const [type, ...more] = types.filter((each) => each !== 'null');
  if (more.length > 0) return 'json';
  return type === 'string' ? 'text' : type === 'integer' || type === 'number' ? 'number' : 'json';
}

/** The texts of values to choose from; null: there is no list. */
function choicesOf(schema: JsonSchema): readonly string[] | null {
  if (schema.type === 'boolean') return ['true', 'false'];
  const values = alternatives(schema).flatMap(
    (each) => each.enum ?? (each.const === undefined ? [undefined] : [each.const]),
  );
  const texts = values.filter((value) => value !== null);
  return texts.length > 0 && texts.every((value) => typeof value === 'string') ? (texts as string[]) : null;
}

function inputHtml(
  visit: Visit,
  capability: Capability,
  { name, kind, schema, isRequired }: FormField,
  typed: URLSearchParams | null,
): Html {
  const { id } = capability;
  const value = typed === null ? (isRequired ? exampleOf(capability, name) : '') : (typed.get(name) ?? '');
  if (kind === 'choice') {
    const options = (choicesOf(schema) ?? []).map((text) => [text, text] as const);
    return choice(visit, id, { name, label: name, value, options: [['', 'not sent'], ...options] });
  }
  const hint = [typeInWords(schema), schema.description ?? ''].filter((text) => text !== '').join('. ');
  const attributes =
    kind === 'number'
      ? html`inputmode="decimal" autocomplete="off"`
      : html`autocomplete="off" spellcheck="false" autocapitalize="off"`;
  const label = isRequired ? `${name} (required)` : name;
  return field(visit, id, { name, label, value, hint, attributes, ...(kind === 'json' ? { rows: JSON_ROWS } : {}) });
}

/** As it stands in the first example, where that is no part of an earlier answer. */
function exampleOf({ examples: [example] }: Capability, name: string): string {
  const value = example?.input[name];
  if (value === undefined || referencedStep(value) !== undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function sentValue(form: URLSearchParams, name: string, kind: Kind, schema: JsonSchema): unknown {
  const text = form.get(name) ?? '';
  if (text === '') return undefined;
  if (kind === 'number') return numberOf(form, name);
  if (kind === 'json') return jsonOf(form, name);
  return schema.type === 'boolean' ? text === 'true' : text;
}

function jsonOf(form: URLSearchParams, name: string): unknown {
  const text = form.get(name)?.trim() ?? '';
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw invalidField(name, 'json', `${name} must be valid JSON.`);
  }
}
