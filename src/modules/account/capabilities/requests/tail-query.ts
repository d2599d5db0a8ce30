// Filters of a request-log stream, read from the query of its URL.
import Type, { type Static } from 'typebox';
import { invalidField } from '../../../../problems/problem.ts';
import { filterFields } from './request.ts';

const tailSchema = Type.Object(filterFields);
const TEXT_CHARACTERS_MAX = 200;

interface Field {
  readonly enum?: readonly string[];
  readonly description?: string;
}

/** Throws VALIDATION_FAILED. */
export function readTailQuery(query: URLSearchParams): Static<typeof tailSchema> {
  const fields = filterFields as Readonly<Record<string, Field>>;
  const entries = [...query].map(([name, text]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      const known = Object.keys(fields).join(', ');
      throw invalidField(name.slice(0, TEXT_CHARACTERS_MAX), 'unknown', `The stream takes ${known}.`);
    }
    const isKnown = field.enum?.includes(text) ?? (text !== '' && text.length <= TEXT_CHARACTERS_MAX);
    if (!isKnown || text.includes('\0') || (name === 'status' && !/^[1-5]\d\d$/.test(text)))
      throw invalidField(name, 'format', `${name} is not valid. ${field.description}`);
    return [name, name === 'status' ? Number(text) : text];
  });
  return Object.fromEntries(entries);
}
