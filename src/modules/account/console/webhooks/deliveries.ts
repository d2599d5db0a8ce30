// Deliveries of one webhook: what was sent, the answer to each attempt, and ways to send one or several again.

import { type Answer, answerText } from '../../../../kit/console/answer.ts';
import { copiedId } from '../../../../kit/console/copied.ts';
import { formFields } from '../../../../kit/console/form.ts';
import { filterTabs } from '../../../../kit/console/list-page.ts';
import { badge, facts, more, type Page, table } from '../../../../kit/console/table.ts';
import { ago, payload, time } from '../../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import type { webhooksDeliveries } from '../../capabilities/webhooks/deliveries.ts';
import { webhooksRedeliver } from '../../capabilities/webhooks/redeliver.ts';

export const REDELIVER = 'redeliver';
export const REDELIVER_SELECTED = 'redeliver_selected';

export type Delivery = ItemOf<typeof webhooksDeliveries>;

const EVENTS = { call: 'account.events.list' };
const DELIVERIES = { call: 'account.webhooks.deliveries' };
const STATUSES = ['pending', 'succeeded', 'failed', 'exhausted', 'skipped'] as const;

export function statusTabs(visit: Visit, here: string | undefined): Html {
  return filterTabs(visit, { name: 'status', label: 'Status of deliveries', values: STATUSES }, here);
}

/** `payloads`: what was sent, by the id of its event. */
export function deliveries(visit: Visit, page: Page<Delivery>, payloads: ReadonlyMap<string, unknown>): Html {
  const mayRedeliver = visit.may(webhooksRedeliver);
  const rows = table<Delivery>({
    caption: 'Deliveries',
    rows: page.items,
    empty: html`<p>No deliveries. Send a test event to see whether the receiver is reached.</p>`,
    columns: [
      { title: 'Event', cell: (one) => html`${one.event_type}${details(visit, one, payloads.get(one.event_id))}` },
      { title: 'Status', cell: statusOf },
      { title: 'Answer', cell: answerOf },
      { title: 'Attempts', kind: 'number', cell: ({ attempt }) => String(attempt) },
      { title: 'Next attempt', cell: ({ next_attempt_at: next }) => (next === null ? '' : ago(visit, next)) },
      { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
      ...(mayRedeliver ? [{ title: 'Actions', cell: again }] : []),
    ],
    ...(mayRedeliver
      ? {
          select: {
            visit,
            acts: [{ act: REDELIVER_SELECTED, label: 'Redeliver selected' }],
            idOf: ({ delivery_id: id }: Delivery) => id,
            nameOf: ({ event_type: type, created_at: at }: Delivery) => `${type} of ${at}`,
          },
        }
      : {}),
  });
  // A form may not stand within another: those of the rows' buttons follow the table.
  const forms = mayRedeliver
    ? page.items.filter((one) => againText(one) !== null).map((one) => againForm(visit, one))
    : [];
  return html`${rows}${forms}${more(visit, page)}`;
}

function statusOf({ status }: Delivery): Html {
  const isBad = status === 'failed' || status === 'exhausted';
  return badge(
    status,
    status === 'succeeded' ? 'good' : isBad ? 'critical' : status === 'pending' ? 'warning' : 'plain',
  );
}

/** What came back, or why nothing did. */
export function answerOf(of: Answer): string {
  return answerText(of) ?? 'none yet';
}

/** What is pending is sent now; before its first attempt has ended, and while one runs, it is on its way. */
function againText({ status, next_attempt_at: next, attempts: made }: Delivery): string | null {
  if (status !== 'pending') return 'Redeliver';
  return next === null || made.length === 0 ? null : 'Resend now';
}

function again(one: Delivery): Html | string {
  const text = againText(one);
  return text === null ? '' : html`<button form="again-${one.delivery_id}">${text}</button>`;
}

function againForm(visit: Visit, { delivery_id: id }: Delivery): Html {
  return html`<form method="post" id="again-${id}">${formFields(visit, REDELIVER)}<input type="hidden" name="delivery_id" value="${id}"></form>`;
}

/** What was sent and what came back; closed, so that the list stays one of lines. */
function details(visit: Visit, one: Delivery, event: unknown): Html {
  const headers = one.request_headers;
  return html`<details id="delivery-${one.delivery_id}"><summary>Details</summary>${facts([
    ['Delivery', copiedId(one.delivery_id)],
    ['Event', copiedId(one.event_id)],
    ['Attempts', one.attempts.length === 0 ? null : attempts(visit, one)],
  ])}${event === undefined ? '' : labelledPayload('Payload', event, EVENTS)}${headers === null ? '' : labelledPayload('Headers of the last request', headerLines(headers), DELIVERIES)}${one.response_snippet === null ? '' : labelledPayload('Beginning of the last answer', one.response_snippet, DELIVERIES)}</details>`;
}

function labelledPayload(label: string, value: unknown, whole: { readonly call: string }): Html {
  return html`<p class="quiet small">${label}</p>${payload(value, label, whole)}`;
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}

function attempts(visit: Visit, { attempts: made }: Delivery): Html {
  return html`<ol class="plain">${made.map((each) => html`<li>${time(visit, each.at)}: ${answerOf(each)}</li>`)}</ol>`;
}
