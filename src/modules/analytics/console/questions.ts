// The questions of the page as the address has them, and as the operations take them.
import type { Period } from '../../../kit/console/period.ts';
import { DAY_MS, iso } from '../../../lib/time.ts';
import { type QuestionKind, questionKinds } from '../capabilities/saved-questions.ts';

const WINDOW_DAYS = 14;
const DAYS_MAX = 400;
const DAY_SECONDS = DAY_MS / 1_000;
const widths = ['day', 'week', 'month'] as const;
const PERIODS = 8;

export interface Asked {
  readonly kind: QuestionKind;
  /** Of the operation, without the times. */
  readonly input: Readonly<Record<string, unknown>>;
}

export function kindFrom(query: URLSearchParams): QuestionKind {
  // An address from before there were kinds, which named the steps alone.
  const usual = query.has('steps') ? 'funnel' : 'trends';
  return questionKinds.find((kind) => kind === query.get('ask')) ?? usual;
}

/** Names of fields that come several times, or as one text with commas. */
export function namesIn(query: URLSearchParams, one: string, many: string): string[] {
  const texts = [...query.getAll(one), ...(query.get(many) ?? '').split(',')];
  return texts.map((text) => text.trim()).filter((text) => text !== '');
}

export function askedBy(query: URLSearchParams, interval: Period['granularity']): Asked {
  const kind = kindFrom(query);
  const breakdown = textIn(query, 'breakdown');
  if (kind === 'funnel') {
    const steps = namesIn(query, 'step', 'steps').map((event) => ({ event }));
    const days = wholeIn(query, 'window_days', 1, 90) ?? WINDOW_DAYS;
    return { kind, input: { steps, window_seconds: days * DAY_SECONDS, ...breakdown } };
  }
  if (kind === 'retention') {
    const period = widths.find((width) => width === query.get('width')) ?? 'day';
    const periods = wholeIn(query, 'periods', 2, 31) ?? PERIODS;
    return { kind, input: { ...textIn(query, 'start_event'), ...textIn(query, 'return_event'), period, periods } };
  }
  const events = namesIn(query, 'event', 'events');
  const math = query.has('people') ? 'uniques' : 'total';
  return { kind, input: { ...(events.length === 0 ? {} : { events }), math, interval, ...breakdown } };
}

/** Whether there is enough to ask: a funnel has two steps. */
export function isAskable({ kind, input }: Asked): boolean {
  return kind !== 'funnel' || (input.steps as readonly unknown[]).length >= 2;
}

/** Days that a question of the period is saved with. */
export function daysOf({ from, to }: Pick<Period, 'from' | 'to'>): number {
  return Math.min(DAYS_MAX, Math.max(1, Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)));
}

/** The days up to now, as a question that was saved is asked. */
export function lastDays(nowMs: number, days: number): { readonly from: string; readonly to: string } {
  return { from: iso(nowMs - days * DAY_MS), to: iso(nowMs + 1) };
}

function textIn(query: URLSearchParams, name: string): Readonly<Record<string, string>> {
  const text = query.get(name)?.trim() ?? '';
  return text === '' ? {} : { [name]: text };
}

function wholeIn(query: URLSearchParams, name: string, min: number, max: number): number | undefined {
  const value = Number(query.get(name) ?? '');
  return Number.isInteger(value) && value >= min && value <= max ? value : undefined;
}
