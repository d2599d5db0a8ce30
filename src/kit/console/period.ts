// The period of a page's figures: one control, kept in the address. Each length has the granularity that the API's bounds allow.
import { type Html, html } from '../../lib/html.ts';
import { DAY_MS, HOUR_MS, iso, startOfDay, startOfMonth } from '../../lib/time.ts';
import { tabs, withQuery } from './table.ts';
import type { Visit } from './visit.ts';
import { atWallClock, wallClock } from './zone.ts';

export type Granularity = 'hour' | 'day' | 'month';

export interface Period {
  readonly name: string;
  /** Of whole hours, or days; `to` is not in it. */
  readonly from: string;
  readonly to: string;
  /** Of the steps that its figures are shown in. */
  readonly granularity: Granularity;
  /** The granularities that the API's bounds allow for it. */
  readonly offered: readonly Granularity[];
  /** Another one is asked for by times, not by days. */
  readonly hasTimes: boolean;
}

const lengths: Readonly<
  Record<string, { readonly label: string; readonly ms: number; readonly granularity: Granularity }>
> = {
  '1h': { label: '1 hour', ms: HOUR_MS, granularity: 'hour' },
  '24h': { label: '24 hours', ms: DAY_MS, granularity: 'hour' },
  '7d': { label: '7 days', ms: 7 * DAY_MS, granularity: 'hour' },
  '30d': { label: '30 days', ms: 30 * DAY_MS, granularity: 'day' },
};
/** The API tells this many steps at once (account.usage.timeseries), hours of the last 62 days and days of the last 430. */
const HOURS_MAX = 744;
const DAYS_MAX = 400;
const MONTHS_MAX = 60;
const MONTH_DAYS = 28;
const HOURS_KEPT_DAYS = 62;
const DAYS_KEPT_DAYS = 430;

/** The period that the address asks for, in its `step`; `usual` when it asks for none that there is. */
export function periodOf(visit: Visit, usual = '7d'): Period {
  const { query, nowMs } = visit;
  const name = query.get('period') ?? usual;
  const period = (name === 'custom' ? customPeriod(visit) : null) ?? namedPeriod(name, usual, nowMs);
  const asked = period.offered.find((granularity) => granularity === query.get('step'));
  return asked === undefined ? period : { ...period, granularity: asked };
}

function namedPeriod(name: string, usual: string, nowMs: number): Period {
  if (name === 'month') return lasting('month', startOfMonth(nowMs), nextHour(nowMs), 'day', nowMs);
  const known = Object.hasOwn(lengths, name) ? name : usual;
  const { ms, granularity } = lengths[known] as (typeof lengths)[string];
  const toMs = granularity === 'day' ? startOfDay(nowMs) + DAY_MS : nextHour(nowMs);
  return { ...lasting(known, toMs - ms, toMs, granularity, nowMs), hasTimes: ms <= DAY_MS };
}

/** The period of the same length before. */
export function periodBefore({ from, to }: Period): Pick<Period, 'from' | 'to'> {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  return { from: iso(fromMs - (toMs - fromMs)), to: from };
}

/** So many days up to the end of this hour. */
export function lastDays({ nowMs }: Visit, days: number): Pick<Period, 'from' | 'to'> {
  const toMs = nextHour(nowMs);
  return { from: iso(toMs - days * DAY_MS), to: iso(toMs) };
}

/** Hidden fields that keep the period when another form of the page is sent. */
export function periodFields({ query }: Visit): Html {
  return html`${['period', 'from', 'to', 'step'].flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [html`<input type="hidden" name="${name}" value="${value}">`];
  })}`;
}

/** The period of this page in the address of another one, which also asks for `more`. */
export function withPeriod({ query }: Visit, more: Readonly<Record<string, string>>): URLSearchParams {
  const kept = [...query].filter(([name]) => ['period', 'from', 'to'].includes(name));
  return new URLSearchParams([...kept, ...Object.entries(more)]);
}

/** Chooses among the steps that the period can be told in; nothing where there is one only. */
export function stepTabs(visit: Visit, { granularity, offered }: Period): Html {
  if (offered.length < 2) return html``;
  return tabs(
    'Step',
    offered.map((step) => ({
      text: `By ${step}`,
      href: withQuery(visit, { step }),
      isHere: step === granularity,
    })),
  );
}

export function periodControl(visit: Visit, period: Period): Html {
  const entries = [
    ...Object.entries(lengths).map(([of, { label }]) => [of, label] as const),
    ['month', 'This month'] as const,
  ];
  const links = entries.map(([of, text]) => ({
    text,
    href: withQuery(visit, { period: of, from: null, to: null, step: null, cursor: null }),
    isHere: of === period.name,
  }));
  const others = [...visit.query].filter(
    ([field]) => !['period', 'from', 'to', 'step', 'cursor', 'done'].includes(field),
  );
  const kept = others.map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`);
  return html`<div class="period">${tabs('Period', links)}
<form method="get" class="row"><input type="hidden" name="period" value="custom">${kept}
${boundFields(visit, period)} <button>Show</button></form></div>`;
}

/** Days are UTC, as budgets are; times are the reader's. */
function boundFields({ preferences: { zone } }: Visit, { from, to, hasTimes }: Period): Html {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const [type, first, last] = hasTimes
    ? ['datetime-local', wallClock(fromMs, zone), wallClock(toMs, zone)]
    : ['date', from.slice(0, 10), iso(toMs - 1).slice(0, 10)];
  return html`<label>From <input type="${type}" name="from" value="${first}"></label> <label>to <input type="${type}" name="to" value="${last}"></label>${hasTimes ? html` <span class="quiet">${zone}</span>` : ''}`;
}

/** From days, the last one included, or from times to times. Null: that is no period. */
function customPeriod(visit: Visit): Period | null {
  const [from, to] = [boundOf(visit, 'from'), boundOf(visit, 'to')];
  if (from === null || to === null) return null;
  const fromMs = Math.floor(from.ms / HOUR_MS) * HOUR_MS;
  const toMs = to.isDay ? to.ms + DAY_MS : Math.ceil(to.ms / HOUR_MS) * HOUR_MS;
  if (toMs <= fromMs) return null;
  const days = (toMs - fromMs) / DAY_MS;
  if (days > MONTHS_MAX * MONTH_DAYS)
    return lasting('custom', toMs - MONTHS_MAX * MONTH_DAYS * DAY_MS, toMs, 'month', visit.nowMs);
  const usual = days <= 7 ? 'hour' : days <= DAYS_MAX ? 'day' : 'month';
  return { ...lasting('custom', fromMs, toMs, usual, visit.nowMs), hasTimes: !from.isDay || !to.isDay };
}

/** `2026-11-24` is a day in UTC, `2026-11-24T15:00Z` an instant, and without its Z a time of the reader's, as a form sends it. */
function boundOf(
  { query, preferences: { zone } }: Visit,
  name: string,
): { readonly ms: number; readonly isDay: boolean } | null {
  const text = query.get(name) ?? '';
  const isDay = !text.includes('T');
  const [clock, of] = isDay ? [`${text}T00:00`, 'UTC'] : text.endsWith('Z') ? [text.slice(0, -1), 'UTC'] : [text, zone];
  const ms = atWallClock(clock, of);
  return ms === null ? null : { ms, isDay };
}

function nextHour(ms: number): number {
  return (Math.floor(ms / HOUR_MS) + 1) * HOUR_MS;
}

/** `usual`: how it is told, unless that is not offered for it. */
function lasting(name: string, fromMs: number, toMs: number, usual: Granularity, nowMs: number): Period {
  const days = (toMs - fromMs) / DAY_MS;
  const isOld = fromMs < startOfMonth(nowMs - DAYS_KEPT_DAYS * DAY_MS);
  const allowed: Readonly<Record<Granularity, boolean>> = {
    hour: days * 24 <= HOURS_MAX && fromMs >= startOfDay(nowMs - HOURS_KEPT_DAYS * DAY_MS),
    day: days >= 2 && days <= DAYS_MAX && !isOld,
    month: days >= 2 * MONTH_DAYS || isOld,
  };
  const steps: readonly Granularity[] = ['hour', 'day', 'month'];
  const offered = steps.filter((step) => allowed[step]);
  const granularity = allowed[usual] ? usual : (offered[0] ?? 'day');
  return { name, from: iso(fromMs), to: iso(toMs), granularity, offered, hasTimes: false };
}
