// Shared parts of the schedule pages: types from the capabilities, state badges, texts and form fields.

import { createHash } from 'node:crypto';
import { field, jsonTextOf } from '../../../kit/console/form.ts';
import { instantField } from '../../../kit/console/instant-field.ts';
import { badge } from '../../../kit/console/table.ts';
import { time } from '../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { inZone } from '../../../kit/console/zone.ts';
import { type Html, html } from '../../../lib/html.ts';
import { memberSources, memberStart } from '../../../lib/json-source.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { get } from '../capabilities/get.ts';
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
export async function jobFields(visit: Visit, act: string, job?: Job): Promise<Html> {
  const source = job === undefined ? '' : await payloadSource(visit, job);
  return html`${field(visit, act, { name: 'task', label: 'URL', value: job?.task_url ?? '', isRequired: true, hint: 'Each run is a signed POST to it.', attributes: html`inputmode="url" spellcheck="false" placeholder="https://example.org/tasks/report"` })}
${field(visit, act, { name: 'name', label: 'Name', value: job?.name ?? '' })}
<div class="pair">${field(visit, act, { name: 'cron_expr', label: 'Cron expression', value: job?.cron_expr ?? '', hint: 'Minute, hour, day of month, month, day of week. Example: 30 9 * * MON-FRI', attributes: html`spellcheck="false"` })}
${field(visit, act, { name: 'timezone', label: 'Time zone', value: job?.timezone ?? 'UTC', attributes: html`spellcheck="false"` })}</div>
${instantField(visit, act, { name: 'run_at', label: 'Or run once at', value: job?.run_at ?? '', hint: 'Instead of a cron expression.' })}
${field(visit, act, { name: 'payload', label: 'Payload', value: source, rows: 5, hint: 'JSON that each run sends. Empty: none.' })}<input type="hidden" name="payload_hash" value="${hashOf(source)}">`;
}

/** The input of create and update, with the payload as it was typed, digit by digit. One that nobody touched is not sent. */
export function withPayload(fields: object, form: URLSearchParams): JsonText {
  const text = JSON.stringify(fields);
  const typed = form.get('payload')?.replaceAll('\r\n', '\n').trim();
  if (typed === undefined || hashOf(typed) === form.get('payload_hash')) return new JsonText(text);
  return new JsonText(`${text.slice(0, -1)},"payload":${typed === '' ? 'null' : jsonTextOf(form, 'payload')}}`);
}

/** The payload as it was sent, byte for byte; empty: there is none. */
async function payloadSource(visit: Visit, { job_id }: Job): Promise<string> {
  const read = await visit.call(get, { job_id });
  if (read.problem !== null) throw read.problem;
  const { text } = read;
  const { start = 0, end = 0 } = memberSources(text, memberStart(text, 'data') ?? 0).get('payload') ?? {};
  const source = text.slice(start, end).trim();
  return source === 'null' ? '' : source;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
