// What the pages of schedules share: the records as the calls answer them.
import { type Html, html } from '../../../lib/html.ts';
import { field } from '../parts/form.ts';
import { badge } from '../parts/table.ts';
import { time } from '../parts/text.ts';
import { inZone } from '../parts/zone.ts';
import type { Visit } from '../visit.ts';

export interface Run {
  readonly run_id: string;
  readonly scheduled_at: string;
  readonly started_at: string;
  readonly status: string;
  readonly attempt: number;
  readonly http_status: number | null;
  readonly error_code: string | null;
  readonly latency_ms: number | null;
  readonly response_snippet: string | null;
  readonly cost_usd: number;
}

export interface Job {
  readonly id: string;
  readonly name: string | null;
  readonly task_url: string;
  readonly cron_expr: string | null;
  readonly timezone: string;
  readonly run_at: string | null;
  readonly status: 'active' | 'paused' | 'completed';
  readonly next_run_at: string | null;
  readonly last_run: Run | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret_last4: string;
  readonly created_at: string;
  readonly payload?: unknown;
}

export function jobPath(id: string): string {
  return `/schedules/${encodeURIComponent(id)}`;
}

export function stateOf({ status }: Job): Html {
  return badge(status, status === 'active' ? 'good' : status === 'paused' ? 'warning' : 'plain');
}

export function runState({ status }: Run): Html {
  return badge(status, status === 'succeeded' ? 'good' : status === 'failed' ? 'critical' : 'warning');
}

/** `0 9 * * *`, or `once`. */
export function scheduleText({ cron_expr: expression }: Job): Html | string {
  return expression === null ? 'once' : html`<code>${expression}</code>`;
}

/** In the reader's zone and, where it has another one, in the job's. */
export function nextRun(visit: Visit, { next_run_at: next, timezone }: Job): Html {
  if (next === null) return html`<span class="quiet">none</span>`;
  const isSame = timezone === visit.preferences.zone;
  return html`${time(visit, next)}${isSame ? '' : html` <span class="quiet">${inZone(next, timezone)}, ${timezone}</span>`}`;
}

/** What create and update take alike. */
export function jobFields(visit: Visit, act: string, job?: Job): Html {
  return html`${field(visit, act, { name: 'name', label: 'Name', value: job?.name ?? '' })}
<div class="pair">${field(visit, act, { name: 'cron_expr', label: 'Schedule', value: job?.cron_expr ?? '', hint: 'Minute, hour, day of month, month, day of week: 30 9 * * MON-FRI.', attributes: html`spellcheck="false"` })}
${field(visit, act, { name: 'timezone', label: 'Time zone', value: job?.timezone ?? 'UTC', attributes: html`spellcheck="false"` })}</div>
${field(visit, act, { name: 'run_at', label: 'Or once, at', value: job?.run_at ?? '', hint: 'Such as 2030-01-31T18:00:00Z, in place of a schedule.', attributes: html`spellcheck="false"` })}`;
}
