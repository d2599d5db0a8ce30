// Inputs that break a capability's schema in one place each, derived from the schema and an input that is valid.
import { type Capability, pathParameters } from '../../src/kit/capability.ts';
import { takesBody } from '../../src/manifest/failures.ts';
import { asJsonSchema, type JsonSchema } from '../../src/manifest/json-schema.ts';
import type { Input } from '../support/capabilities.ts';

export interface BadInput {
  readonly title: string;
  readonly input: Input;
  /** The field at fault; `param` names it or something within it. */
  readonly field: string;
  readonly place: Place;
}

/** Text that a capability may take or refuse, in all fields that may hold it: anything but a failure of the service will do. */
export interface StrangeInput {
  readonly title: string;
  readonly valid: Input;
  readonly fields: Input;
}

type Place = 'path' | 'query' | 'body';

const ofEachType: Readonly<Record<string, unknown>> = {
  null: null,
  boolean: true,
  number: 7,
  string: 'text',
  // Not an empty one: that is a filter without conditions.
  array: [[]],
  object: {},
};

export function badInputs(capability: Capability, valid: Input): BadInput[] {
  return fieldsOf(capability).flatMap(({ field, schema, place, isRequired }) => {
    const withValue = ([what, value]: BadValue): BadInput => ({
      title: `${field}: ${what}`,
      input: { ...valid, [field]: value },
      field,
      place,
    });
    const { [field]: _left, ...without } = valid;
    const missing: BadInput[] =
      isRequired && place !== 'path' ? [{ title: `${field}: missing`, input: without, field, place }] : [];
    const bad = badValues(schema, place).filter(([, , lenient]) => lenient !== true);
    return [...missing, ...bad.map(withValue)];
  });
}

/** One for each kind of strange text, and for each place of it within an entry. */
export function strangeInputs(capability: Capability, valid: Input): StrangeInput[] {
  const strange = fieldsOf(capability).flatMap(({ field, schema, place }) =>
    badValues(schema, place)
      .filter(([, , lenient]) => lenient === true)
      .map(([what, value]) => ({ field, what, value })),
  );
  return [...Map.groupBy(strange, ({ what }) => what)].map(([title, texts]) => ({
    title,
    valid,
    fields: Object.fromEntries(texts.map(({ field, value }) => [field, value])),
  }));
}

const ALL_STRANGE = 'strange text';
const strangeParts: Readonly<Record<string, string>> = {
  'a path out': '../../etc/passwd',
  'strange letters': '𝒳\u202e\u{10ffff}',
  SQL: `x'; DROP TABLE core.account; --`,
};
const strangeText = Object.values(strangeParts).join(' ');

/** Each thing of a strange text alone, for the fields that did not take them together. */
export function partsOf({ title, valid, fields }: StrangeInput, refused: readonly string[]): StrangeInput[] {
  if (!title.endsWith(ALL_STRANGE) || refused.length === 0) return [];
  const whole = JSON.stringify(strangeText);
  return Object.entries(strangeParts).map(([part, text]) => ({
    title: title.replace(ALL_STRANGE, part),
    valid,
    fields: Object.fromEntries(
      refused.map((field) => [
        field,
        JSON.parse(JSON.stringify(fields[field]).replaceAll(whole, JSON.stringify(text))),
      ]),
    ),
  }));
}

function fieldsOf(capability: Capability) {
  const { properties = {}, required = [] } = asJsonSchema(capability.input);
  const inPath = new Set(pathParameters(capability.path));
  return Object.entries(properties).map(([field, schema]) => {
    const place: Place = inPath.has(field) ? 'path' : takesBody(capability) ? 'body' : 'query';
    return { field, schema, place, isRequired: required.includes(field) };
  });
}

type BadValue = readonly [what: string, value: unknown, lenient?: boolean];

function badValues(schema: JsonSchema, place: Place): BadValue[] {
  const types = typesOf(schema);
  return [
    ...(place === 'body' ? wrongTypes(types) : []),
    ...(place !== 'body' && (types.has('integer') || types.has('number')) ? notNumbers : []),
    ...(place === 'query' && !types.has('array') ? ([['twice', ['a', 'b']]] as BadValue[]) : []),
    ...(types.has('integer') || types.has('number') ? badNumbers(schema, types) : []),
    ...(types.has('string') ? badTexts(schema, place) : []),
    ...(types.has('array') && place === 'body' ? badArrays(schema) : []),
  ].filter(([, value]) => !(place === 'path' && (value === '' || value === null)));
}

function typesOf(schema: JsonSchema): Set<string> {
  const own = schema.type === undefined ? [] : [schema.type].flat();
  const enumerated =
    schema.enum === undefined ? [] : schema.enum.map((value) => (value === null ? 'null' : typeof value));
  return new Set([...own, ...enumerated, ...(schema.anyOf ?? []).flatMap((branch) => [...typesOf(branch)])]);
}

function wrongTypes(types: ReadonlySet<string>): BadValue[] {
  if (types.size === 0) return [];
  const taken = new Set([...types, ...(types.has('integer') ? ['number'] : [])]);
  return Object.entries(ofEachType).flatMap(([type, value]): BadValue[] =>
    taken.has(type) ? [] : [[`${type} as value`, value]],
  );
}

const NOT_NUMBERS = ['abc', '', '0x10', '1e2', ' 5', '٣', 'Infinity', 'true', '1,2', '99999999999999999999'];
const notNumbers: readonly BadValue[] = NOT_NUMBERS.map((text) => [`the text ${JSON.stringify(text)}`, text]);

function badNumbers({ minimum, maximum }: JsonSchema, types: ReadonlySet<string>): BadValue[] {
  return [
    ...(types.has('integer') && !types.has('number') ? ([['1.5 as whole number', 1.5]] as BadValue[]) : []),
    ...(minimum === undefined ? [] : ([['below the minimum', minimum - 1]] as BadValue[])),
    ...(maximum === undefined
      ? []
      : ([
          ['above the maximum', maximum + 1],
          ['1e300', 1e300],
        ] as BadValue[])),
  ];
}

function badTexts(schema: JsonSchema, place: Place): BadValue[] {
  const { minLength, maxLength, pattern, format, enum: enumerated } = schema;
  return [
    ...(minLength === undefined ? [] : ([['too short', 'a'.repeat(minLength - 1)]] as BadValue[])),
    ...(maxLength === undefined || maxLength > 2000 ? [] : ([['too long', 'a'.repeat(maxLength + 1)]] as BadValue[])),
    ...(enumerated === undefined ? [] : ([['not one of the values', 'none of them']] as BadValue[])),
    ...(format === 'date-time'
      ? ([
          ['not a date', 'tomorrow'],
          ['no such day', '2026-13-41T00:00:00Z'],
        ] as BadValue[])
      : []),
    ...(pattern === undefined ? [] : ([['against the pattern', 'A b/\u0000']] as BadValue[])),
    ['NUL', 'a\0b', place === 'body'],
    ...(place === 'body' ? ([['a lone surrogate', 'a\ud800b', true]] as BadValue[]) : []),
    [ALL_STRANGE, strangeText, true],
  ];
}

function badArrays({ minItems, maxItems, items }: JsonSchema): BadValue[] {
  const types = items === undefined ? new Set<string>() : typesOf(items);
  return [
    ...(minItems === undefined ? [] : ([['empty', []]] as BadValue[])),
    ...(maxItems === undefined
      ? []
      : ([['too many', Array.from({ length: maxItems + 1 }, () => (types.has('string') ? 'a' : {}))]] as BadValue[])),
    ...wrongTypes(types).map(([what, value]): BadValue => [`an entry that is ${what}`, [value]]),
    ...(types.has('object') ? nestedFaults(items as JsonSchema) : []),
  ];
}

/** One fault in a field of the only entry. */
function nestedFaults({ properties = {} }: JsonSchema): BadValue[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    badValues(schema, 'body').map(
      ([what, value, lenient]): BadValue => [
        `an entry with ${name}: ${what}`,
        [{ payload: {}, [name]: value }],
        lenient,
      ],
    ),
  );
}
