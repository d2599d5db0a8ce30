// The first page of a queue: how it fares over time, and its next messages, which are looked at without taking them.

import { panel } from '../../../kit/console/failure.ts';
import { numberOf } from '../../../kit/console/form.ts';
import type { ResourcePage } from '../../../kit/console/resource-pages.ts';
import { table, teach } from '../../../kit/console/table.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { consume } from '../capabilities/consume.ts';
import { peek as queuePeek } from '../capabilities/peek.ts';
import { publish } from '../capabilities/publish.ts';
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
import { messagesOf, type Queue, type Standing, type Stats } from './queue.ts';

const PEEKED = '5';
const PEEKED_MAX = 10;

export const peekPage: ResourcePage<Standing> = {
  below: '',
  tab: 'Messages',
  isLive: true,
  show,
  async jsonl(visit) {
    const peeked = await visit.call(queuePeek, { queue: visit.params.name, limit: PEEKED_MAX });
    return records(visit, messagesWithSource(peeked));
  },
};

async function show(visit: Visit, { queue, stats }: Standing) {
  const limit = numberOf(visit.query, 'peek') ?? Number(PEEKED);
  const [drawn, peeked] = await Promise.all([
    charts(visit, queue),
    visit.may(queuePeek) ? visit.call(queuePeek, { queue: queue.name, limit }) : null,
  ]);
  const messages = () => next(visit, queue, peeked === null ? [] : messagesWithSource(peeked), stats?.data ?? null);
  const content = html`${drawn}${peeked === null ? html`<p class="quiet">You may not read the messages of this queue.</p>` : panel(visit, 'Next messages', peeked, messages)}`;
  return { content, hasPlots: true };
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
