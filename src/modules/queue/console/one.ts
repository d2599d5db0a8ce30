// One queue: the head that its pages share, with its figures and tabs, and the first of them: how it fares over time, and its next messages, which
// are looked at without taking them.

import { contentOrFailure, panel } from '../../../kit/console/failure.ts';
import { numberOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { figures, pageTabs, table, teach } from '../../../kit/console/table.ts';
import { ago, count, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { consume } from '../capabilities/consume.ts';
import { dlqList } from '../capabilities/dlq/list.ts';
import { get as queueGet } from '../capabilities/get.ts';
import { list } from '../capabilities/list.ts';
import { peek as queuePeek } from '../capabilities/peek.ts';
import { publish } from '../capabilities/publish.ts';
import { stats as queueStats } from '../capabilities/stats.ts';
import { subscriptions } from '../capabilities/subscriptions.ts';
import { charts } from './charts.ts';
import {
  deliveriesColumn,
  groupColumn,
  type Message,
  messagesWithSource,
  payloadColumn,
  publishedColumn,
  records,
  type Sourced,
} from './messages.ts';
import { againSeconds, ageOf, messagesOf, type Queue, queuePath, type Stats, stateOf } from './queue.ts';

const PEEKED = '5';
const PEEKED_MAX = 10;
/** Queues among which those are looked for that have this one as their dead-letter queue. */
const SOURCES = 100;

/** The pages of a queue, each below its address. */
const rooms = [
  { below: '', title: 'Messages', needs: queueGet },
  { below: '/dlq', title: 'Dead letters', needs: dlqList },
  { below: '/publish', title: 'Publish', needs: publish },
  { below: '/push', title: 'Push', needs: subscriptions },
  { below: '/settings', title: 'Settings', needs: queueGet },
] as const;

export type Room = (typeof rooms)[number]['below'];

export const queuePage: ConsolePage = {
  name: 'queue',
  path: '/queues/{name}',
  needs: queueGet,
  isLive: true,
  show,
  async jsonl(visit) {
    const peeked = await visit.call(queuePeek, { queue: visit.params.name, limit: PEEKED_MAX });
    return records(visit, messagesWithSource(peeked));
  },
};

async function show(visit: Visit): Promise<View> {
  const limit = numberOf(visit.query, 'peek') ?? Number(PEEKED);
  return queueView(visit, '', async (queue, stats) => {
    const [drawn, peeked] = await Promise.all([
      charts(visit, queue),
      visit.may(queuePeek) ? visit.call(queuePeek, { queue: queue.name, limit }) : null,
    ]);
    const messages = () => next(visit, queue, peeked === null ? [] : messagesWithSource(peeked), stats);
    return html`${drawn}${peeked === null ? '' : panel(visit, 'Next messages', peeked, messages)}`;
  });
}

/** A page of the queue: what all of them show, and below it what `content` answers. */
export async function queueView(
  visit: Visit,
  room: Room,
  content: (queue: Queue, stats: Stats | null) => Promise<Html> | Html,
): Promise<View & { readonly hasPlots?: boolean }> {
  const { name = '' } = visit.params;
  const queue = await visit.need(queueGet, { queue: name });
  const [stats, all] = await Promise.all([
    visit.may(queueStats) ? visit.call(queueStats, { queue: name }) : null,
    visit.may(list) ? visit.call(list, { limit: SOURCES }) : null,
  ]);
  const sources = (all?.data?.items ?? []).filter(({ dlq_name }) => dlq_name === name);
  const known = stats?.data ?? null;
  const body = html`<p><a href="${visit.path('/queues')}">Queues</a></p>
<div class="head named"><h1>${short(name, 80)}</h1>${known === null ? '' : html`<p>${stateOf(known, sources.length > 0)}</p>`}</div>
${about(visit, queue, sources)}
${stats === null ? '' : contentOrFailure(visit, stats, (data) => counts(visit, queue, data))}
${roomTabs(visit, name, room)}
${await content(queue, known)}`;
  return { title: name, content: body, hasPlots: room === '', againSeconds: againSeconds([known]) };
}

/** What it is, in a line. */
function about(visit: Visit, { type, dlq_name: dlq, created_at }: Queue, sources: readonly Queue[]): Html {
  const link = (name: string, below = '') =>
    html`<a href="${visit.path(`${queuePath(name)}${below}`)}">${short(name, 80)}</a>`;
  const dead = dlq === null ? html`no dead-letter queue` : html`dead-letter queue ${link(dlq)}`;
  const takes = sources.map(({ name }, i) => html`${i === 0 ? '' : ', '}${link(name, '/dlq')}`);
  return html`<p class="quiet">${type === 'fifo' ? 'FIFO' : 'Standard'} queue · ${dead}${sources.length === 0 ? '' : html` · holds dead letters of ${takes}`} · created ${ago(visit, created_at)}</p>`;
}

function counts(visit: Visit, { name }: Queue, stats: Stats): Html {
  const dead = count(stats.dlq_count);
  const where = visit.path(`${queuePath(name)}/dlq`);
  return figures([
    ['Available', count(stats.available_count)],
    ['In flight', count(stats.in_flight_count)],
    ['Delayed', count(stats.delayed_count)],
    ['Dead letters', visit.may(dlqList) ? html`<a href="${where}">${dead}</a>` : dead],
    ['Oldest message', ageOf(stats) || html`<span class="quiet">none</span>`],
  ]);
}

function roomTabs(visit: Visit, name: string, here: Room): Html {
  const entries = rooms
    .filter(({ needs }) => visit.may(needs))
    .map(({ below, title }) => ({
      text: title,
      href: visit.path(`${queuePath(name)}${below}`),
      isHere: below === here,
    }));
  return pageTabs('Pages of the queue', entries);
}

function next(visit: Visit, queue: Queue, messages: readonly Sourced<Message>[], stats: Stats | null): Html {
  const wanted = visit.query.get('peek') ?? PEEKED;
  const isEmpty = stats !== null && messagesOf(stats) === 0;
  const none = 'No message is available: all of them are in flight or delayed.';
  const head = messages.length === 0 ? '' : peekForm(wanted);
  return html`${head}${table({
    caption: 'Next messages, in the order of their delivery',
    rows: messages,
    empty: isEmpty
      ? teach('The queue is empty. Publish a message and consume it:', fillCalls(visit, queue))
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
  return html`<form method="get" class="row" aria-label="Peek at messages"><label>Messages <input name="peek" value="${wanted}" size="3" inputmode="numeric"></label> <button>Peek</button> <span class="quiet">Peeking takes no lease and does not count as a delivery.</span></form>`;
}

function fillCalls(visit: Visit, { name: queue, type }: Queue) {
  const group = type === 'fifo' ? { message_group_id: 'customer-17' } : {};
  return visit.samples([
    [publish, { queue, payload: { task: 'resize', image: 17 }, ...group }],
    [consume, { queue }],
  ]);
}
