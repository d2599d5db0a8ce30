// Values as they travel: text or bytes. Done before anything is written to the socket, so that serialising cannot fail half-way.
import type { SqlValue } from './statement.ts';

export type EncodedValue = string | Buffer | null;

export function encodeValues(values: readonly SqlValue[]): EncodedValue[] {
  return values.map((value) => {
    if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
    return value instanceof Date ? value.toISOString() : String(value);
  });
}
