// One event of a group in full: what failed and where, what came before, and all that was sent with it.

import { copiedId } from '../../../kit/console/copied.ts';
import { facts, withQuery } from '../../../kit/console/table.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { get } from '../capabilities/get.ts';
import { breadcrumbs, instant } from './history.ts';
import { jsonBlock, shorten } from './json-block.ts';
import { exceptions, plainStack } from './stack.ts';

const MESSAGE_CHARACTERS_MAX = 10_000;
const FACT_CHARACTERS_MAX = 500;

export type ErrorEvent = DataOf<typeof get>;

/** `visit`: of the page of the group; its query names the event. */
export function eventSections(visit: Visit, event: ErrorEvent): Html {
  const { exception, extra, message, tags } = event;
  const stack = typeof extra.stack === 'string' && (exception?.stacktrace.length ?? 0) === 0 ? extra.stack : null;
  const isTold = message === null || message === event.title || message === exception?.value;
  return html`${isTold ? '' : section('Message', html`<div class="text" dir="auto">${shorten(message, MESSAGE_CHARACTERS_MAX)}</div>`)}
${exception === null ? '' : section('Exception', html`${exceptions(exception)}`)}
${stack === null ? '' : section('Stack trace', plainStack(stack))}
${event.breadcrumbs.length === 0 ? '' : section('Breadcrumbs', breadcrumbs(visit, event.breadcrumbs))}
${section('Event', html`${eventFacts(visit, event)}${neighbours(visit, event)}`)}
${Object.keys(tags).length === 0 ? '' : section('Tags of the event', tagTable(tags))}
${data(event)}`;
}

export function section(title: string, content: Html): Html {
  return html`<section><h2>${title}</h2>${content}</section>`;
}

function eventFacts(visit: Visit, event: ErrorEvent): Html {
  const text = (value: string | null) =>
    value === null ? null : html`<bdi>${shorten(value, FACT_CHARACTERS_MAX)}</bdi>`;
  return facts([
    ['Event', copiedId(event.event_id)],
    ['Happened', instant(visit, event.timestamp)],
    ['Received', instant(visit, event.received_at)],
    ['Environment', text(event.environment)],
    ['Release', text(event.release)],
    ['User', text(event.user_id)],
    ['Idempotency key', text(event.idempotency_key)],
  ]);
}

/** The events of the group before and after it, and itself as a file. */
function neighbours(
  visit: Visit,
  { event_id: id, previous_event_id: previous, next_event_id: next }: ErrorEvent,
): Html {
  const at = (event: string, more: Readonly<Record<string, string>> = {}) => withQuery(visit, { event, ...more });
  return html`<nav class="more" aria-label="Events of the group">${previous === null ? '' : html`<a href="${at(previous)}" rel="prev">Previous event</a>`} ${next === null ? '' : html`<a href="${at(next)}" rel="next">Next event</a>`} <a href="${at(id, { as: 'jsonl' })}">Download the event</a></nav>`;
}

function tagTable(tags: ErrorEvent['tags']): Html {
  const rows = Object.entries(tags).map(
    ([name, value]) =>
      html`<tr><th scope="row" dir="auto">${name}</th><td dir="auto">${shorten(value, FACT_CHARACTERS_MAX)}</td></tr>\n`,
  );
  return html`<table><caption class="unseen">Tags of the event</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead><tbody>${rows}</tbody></table>`;
}

function data({ request, user, context, extra, sdk, runtime }: ErrorEvent): Html {
  const blocks = Object.entries({
    Request: request,
    User: user,
    Context: context,
    Extra: extra,
    Runtime: runtime,
    SDK: sdk,
  })
    .filter(([, value]) => value !== null && Object.keys(value).length > 0)
    .map(
      ([name, value]) =>
        html`<details class="block" id="data-${name}"${name === 'Request' || name === 'User' ? html` open` : ''}><summary>${name}</summary>${jsonBlock(value, name)}</details>\n`,
    );
  return blocks.length === 0 ? html`` : section('Data', html`${blocks}`);
}
