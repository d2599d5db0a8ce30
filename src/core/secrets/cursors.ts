// Cursors of paginated lists: the position after the last row shown, with a MAC that binds it to account, capability and filters (contract §1).
// A cursor of another list, or a forged one, is INVALID_CURSOR.
import { createHmac } from 'node:crypto';
import { problem } from '../../problems/problem.ts';
import { type Secrets, sameDigest } from './secrets.ts';

/** Values that order the list, as the query takes them; numbers beyond 2^53 travel as strings. */
export type CursorPosition = readonly (string | number)[];

export interface Page<Row> {
  readonly items: Row[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

const VERSION = 1;
const MAC_BYTES = 16;
const CHARACTERS_MAX = 4096;
export const LIMIT_DEFAULT = 20;

/** `binding`: account id, capability id, then every filter that must be the same on the next page. */
export function encodeCursor(secrets: Secrets, binding: readonly string[], position: CursorPosition): string {
  const body = Buffer.concat([Buffer.of(VERSION), Buffer.from(JSON.stringify(position))]);
  return Buffer.concat([mac(secrets, binding, body), body]).toString('base64url');
}

/** The position of a cursor made by `encodeCursor` with the same binding. Throws INVALID_CURSOR. */
export function decodeCursor(secrets: Secrets, binding: readonly string[], cursor: string): CursorPosition {
  if (cursor.length > CHARACTERS_MAX) throw invalidCursor();
  const bytes = Buffer.from(cursor, 'base64url');
  const body = bytes.subarray(MAC_BYTES);
  // Decoding skips what is not base64url: only the one spelling that we hand out is taken.
  if (bytes.toString('base64url') !== cursor || body[0] !== VERSION) throw invalidCursor();
  if (!sameDigest(bytes.subarray(0, MAC_BYTES), mac(secrets, binding, body))) throw invalidCursor();
  return JSON.parse(body.toString('utf8', 1)) as CursorPosition;
}

/** One page of `rows`, which were read with a limit of `limit + 1`; `cursorAfter` encodes the position of a row. */
export function page<Row>(rows: readonly Row[], limit: number, cursorAfter: (row: Row) => string): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { items, next_cursor: hasMore ? cursorAfter(last) : null, has_more: hasMore };
}

export interface ListedBy<Row> {
  /** Every filter that must be the same on the next page. */
  readonly filters?: readonly string[];
  /** Reads up to `limit` rows behind the position `after`; from the beginning when it is null. */
  read(after: string | null, limit: number): Promise<readonly Row[]>;
  /** The position of a row, by which the list is ordered. */
  positionOf(row: Row): string | number;
}

/** One page of a list that is ordered by one value. Throws INVALID_CURSOR. */
export async function listPage<Row>(
  ctx: { readonly accountId: string; readonly capability: string; readonly core: { readonly secrets: Secrets } },
  { cursor, limit = LIMIT_DEFAULT }: { readonly cursor?: string; readonly limit?: number },
  { filters = [], read, positionOf }: ListedBy<Row>,
): Promise<Page<Row>> {
  const { secrets } = ctx.core;
  const binding = [ctx.accountId, ctx.capability, ...filters];
  const after = cursor === undefined ? null : String(decodeCursor(secrets, binding, cursor)[0]);
  return page(await read(after, limit + 1), limit, (row) => encodeCursor(secrets, binding, [positionOf(row)]));
}

function mac(secrets: Secrets, binding: readonly string[], body: Buffer): Buffer {
  const hmac = createHmac('sha256', secrets.derive('cursor', 32))
    .update(`${JSON.stringify(binding)}\n`)
    .update(body);
  return hmac.digest().subarray(0, MAC_BYTES);
}

function invalidCursor() {
  return problem('INVALID_CURSOR', { param: 'cursor' });
}
