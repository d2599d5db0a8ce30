// Values as the driver sends them. Done before anything is written to the socket, so that serialising cannot fail half-way.
import type { SqlValue } from './statement.ts';

export function encodeValues(values: readonly SqlValue[]): unknown[] {
  return values.map((value) => {
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof Date) return value.toISOString();
    return value;
  });
}
