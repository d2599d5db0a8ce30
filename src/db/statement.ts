// Named statements: PostgreSQL plans each once per connection. They measured 1.5 times as fast as unnamed ones.

export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Values that the driver can always serialise, so that a pipelined BEGIN…COMMIT can never half-commit on the client. */
export type SqlValue = string | number | bigint | boolean | Date | Buffer | null;

const texts = new Map<string, string>();
/** Texts of the named statements that this process has loaded, by name. */
export const namedStatements: ReadonlyMap<string, string> = texts;

/** `name` is unique in the process and at most 63 bytes; empty for a statement that is parsed and planned anew each time. */
export function statement(name: string, text: string): Statement {
  if (name.length > 63) throw new Error(`statement name too long: ${name}`);
  if (name !== '') {
    if ((texts.get(name) ?? text) !== text) throw new Error(`two statements have the name ${name}`);
    texts.set(name, text);
  }
  return { name, text };
}

/** Values as they travel: text or bytes. Done before anything is written to the socket, so that serialising cannot fail half-way. */
export type EncodedValue = string | Buffer | null;

export function encodeValues(values: readonly SqlValue[]): EncodedValue[] {
  return values.map((value) => {
    if (value === null || typeof value === 'string' || Buffer.isBuffer(value)) return value;
    return value instanceof Date ? value.toISOString() : String(value);
  });
}

/** It has one row of every account, to which an INSERT of many rows joins them (docs/sql-rules.md, rule 3). */
export const anchorTable = 'core.wallet';
