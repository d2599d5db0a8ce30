// A key as the API tells it, the time over which its spend is told, and the one that an address names.

import type { Page } from '../../../../kit/console/table.ts';
import type { ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { problem } from '../../../../problems/problem.ts';
import { keysList } from '../../capabilities/keys/list.ts';

export const DAYS = 30;

/** As usage sums it up. */
export interface Spent {
  readonly spend_usd: number;
  readonly request_count: number;
  readonly error_count: number;
}

export type Key = ItemOf<typeof keysList>;

const kinds: Readonly<Record<string, string>> = { read: 'read', write: 'read and write', admin: 'do everything in' };

/** `read and write queue, errors.capture`: what a key may do. `max`: beyond so many it is told how many more. */
export function scopesInWords(scopes: readonly string[] | null, max = Number.POSITIVE_INFINITY): string {
  if (scopes === null) return 'everything';
  const words = scopes.slice(0, max).map((scope) => {
    const [module = '', kind] = scope.split(':');
    if (scope === '*') return 'everything';
    if (kind !== undefined) return `${kinds[kind] ?? kind} ${module}`;
    return scope.includes('.') ? scope : `do everything in ${module}`;
  });
  const rest = scopes.length - words.length;
  return `${words.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const LIMIT = 100;
const PAGES_MAX = 10;

/** The key of the address. There is no capability for one: it is looked for in the list. Throws NOT_FOUND. */
export async function findKey(visit: Visit): Promise<Key> {
  let cursor: string | null | undefined;
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const { items, next_cursor }: Page<Key> = await visit.need(keysList, { cursor, limit: LIMIT });
    const found = items.find(({ id }) => id === visit.params.id);
    if (found !== undefined) return found;
    cursor = next_cursor;
  }
  throw problem('NOT_FOUND');
}
