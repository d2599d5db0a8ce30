// The time that graphs show: one of a few, kept in the address, in steps that fit it.
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';

const STEPS = 120;
const STEP_SECONDS_MIN = 15;

const periods = {
  '1h': { label: 'Hour', seconds: 3_600 },
  '6h': { label: '6 hours', seconds: 21_600 },
  '1d': { label: 'Day', seconds: 86_400 },
  '7d': { label: '7 days', seconds: 604_800 },
} as const;
export type PeriodName = keyof typeof periods;

export interface Range {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

export function periodFrom({ query }: Visit): PeriodName {
  const name = query.get('period') ?? '';
  return Object.hasOwn(periods, name) ? (name as PeriodName) : '1h';
}

/** Up to now by the clock of the process, as samples without a time get theirs. */
export function rangeOf(period: PeriodName): Range {
  const { seconds } = periods[period];
  const step = Math.max(STEP_SECONDS_MIN, Math.round(seconds / STEPS));
  // The step that is running belongs to it: what was sent just now is shown.
  const endMs = Math.ceil(Date.now() / 1_000 / step) * step * 1_000;
  return { startMs: endMs - seconds * 1_000, endMs, stepMs: step * 1_000 };
}

export function periodField(here: PeriodName): Html {
  const each = ([value, { label }]: readonly [string, { readonly label: string }]) =>
    html`<option value="${value}"${value === here ? html` selected` : ''}>${label}</option>`;
  return html`<label>Time <select name="period">${Object.entries(periods).map(each)}</select></label>`;
}
