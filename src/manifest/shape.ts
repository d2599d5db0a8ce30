// The shape of an answer in few words: JSON with the type of each field in its place, for readers who have no use for a whole JSON Schema.
import { alternatives, type JsonSchema } from './json-schema.ts';

/** `"text or null"`, `["item"]`, `{ "name": "text" }`; choices stand between bars: `"ready|failed"`. */
export function shapeOf(schema: JsonSchema): unknown {
  const branches = alternatives(schema);
  if (branches.length > 1 || branches[0] !== schema) return ofBranches(branches);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = [schema.type ?? []].flat();
  const orNull = types.includes('null') || schema.enum?.includes(null) ? ' or null' : '';
  const choices = schema.enum?.filter((each) => each !== null);
  if (choices !== undefined) return `${choices.join('|')}${orNull}`;
  const [type = 'any'] = types.filter((each) => each !== 'null');
  if (type === 'array') return [shapeOf(schema.items ?? {})];
  if (schema.properties !== undefined) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, shapeOf(field)]));
  }
  return `${schema.format ?? type}${orNull}`;
}

/** Of branches with fields the first says the most. */
function ofBranches(branches: readonly JsonSchema[]): unknown {
  const shapes = branches.map(shapeOf);
  const structured = shapes.find((shape) => typeof shape === 'object');
  return structured ?? [...new Set(shapes)].join(' or ');
}
