// Parses the input of a call from command-line words: `field=value`, `field:=json`, `@file`, `-`. The schema decides the type of a value.
// Numbers and nested JSON keep their digits and their order of fields.
import { readFile } from 'node:fs/promises';
import { memberSources } from '../../lib/json-source.ts';
import { JsonText } from '../../lib/json-text.ts';
import { alternatives, type JsonSchema } from '../../manifest/json-schema.ts';
import type { OfferedCapability } from '../client/discovery.ts';
import { ANSWER_BYTES_MAX } from '../client/http.ts';
import { UsageError } from '../output.ts';

/** Of a field: JSON text, the parts of an object, or the elements of an array. */
type Node = JsonText | Fields | JsonText[];
export type Fields = Map<string, Node>;

export interface Input {
  readonly fields: Fields;
  /** Fields that the schema does not have: the service may know them by an earlier name, else it names the nearest. */
  readonly unknown: readonly string[];
}

/** Throws UsageError. */
export async function readInput(words: readonly string[], schema: JsonSchema): Promise<Input> {
  const fields: Fields = new Map();
  for (const word of words) {
    if (word === '-' || word.startsWith('@')) readWhole(await contentOf(word === '-' ? '-' : word.slice(1)), fields);
    else await readField(word, schema, fields);
  }
  return { fields, unknown: [...fields.keys()].filter((name) => fieldSchema(schema, [name]) === null) };
}

function readWhole(text: string, fields: Fields): void {
  const whole = jsonText('the input', text);
  if (!/^\s*\{/.test(whole)) throw new UsageError('the input must be a JSON object');
  for (const [name, value] of parseFields(whole)) fields.set(name, value);
}

async function readField(word: string, schema: JsonSchema, fields: Fields): Promise<void> {
  const at = word.indexOf('=');
  if (at < 1) throw new UsageError(`${JSON.stringify(word)} is no input: use field=value, field:=json, @file or -`);
  const isJson = word[at - 1] === ':';
  const name = word.slice(0, isJson ? at - 1 : at);
  const value = word.slice(at + 1);
  const text = value.startsWith('@') ? await contentOf(value.slice(1)) : value.replace(/^\\@/, '@');
  const path = name.split('.');
  const known = fieldSchema(schema, path);
  if (isJson) place(fields, path, new JsonText(jsonText(name, text)));
  else if (known === null) place(fields, path, new JsonText(guessedText(text)));
  else if (isList(known, text)) append(fields, path, new JsonText(valueText(name, text, itemsOf(known))));
  else place(fields, path, new JsonText(valueText(name, text, known)));
}

/** Of a file, or of standard input. */
async function contentOf(path: string): Promise<string> {
  try {
    if (path !== '-') return await readFile(path, 'utf8');
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of process.stdin) {
      bytes += chunk.byteLength;
      if (bytes > ANSWER_BYTES_MAX) throw new Error('it is longer than 64 MiB');
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch (cause) {
    throw new UsageError(`${path === '-' ? 'standard input' : path} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** The schema of the field; any JSON where the schema leaves open what stands there; null: the schema does not have it. */
function fieldSchema(schema: JsonSchema, path: readonly string[]): JsonSchema | null {
  let at = schema;
  for (const name of path) {
    const branches = alternatives(at);
    const known = Object.fromEntries(branches.flatMap(({ properties = {} }) => Object.entries(properties)));
    const isOpen = branches.some(
      ({ type, properties, additionalProperties: more }) =>
        (properties === undefined && (type === undefined || [type].flat().includes('object'))) ||
        (more !== undefined && more !== false),
    );
    if (Object.hasOwn(known, name)) at = known[name] as JsonSchema;
    else if (isOpen) return {};
    else return null;
  }
  return at;
}

/** Every type that the value may have; none where any may stand. */
export function typesOf(schema: JsonSchema): Set<string> {
  const branches = schema.anyOf ?? schema.oneOf ?? [];
  const values = [...(schema.enum ?? []), ...(schema.const === undefined ? [] : [schema.const])];
  const named = values.map((value) => (value === null ? 'null' : typeof value));
  return new Set([...[schema.type ?? named].flat(), ...branches.flatMap((branch) => [...typesOf(branch)])]);
}

function isList(schema: JsonSchema, text: string): boolean {
  const types = typesOf(schema);
  return types.has('array') && !types.has('string') && !text.trimStart().startsWith('[');
}

function itemsOf(schema: JsonSchema): JsonSchema {
  return alternatives(schema).find(({ items }) => items !== undefined)?.items ?? {};
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS: Readonly<Record<string, string>> = {
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object, as JSON',
  array: 'an array, as JSON',
  null: 'null',
};

/** Of a field of unknown type: what reads as a number or a boolean is one. */
function guessedText(text: string): string {
  return NUMBER.test(text) || text === 'true' || text === 'false' ? text : JSON.stringify(text);
}

/** JSON text of a value that was given without quotes. */
function valueText(name: string, text: string, schema: JsonSchema): string {
  const types = typesOf(schema);
  if (types.size === 0 || types.has('string')) return JSON.stringify(text);
  if ((types.has('number') || types.has('integer')) && NUMBER.test(text)) return text;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text;
  if (types.has('null') && text === 'null') return text;
  if ((types.has('object') || types.has('array')) && /^\s*[{[]/.test(text)) return jsonText(name, text);
  const wanted = [...types].map((type) => WORDS[type] ?? type).join(' or ');
  throw new UsageError(`${name} must be ${wanted}, not ${JSON.stringify(text.slice(0, 80))}`);
}

function jsonText(name: string, text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch (cause) {
    throw new UsageError(`${name} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}

function place(fields: Fields, path: readonly string[], value: JsonText): void {
  const { inside, name } = parentOf(fields, path);
  if (inside.has(name)) throw new UsageError(`${path.join('.')} is given twice`);
  inside.set(name, value);
}

function append(fields: Fields, path: readonly string[], value: JsonText): void {
  const { inside, name } = parentOf(fields, path);
  const before = inside.get(name) ?? [];
  if (!Array.isArray(before)) throw new UsageError(`${path.join('.')} is given twice`);
  inside.set(name, [...before, value]);
}

/** The object that holds the last name of the path; made where it is not there yet. */
function parentOf(fields: Fields, path: readonly string[]): { readonly inside: Fields; readonly name: string } {
  const parents = path.slice(0, -1);
  const inside = parents.reduce((within, name) => {
    const found = within.get(name) ?? new Map();
    const object = found instanceof JsonText && /^\s*\{/.test(found.text) ? parseFields(found.text) : found;
    if (!(object instanceof Map)) throw new UsageError(`${path.join('.')}: ${name} is given as something else`);
    within.set(name, object);
    return object;
  }, fields);
  return { inside, name: path.at(-1) as string };
}

function parseFields(text: string): Fields {
  const members = [...memberSources(text)];
  return new Map(members.map(([name, { start, end }]) => [name, new JsonText(text.slice(start, end))]));
}

function textOf(node: Node): string {
  if (node instanceof JsonText) return node.text;
  if (Array.isArray(node)) return `[${node.map(textOf).join(',')}]`;
  return `{${[...node].map(([name, value]) => `${JSON.stringify(name)}:${textOf(value)}`).join(',')}}`;
}

export interface BuiltCall {
  readonly path: string;
  readonly body?: string;
}

/** Fields of the path go there, the others into the query of a GET or DELETE, else into the body. */
export function buildCall({ method, path, schema }: OfferedCapability, { fields, unknown }: Input): BuiltCall {
  const beside = new Map(fields);
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    // What a path names was called id before.
    const sent = !beside.has(name) && name.endsWith('_id') && unknown.includes('id') ? 'id' : name;
    const node = beside.get(sent);
    beside.delete(sent);
    const value = node === undefined ? '' : plainText(node);
    if (value === '') throw new UsageError(`${name} is required`);
    return encodeURIComponent(value);
  });
  // It may have come under an earlier name.
  const missing = unknown.length > 0 ? undefined : schema.required?.find((name) => !fields.has(name));
  if (missing !== undefined) throw new UsageError(`${missing} is required`);
  if (method !== 'GET' && method !== 'DELETE') return { path: filled, body: textOf(beside) };
  const query = new URLSearchParams();
  for (const [name, node] of beside)
    for (const each of Array.isArray(node) ? node : [node]) query.append(name, plainText(each));
  return { path: query.size === 0 ? filled : `${filled}?${query}` };
}

/** As path and query have it: a string without its quotes. */
function plainText(node: Node): string {
  const text = textOf(node);
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}
