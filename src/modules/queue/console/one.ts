// One queue: its figures, the next messages without taking them, a message to try it with, its settings, and who gets pushes.

import { panel, shown } from '../../../kit/console/failure.ts';
import { actForm, field, numberOf, textOf } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, facts, figures, more, type Page, table, teach } from '../../../kit/console/table.ts';
import { count, countOf, short, time } from '../../../kit/console/text.ts';
import type { Callable, ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { invalidField } from '../../../problems/problem.ts';
import { remove } from '../capabilities/delete.ts';
import { dlqList } from '../capabilities/dlq/list.ts';
import { get as queueGet } from '../capabilities/get.ts';
import { list } from '../capabilities/list.ts';
import { peek as queuePeek } from '../capabilities/peek.ts';
import { publish as queuePublish } from '../capabilities/publish.ts';
import { purge } from '../capabilities/purge.ts';
import { stats as queueStats } from '../capabilities/stats.ts';
import { subscriptions } from '../capabilities/subscriptions.ts';
import {
  deliveriesColumn,
  groupColumn,
  type Message,
  payloadColumn,
  publishedColumn,
  records,
  type Sourced,
  sourced,
} from './messages.ts';
import { againSeconds, ageOf, command, messagesOf, type Queue, queuePath, type Stats, stateOf } from './queue.ts';
import { settings, update } from './settings.ts';

type Subscription = ItemOf<typeof subscriptions>;

const PEEKED = '5';
const PEEKED_MAX = 10;
/** Queues among which those are looked for that have this one as their dead-letter queue. */
const SOURCES = 100;
const PUBLISH = 'publish';

const publish: Act = {
  capability: queuePublish,
  input(form, { params }) {
    const { name: queue } = params;
    const fields = {
      queue,
      delay_seconds: numberOf(form, 'delay_seconds'),
      priority: numberOf(form, 'priority'),
      message_group_id: textOf(form, 'message_group_id'),
    };
    // As it was typed, digit by digit: it is never read and written again.
    return new JsonText(`${JSON.stringify(fields).slice(0, -1)},"payload":${jsonOf(form, 'payload')}}`);
  },
  done: 'The message was published.',
};

export const queuePage: ConsolePage = {
  name: 'queue',
  path: '/queues/{name}',
  needs: queueGet,
  isLive: true,
  show,
  async jsonl(visit) {
    const peeked = await visit.call(queuePeek, { queue: visit.params.name, limit: PEEKED_MAX });
    return records(visit, sourced(peeked));
  },
  acts: { [PUBLISH]: publish, update },
};

async function show(visit: Visit): Promise<View> {
  const { name = '' } = visit.params;
  const of = { queue: name };
  const queue = await visit.need(queueGet, of);
  const limit = numberOf(visit.query, 'peek') ?? Number(PEEKED);
  const cursor = visit.query.get('cursor') ?? undefined;
  const [stats, peeked, pushed, all] = await Promise.all([
    visit.may(queueStats) ? visit.call(queueStats, of) : null,
    visit.may(queuePeek) ? visit.call(queuePeek, { ...of, limit }) : null,
    visit.may(subscriptions) ? visit.call(subscriptions, { ...of, cursor }) : null,
    visit.may(list) ? visit.call(list, { limit: SOURCES }) : null,
  ]);
  const sources = (all?.data?.items ?? []).filter(({ dlq_name }) => dlq_name === name);
  const content = html`<p><a href="${visit.path('/queues')}">All queues</a></p>
<h1>${short(name, 80)}</h1>
${stats === null ? '' : shown(visit, stats, (data) => counts(visit, queue, data))}
${itself(visit, queue, stats?.data ?? null, sources)}
${peeked === null ? '' : panel(visit, 'Next messages', peeked, () => next(visit, queue, sourced(peeked), stats?.data ?? null))}
${visit.may(queuePublish) ? html`<section class="panel"><h2>Publish a message</h2>${publishForm(visit, queue)}</section>` : ''}
<section class="panel"><h2>Settings</h2>${settings(visit, queue)}</section>
${pushed === null ? '' : panel(visit, 'Push', pushed, (page) => html`${pushes(visit, name, page)}${more(visit, page)}`)}
${ends(visit, name)}`;
  return { title: name, content, againSeconds: againSeconds([stats?.data ?? null]) };
}

function counts(visit: Visit, { name }: Queue, stats: Stats): Html {
  const dead = count(stats.dlq_count);
  const where = visit.path(`${queuePath(name)}/dlq`);
  return figures([
    ['Available', count(stats.available_count)],
    ['In flight', count(stats.in_flight_count)],
    ['Delayed', count(stats.delayed_count)],
    ['Dead letters', visit.may(dlqList) ? html`<a href="${where}">${dead}</a>` : dead],
    ['Oldest', ageOf(stats) || html`<span class="quiet">none</span>`],
  ]);
}

function itself(visit: Visit, queue: Queue, stats: Stats | null, sources: readonly Queue[]): Html {
  const { name, type, dlq_name: dlq } = queue;
  const link = (to: string, text: string) => html`<a href="${visit.path(to)}">${short(text, 80)}</a>`;
  const takes = sources.map(
    (source, i) => html`${i === 0 ? '' : ', '}${link(`${queuePath(source.name)}/dlq`, source.name)}`,
  );
  const canBrowse = visit.may(dlqList) && (dlq !== null || (stats?.dlq_count ?? 0) > 0);
  return facts([
    ['State', stats === null ? null : stateOf(stats, sources.length > 0)],
    ['Type', type === 'fifo' ? 'FIFO' : 'standard'],
    ['Dead letters', canBrowse ? html`<a href="${visit.path(`${queuePath(name)}/dlq`)}">Browse and redrive</a>` : null],
    ['Dead-letter queue', dlq === null ? 'none' : link(queuePath(dlq), dlq)],
    ['Takes dead letters of', sources.length === 0 ? null : html`${takes}`],
    ['Created', time(visit, queue.created_at)],
    ['Changed', time(visit, queue.updated_at)],
  ]);
}

function next(visit: Visit, queue: Queue, messages: readonly Sourced<Message>[], stats: Stats | null): Html {
  const wanted = visit.query.get('peek') ?? PEEKED;
  const isEmpty = stats !== null && messagesOf(stats) === 0;
  const none = 'No message is available: those of the queue are in flight or delayed.';
  const head = messages.length === 0 ? '' : peekForm(wanted);
  return html`${head}${table({
    caption: 'Next messages, in the order of their delivery',
    rows: messages,
    empty: isEmpty
      ? teach('The queue is empty. These fill it and take a message:', fillCalls(visit, queue))
      : html`<p>${none}</p>`,
    columns: [
      { title: 'Message', cell: ({ message_id: id }) => html`<code id="next-${id}">${id}</code>` },
      payloadColumn(visit),
      ...(queue.type === 'fifo' ? [groupColumn] : []),
      publishedColumn(visit),
      deliveriesColumn,
    ],
  })}`;
}

function peekForm(wanted: string): Html {
  return html`<form method="get" class="row" aria-label="Peek at messages"><label>Messages <input name="peek" value="${wanted}" size="3" inputmode="numeric"></label> <button>Peek</button> <span class="quiet">Peeking takes no lease and counts as no delivery.</span></form>`;
}

function fillCalls({ baseUrl }: Visit, { name: queue, type }: Queue): string {
  const group = type === 'fifo' ? { message_group_id: 'customer-17' } : {};
  const message = { queue, payload: { task: 'resize', image: 17 }, ...group };
  return `${command(baseUrl, 'POST', '/v1/queue/publish', message)}\n${command(baseUrl, 'POST', '/v1/queue/consume', { queue })}`;
}

function publishForm(visit: Visit, { type, enable_priority, delivery_delay_seconds: delay }: Queue): Html {
  const numeric = html`inputmode="numeric"`;
  const group = { name: 'message_group_id', label: 'Group', hint: 'Empty: the default group.' };
  return actForm(
    visit,
    PUBLISH,
    html`${field(visit, PUBLISH, { name: 'payload', label: 'Payload, a JSON object', value: '{"hello": "world"}', rows: 4, isRequired: true })}
<div class="pair">${field(visit, PUBLISH, { name: 'delay_seconds', label: 'Delay, seconds', attributes: numeric, hint: `Empty: that of the queue, ${count(delay)} s.` })}
${enable_priority ? field(visit, PUBLISH, { name: 'priority', label: 'Priority', attributes: numeric, hint: '0 to 10; 10 goes first.' }) : ''}
${type === 'fifo' ? field(visit, PUBLISH, group) : ''}</div>
<button class="main">Publish</button> <span class="quiet">billed as queue.publish</span>`,
  );
}

function pushes(visit: Visit, queue: string, { items }: Page<Subscription>): Html {
  const call = { queue, url: 'https://example.org/jobs' };
  return table({
    caption: 'Push subscriptions',
    rows: items,
    empty: teach(
      'No address gets pushes: programs consume the queue. This has its messages sent to one:',
      command(visit.baseUrl, 'POST', '/v1/queue/subscribe', call),
    ),
    columns: [
      { title: 'Address', cell: ({ url }) => short(url, 120) },
      { title: 'State', cell: ({ status }) => badge(status, status === 'active' ? 'good' : 'warning') },
      { title: 'Id', cell: ({ subscription_id: id }) => html`<code>${id}</code>` },
      { title: 'Headers', cell: ({ headers }) => headersOf(headers) },
      { title: 'Since', cell: ({ created_at }) => time(visit, created_at) },
      { title: 'At once', kind: 'number', cell: ({ max_in_flight }) => count(max_in_flight) },
      {
        title: 'Lease',
        kind: 'number',
        cell: ({ visibility_timeout: lease }) => (lease === null ? 'of the queue' : `${count(lease)} s`),
      },
    ],
  });
}

function headersOf(headers: Subscription['headers']): Html {
  const names = Object.keys(headers);
  return names.length === 0
    ? html`<span class="quiet">none</span>`
    : html`<span title="${countOf(names.length, 'header')}">${short(names.join(', '), 120)}</span>`;
}

function ends(visit: Visit, name: string): Html {
  const link = (capability: Callable, to: string, text: string) =>
    visit.may(capability) ? html`<p><a href="${visit.path(`${queuePath(name)}/${to}`)}">${text}</a></p>` : '';
  return html`${link(purge, 'purge', 'Purge the queue…')}${link(remove, 'delete', 'Delete the queue…')}`;
}

/** The text that was typed, when it is JSON. */
function jsonOf(form: URLSearchParams, name: string): string {
  const text = form.get(name) ?? '';
  try {
    JSON.parse(text);
  } catch {
    throw invalidField(name, 'json', `${name} must be JSON.`);
  }
  return text;
}
