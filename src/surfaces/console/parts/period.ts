// The period of a page's figures: one control, kept in the address. Each length has the granularity that the API's bounds allow.
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS, HOUR_MS, iso, startOfDay, startOfMonth } from '../../../lib/time.ts';
import type { Visit } from '../visit.ts';
import { tabs, withQuery } from './table.ts';

export type Granularity = 'hour' | 'day' | 'month';

export interface Period {
  readonly name: string;
  /** Of whole hours, or days; `to` is not in it. */
  readonly from: string;
  readonly to: string;
  readonly granularity: Granularity;
}

const lengths: Readonly<
  Record<string, { readonly label: string; readonly ms: number; readonly granularity: Granularity }>
> = {
  '1h': { label: '1 hour', ms: HOUR_MS, granularity: 'hour' },
  '24h': { label: '24 hours', ms: DAY_MS, granularity: 'hour' },
  '7d': { label: '7 days', ms: 7 * DAY_MS, granularity: 'hour' },
  '30d': { label: '30 days', ms: 30 * DAY_MS, granularity: 'day' },
};
/** The API tells this many hours, and days, at once (account.usage.timeseries). */
const HOURS_MAX = 744;
const DAYS_MAX = 400;

/** The period that the address asks for; `usual` when it asks for none that there is. */
export function periodOf(visit: Visit, usual = '7d'): Period {
  const { query, nowMs } = visit;
  const name = query.get('period') ?? usual;
  const custom = name === 'custom' ? customPeriod(query) : null;
  if (custom !== null) return custom;
  if (name === 'month') return lasting('month', startOfMonth(nowMs), nextHour(nowMs), 'day');
  const known = Object.hasOwn(lengths, name) ? name : usual;
  const { ms, granularity } = lengths[known] as (typeof lengths)[string];
  const toMs = granularity === 'day' ? startOfDay(nowMs) + DAY_MS : nextHour(nowMs);
  return lasting(known, toMs - ms, toMs, granularity);
}

/** The period of the same length before. */
export function periodBefore({ name, from, to, granularity }: Period): Period {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  return lasting(name, fromMs - (toMs - fromMs), fromMs, granularity);
}

export function periodControl(visit: Visit, { name, from, to }: Period): Html {
  const entries = [
    ...Object.entries(lengths).map(([of, { label }]) => [of, label] as const),
    ['month', 'This month'] as const,
  ];
  const links = entries.map(([of, text]) => ({
    text,
    href: withQuery(visit, { period: of, from: null, to: null, cursor: null }),
    isHere: of === name,
  }));
  const others = [...visit.query].filter(([field]) => !['period', 'from', 'to', 'cursor', 'done'].includes(field));
  const kept = others.map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`);
  return html`<div class="period">${tabs('Period', links)}
<form method="get" class="row"><input type="hidden" name="period" value="custom">${kept}
<label>From <input type="date" name="from" value="${from.slice(0, 10)}"></label> <label>to <input type="date" name="to" value="${iso(Date.parse(to) - 1).slice(0, 10)}"></label> <button>Show</button></form></div>`;
}

function customPeriod(query: URLSearchParams): Period | null {
  const fromMs = dayOf(query.get('from'));
  const lastMs = dayOf(query.get('to'));
  if (fromMs === null || lastMs === null || lastMs < fromMs) return null;
  const toMs = lastMs + DAY_MS;
  if (toMs - fromMs > DAYS_MAX * DAY_MS) return lasting('custom', toMs - DAYS_MAX * DAY_MS, toMs, 'day');
  return lasting(
    'custom',
    fromMs,
    toMs,
    toMs - fromMs <= 7 * DAY_MS && toMs - fromMs <= HOURS_MAX * HOUR_MS ? 'hour' : 'day',
  );
}

function dayOf(text: string | null): number | null {
  if (text === null || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) ? null : ms;
}

function nextHour(ms: number): number {
  return (Math.floor(ms / HOUR_MS) + 1) * HOUR_MS;
}

function lasting(name: string, fromMs: number, toMs: number, granularity: Granularity): Period {
  return { name, from: iso(fromMs), to: iso(toMs), granularity };
}
