// Text descriptions of capabilities and their fields, for `qm call` without input.
import { fieldsWithin, type JsonSchema } from '../../manifest/json-schema.ts';
import type { OfferedCapability } from '../client/discovery.ts';
import { printable, terminalWidth, wrapTable } from '../output.ts';
import { typesOf } from './input.ts';

export function capabilityList(capabilities: Readonly<Record<string, OfferedCapability>>, asJson: boolean): string {
  const all = Object.entries(capabilities);
  if (asJson) return JSON.stringify(all.map(([id, { summary, price, scope }]) => ({ id, summary, price, scope })));
  const rows = all.map(([id, { summary }]) => [id, printable(summary)]);
  return wrapTable([['CAPABILITY', 'WHAT IT DOES'], ...rows], terminalWidth());
}

export function describe(
  id: string,
  { method, path, summary, price, scope, schema, idempotent, stream }: OfferedCapability,
): string {
  const fields = fieldsWithin(schema).filter(({ path: name }) => !name.includes('[]'));
  const rows = fields.map(({ path: name, schema: field, required }) => [
    `  ${name}`,
    typeInWords(field),
    required ? 'required' : '',
    firstSentence(field.description ?? ''),
  ]);
  return [
    `${id}: ${printable(summary)}`,
    '',
    `  ${method} ${path}, ${price}, scope ${scope}${idempotent ? ', takes an idempotency key' : ''}`,
    '',
    ...(stream === true ? ['It is a stream: `qm call` prints a line for each event until you stop it.', ''] : []),
    rows.length === 0 ? 'It has no fields.' : `Fields:\n${wrapTable(rows, terminalWidth())}`,
  ].join('\n');
}

function typeInWords(schema: JsonSchema): string {
  const values = schema.enum?.map((value) => String(value)).join('|') ?? '';
  if (values !== '' && values.length <= 40) return values;
  return [...typesOf(schema)].join('|') || 'any JSON';
}

/** A whole sentence, however long. */
function firstSentence(text: string): string {
  const sentence = /^.*?\.(?=\s|$)/s.exec(text)?.[0] ?? text;
  return printable(
    sentence
      .replaceAll(/\s+/g, ' ')
      .replace(/[;:,]?\s*$/, '')
      .replace(/([^.!?…])$/, '$1.'),
  );
}
