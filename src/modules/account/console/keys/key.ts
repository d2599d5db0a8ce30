// Shared parts of the key pages: texts of scopes, cap and status, the period of its spend, and the key that an address names.

import { choice, field } from '../../../../kit/console/form.ts';
import { badge, type Page } from '../../../../kit/console/table.ts';
import { exactMoney } from '../../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
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

const kinds: Readonly<Record<string, string>> = { read: 'read', write: 'read and write', admin: 'full access' };

/** `queue: read and write, errors.capture`: what a key may do. `max`: beyond so many it is told how many more. */
export function scopesInWords(scopes: readonly string[] | null, max = Number.POSITIVE_INFINITY): string {
  if (scopes === null) return 'Full access';
  const words = scopes.slice(0, max).map((scope) => {
    const [module = '', kind] = scope.split(':');
    if (scope === '*') return 'Full access';
    if (kind !== undefined) return `${module}: ${kinds[kind] ?? kind}`;
    return scope.includes('.') ? scope : `${module}: full access`;
  });
  const rest = scopes.length - words.length;
  return `${words.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

/** `$5.00 a day`; null: it has no cap. */
export function capText({ spend_cap_usd: cap, spend_cap_period: of }: Key): string | null {
  if (cap === null) return null;
  const per: Readonly<Record<string, string>> = { daily: 'a day', monthly: 'a month' };
  return `${exactMoney(cap)} ${per[of ?? ''] ?? 'in total'}`;
}

export function statusOf({ status, flagged_at: flaggedAt }: Key): Html {
  const kind = status === 'active' ? 'good' : status === 'rotating' ? 'warning' : 'plain';
  return html`${badge(status, kind)}${flaggedAt === null ? '' : html` ${badge('leak suspected', 'critical')}`}`;
}

/** Fields of a key's spend cap. `value`: the cap as it is. */
export function capFields(visit: Visit, act: string, value: string, period: string): Html {
  const hint = 'Calls beyond it are refused. Empty: only the balance and the budget limit the key.';
  return html`<div class="pair">${field(visit, act, { name: 'spend_cap_usd', label: 'Spend cap, USD', value, hint, attributes: html`inputmode="decimal"` })}
${choice(visit, act, {
  name: 'spend_cap_period',
  label: 'Cap period',
  value: period,
  options: [
    ['total', 'In total'],
    ['daily', 'Per day (UTC)'],
    ['monthly', 'Per month (UTC)'],
  ],
})}</div>`;
}

const LIMIT = 100;
const PAGES_MAX = 10;

/** The key of the address. There is no capability for one: it is looked for in the list. Throws NOT_FOUND. */
export async function findKey(visit: Visit): Promise<Key> {
  let cursor: string | null | undefined;
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const { items, next_cursor }: Page<Key> = await visit.need(keysList, { cursor, limit: LIMIT });
    const found = items.find(({ key_id: id }) => id === visit.params.id);
    if (found !== undefined) return found;
    cursor = next_cursor;
  }
  throw problem('NOT_FOUND');
}
