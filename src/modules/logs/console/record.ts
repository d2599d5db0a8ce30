// A record in the list: a line, and below it all that it holds, each value a link that narrows the list to it.
import { badge } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { search } from '../capabilities/search.ts';
import { attributeName, narrowedPath } from './filter.ts';

export type LogRecord = ItemOf<typeof search>;

const VALUE_CHARACTERS_MAX = 1_000;
const ATTRIBUTES_SHOWN = 128;

const kinds: Readonly<Record<string, Parameters<typeof badge>[1]>> = {
  warn: 'warning',
  error: 'critical',
  fatal: 'critical',
};

export const levelBadge = ({ level }: LogRecord) => badge(level, kinds[level] ?? 'plain');

export function recordRow(visit: Visit, record: LogRecord): Html {
  return html`<details class="record"><summary>${short(record.message, 300)}</summary>${details(visit, record)}</details>`;
}

export function serviceLink(visit: Visit, { service }: LogRecord): Html {
  return html`<a href="${narrowedPath(visit, { service })}">${short(service, 40)}</a>`;
}

function details(visit: Visit, record: LogRecord): Html {
  const { message, service, timestamp, trace_id: trace, span_id: span } = record;
  const around = `${visit.path('/logs')}?${new URLSearchParams({ around: timestamp, service })}`;
  const all = [...Object.entries(record.attributes), ...Object.entries(record.resource ?? {})];
  const attributes = all.slice(0, ATTRIBUTES_SHOWN).map(([name, value]) => attribute(visit, name, value));
  return html`<pre class="text" tabindex="0" aria-label="Message">${message.slice(0, 64 * 1024)}</pre>
<p>${time(visit, timestamp)} · <a href="${around}">What ${service.slice(0, 40)} wrote before and after</a></p>
${trace === null ? '' : traceLinks(visit, trace)}${span === null ? '' : html`<p>Span <code>${span}</code></p>`}
${record.is_cut === true ? html`<p class="quiet">The record was cut.</p>` : ''}
<dl class="facts">${attributes}</dl>`;
}

function traceLinks(visit: Visit, trace: string): Html {
  const calls = visit.path(`/requests?outcome=all&trace_id=${trace}`);
  const errors = visit.path(`/errors?q=${trace}`);
  const logs = `${visit.path('/logs')}?trace_id=${trace}`;
  return html`<p>Trace <a href="${logs}"><code>${trace}</code></a> · <a href="${calls}">Requests</a> · <a href="${errors}">Errors</a></p>`;
}

function attribute(visit: Visit, name: string, value: unknown): Html {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isOne = value === null || typeof value !== 'object';
  const shown = short(text, VALUE_CHARACTERS_MAX);
  const content =
    isOne && text.length <= VALUE_CHARACTERS_MAX && name !== ''
      ? html`<a href="${narrowedPath(visit, { [attributeName(name)]: text })}">${text === '' ? '(empty)' : shown}</a>`
      : shown;
  return html`<dt>${short(name, 80)}</dt><dd>${content}</dd>`;
}
