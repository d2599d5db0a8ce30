// Decodes OTLP's common messages from OTLP's JSON: names in camelCase, 64-bit numbers as text or digits, IDs as hex, bytes as base64. Absent and
// null members have their default. A member of another type is an OtlpError that names it; unknown members are ignored.
import {
  idOf,
  type OtlpAttributes,
  type OtlpBudget,
  OtlpError,
  type OtlpMembers,
  type OtlpScope,
  type OtlpValue,
  plainNumber,
} from './values.ts';

export type JsonMembers = Readonly<Record<string, unknown>>;

const INTEGER = /^-?\d{1,20}$/;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const HEX = /^[0-9a-f]*$/;

/** The object under `name`; an empty one when it is absent. */
export function membersOf(value: unknown, name: string): JsonMembers {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new OtlpError(`${name} must be an object`);
  return value as JsonMembers;
}

/** The list under `name`; an empty one when it is absent. */
export function listOf(value: unknown, name: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new OtlpError(`${name} must be an array`);
  return value;
}

export function textOf(value: unknown, name: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw new OtlpError(`${name} must be a string`);
  return value.toWellFormed();
}

/** A number, also one that comes as digits, as 64-bit numbers do: not all of them are exact. */
export function numberOf(value: unknown, name: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && value !== '' && value.length <= 40 && !Number.isNaN(Number(value)))
    return Number(value);
  if (value === 'NaN') return Number.NaN;
  throw new OtlpError(`${name} must be a number`);
}

/** A time in nanoseconds, which comes as digits, as whole milliseconds. */
export function nanosAsMs(value: unknown, name: string): number {
  if (typeof value === 'string' && value.length > 6 && INTEGER.test(value)) return Number(value.slice(0, -6));
  // As a number it is exact to a quarter of a microsecond.
  return Math.floor(Math.round(numberOf(value, name) / 1e3) / 1e3);
}

/** A trace ID (32 digits) or a span ID (16); null: there is none. */
export function hexIdOf(value: unknown, name: string, digits: number): string | null {
  const text = textOf(value, name).toLowerCase();
  const id = idOf(text);
  if (id !== null && (id.length !== digits || !HEX.test(id)))
    throw new OtlpError(`${name} must be ${digits} hexadecimal digits`);
  return id;
}

/** An AnyValue. */
export function anyValueOf(value: unknown, budget: OtlpBudget, depth = 0): OtlpValue {
  budget.take();
  const members = membersOf(value, 'a value');
  if (typeof members.stringValue === 'string') return members.stringValue.toWellFormed();
  if (typeof members.boolValue === 'boolean') return members.boolValue;
  if (members.intValue !== undefined) return integerOf(members.intValue);
  if (members.doubleValue !== undefined) return plainNumber(numberOf(members.doubleValue, 'doubleValue'));
  if (members.arrayValue !== undefined) {
    const inner = budget.enter(depth);
    const { values } = membersOf(members.arrayValue, 'arrayValue');
    return listOf(values, 'arrayValue.values').map((each) => anyValueOf(each, budget, inner));
  }
  if (members.kvlistValue !== undefined) {
    const { values } = membersOf(members.kvlistValue, 'kvlistValue');
    return Object.fromEntries(attributesOf(values, 'kvlistValue.values', budget, budget.enter(depth))) as OtlpMembers;
  }
  if (members.bytesValue !== undefined) return bytesOf(members.bytesValue);
  if (members.stringValue !== undefined && members.stringValue !== null)
    throw new OtlpError('stringValue must be a string');
  return null;
}

function integerOf(value: unknown): number | string {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  if (typeof value !== 'string' || !INTEGER.test(value)) throw new OtlpError('intValue must be a whole number');
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function bytesOf(value: unknown): string {
  const text = textOf(value, 'bytesValue');
  if (!BASE64.test(text)) throw new OtlpError('bytesValue must be base64');
  return text;
}

/** A list of KeyValues. */
export function attributesOf(value: unknown, name: string, budget: OtlpBudget, depth = 0): OtlpAttributes {
  const attributes: OtlpAttributes = new Map();
  for (const pair of listOf(value, name)) {
    const { key, value: held } = membersOf(pair, `an entry of ${name}`);
    attributes.set(textOf(key, 'key'), anyValueOf(held, budget, depth));
  }
  return attributes;
}

/** A Resource. */
export function resourceOf(value: unknown, budget: OtlpBudget): OtlpAttributes {
  return attributesOf(membersOf(value, 'resource').attributes, 'resource.attributes', budget);
}

/** An InstrumentationScope. */
export function scopeOf(value: unknown, budget: OtlpBudget): OtlpScope {
  const { name, version, attributes } = membersOf(value, 'scope');
  return {
    name: textOf(name, 'scope.name'),
    version: textOf(version, 'scope.version'),
    attributes: attributesOf(attributes, 'scope.attributes', budget),
  };
}
