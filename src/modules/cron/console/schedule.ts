// Shared parts of the schedule pages: types from the capabilities, state badges, texts and form fields.

import { field } from '../../../kit/console/form.ts';
import { badge } from '../../../kit/console/table.ts';
import { time } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { inZone } from '../../../kit/console/zone.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';
import type { list } from '../capabilities/list.ts';
import type { runs } from '../capabilities/runs.ts';

export type Run = ItemOf<typeof runs>;

export type Job = DataOf<typeof get>;
export type Listed = ItemOf<typeof list>;

export function jobPath(id: string): string {
  return `/schedules/${encodeURIComponent(id)}`;
}

export function stateOf({ status }: Listed): Html {
  return badge(status, status === 'active' ? 'good' : status === 'paused' ? 'warning' : 'plain');
}

export function runState({ status }: Pick<Run, 'status'>): Html {
  return badge(status, status === 'succeeded' ? 'good' : status === 'failed' ? 'critical' : 'warning');
}

/** `0 9 * * *`, or `once`. */
export function scheduleText({ cron_expr: expression }: Listed): Html | string {
  return expression === null ? 'once' : html`<code>${expression}</code>`;
}

/** In the reader's zone and, where it has another one, in the job's. */
export function nextRun(visit: Visit, next: string | null, timezone: string): Html {
  if (next === null) return html`<span class="quiet">none</span>`;
  const isSame = timezone === visit.preferences.zone;
  return html`${time(visit, next)}${isSame ? '' : html` <span class="quiet">${inZone(next, timezone)}, ${timezone}</span>`}`;
}

/** What create and update take alike. */
export function jobFields(visit: Visit, act: string, job?: Job): Html {
  return html`${field(visit, act, { name: 'task', label: 'URL', value: job?.task_url ?? '', isRequired: true, hint: 'Each run is a signed POST to it.', attributes: html`inputmode="url" spellcheck="false" placeholder="https://example.org/tasks/report"` })}
${field(visit, act, { name: 'name', label: 'Name', value: job?.name ?? '' })}
<div class="pair">${field(visit, act, { name: 'cron_expr', label: 'Cron expression', value: job?.cron_expr ?? '', hint: 'Minute, hour, day of month, month, day of week. Example: 30 9 * * MON-FRI', attributes: html`spellcheck="false"` })}
${field(visit, act, { name: 'timezone', label: 'Time zone', value: job?.timezone ?? 'UTC', attributes: html`spellcheck="false"` })}</div>
${field(visit, act, { name: 'run_at', label: 'Or run once at', value: job?.run_at ?? '', hint: 'Instead of a cron expression. Example: 2030-01-31T18:00:00Z', attributes: html`spellcheck="false"` })}`;
}
