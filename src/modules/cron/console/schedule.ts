// Shared parts of the schedule pages: types from the capabilities, state badges, texts and form fields.

import { createHash } from 'node:crypto';
import { field, jsonTextOf, numberOf, textOf } from '../../../kit/console/form.ts';
import { instantField } from '../../../kit/console/instant-field.ts';
import { badge } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
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
  const plain = html`spellcheck="false"`;
  const digits = html`inputmode="numeric"`;
  const { queue = '', capability = '', key_id: key = '' } = job?.target ?? {};
  return html`${field(visit, act, { name: 'task', label: 'URL', value: job?.task_url ?? '', hint: 'Each run is a signed POST to it.', attributes: html`inputmode="url" spellcheck="false" placeholder="https://example.org/tasks/report"` })}
<div class="pair">${field(visit, act, { name: 'queue', label: 'Or publish to queue', value: queue, attributes: plain })}
${field(visit, act, { name: 'capability', label: 'Or call capability', value: capability, hint: 'Example: ai.chat', attributes: plain })}</div>
${field(visit, act, { name: 'key_id', label: 'Runs as key', value: key, hint: 'Id of an API key. For a queue or capability, unless you signed in with a key.', attributes: plain })}
${field(visit, act, { name: 'name', label: 'Name', value: job?.name ?? '' })}
<div class="pair">${field(visit, act, { name: 'cron_expr', label: 'Cron expression', value: job?.cron_expr ?? '', hint: 'Minute, hour, day of month, month, day of week. Example: 30 9 * * MON-FRI', attributes: html`spellcheck="false"` })}
${field(visit, act, { name: 'timezone', label: 'Time zone', value: job?.timezone ?? 'UTC', attributes: html`spellcheck="false"` })}</div>
${instantField(visit, act, { name: 'run_at', label: 'Or run once at', value: job?.run_at ?? '', hint: 'Instead of a cron expression.' })}
${field(visit, act, { name: 'payload', label: 'Payload', value: source, rows: 5, hint: 'JSON that each run sends, or the input of the capability. Empty: none.' })}
<div class="pair">${field(visit, act, { name: 'timeout_seconds', label: 'Timeout (s)', value: String(job?.timeout_seconds ?? 15), hint: 'For one attempt, 1 to 900.', attributes: digits })}
${field(visit, act, { name: 'retries', label: 'Retries', value: String(job?.retries ?? 0), hint: 'Of a run that fails, 0 to 10.', attributes: digits })}</div><input type="hidden" name="payload_hash" value="${hashOf(source)}">`;
}

/** The input of create and update, with the payload as it was typed, digit by digit. One of a URL that nobody touched is not sent. */
export function withTarget(fields: object, form: URLSearchParams): JsonText {
  const [task, queue, capability] = ['task', 'queue', 'capability'].map((name) => textOf(form, name));
  const common = { ...fields, timeout_seconds: numberOf(form, 'timeout_seconds'), retries: numberOf(form, 'retries') };
  const typed = form.get('payload')?.replaceAll('\r\n', '\n').trim() ?? '';
  const payload = typed === '' ? null : jsonTextOf(form, 'payload');
  if (queue === undefined && capability === undefined) {
    if (form.has('payload') === false || hashOf(typed) === form.get('payload_hash'))
      return textWith({ ...common, task }, {});
    return textWith({ ...common, task }, { payload: payload ?? 'null' });
  }
  const named = { url: task, queue, capability, key_id: textOf(form, 'key_id') };
  const content = payload === null ? {} : { [queue === undefined ? 'input' : 'payload']: payload };
  return textWith(common, { target: textWith(named, content).text });
}

/** JSON of the fields, and of members that are JSON already. */
function textWith(fields: object, members: Readonly<Record<string, string>>): JsonText {
  const own = JSON.stringify(fields).slice(1, -1);
  const more = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return new JsonText(`{${[...(own === '' ? [] : [own]), ...more].join(',')}}`);
}

/** What each run calls. */
export function targetText({ target }: Pick<Listed, 'target'>, charactersMax: number): Html | string {
  if (target.url !== undefined) return short(target.url, charactersMax);
  return target.queue === undefined ? html`<code>${target.capability ?? ''}</code>` : `queue ${target.queue}`;
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
