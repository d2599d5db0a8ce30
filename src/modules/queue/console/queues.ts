// The queues of the account: how many messages wait, are in flight or dead in each, how old the oldest is, and a new one.

import { failure, panel } from '../../../kit/console/failure.ts';
import { asksForNew, type NewForm, newAction, newView, titleWithNew } from '../../../kit/console/new.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { type Column, more, type Page, table, teach } from '../../../kit/console/table.ts';
import { count, short } from '../../../kit/console/text.ts';
import type { Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { create } from '../capabilities/create.ts';
import { dlqList } from '../capabilities/dlq/list.ts';
import { list as queueList } from '../capabilities/list.ts';
import { publish } from '../capabilities/publish.ts';
import { stats as queueStats } from '../capabilities/stats.ts';
import { againSeconds, ageOf, type Queue, queuePath, type Stats, stateOf } from './queue.ts';
import { createFields, createInput } from './settings.ts';

/** Each is a call of its own for its figures. */
const ROWS = 20;

const newQueue: NewForm = {
  act: 'create',
  heading: 'New queue',
  capability: create,
  form: async (visit, act) => html`${await createFields(visit, act)}<button class="main">Create queue</button>`,
};

interface Counted extends Queue {
  /** Null: they could not be read, or may not be. */
  readonly stats: Stats | null;
  /** A queue of the same page has it as its dead-letter queue. */
  readonly holdsDead: boolean;
}

export const queuesPage: ConsolePage = {
  name: 'queues',
  path: '/queues',
  needs: queueList,
  nav: { label: 'Queues', key: 'q', group: 'build' },
  isLive: true,
  show,
  actions: [newAction('/queues', newQueue)],
  acts: {
    [newQueue.act]: actOf({
      capability: create,
      input: createInput,
      done: 'Queue created.',
      next: (data) => queuePath(data.name),
    }),
  },
};

async function show(visit: Visit): Promise<View> {
  if (asksForNew(visit, newQueue)) return newView(visit, newQueue);
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(queueList, { cursor, limit: ROWS });
  const names = (list.data?.items ?? []).map(({ name }) => name);
  const reads = visit.may(queueStats) ? await Promise.all(names.map((queue) => visit.call(queueStats, { queue }))) : [];
  const content = html`${titleWithNew(visit, 'Queues', newQueue)}
${panel(visit, 'All queues', list, (page) => html`${firstFailure(visit, reads)}${queues(visit, page, reads)}${more(visit, page)}`)}`;
  return { title: 'Queues', content, againSeconds: againSeconds(reads.map(({ data }) => data)) };
}

/** Figures that could not be read: what went wrong is told once, not in each row. */
function firstFailure(visit: Visit, reads: readonly Read<Stats>[]): Html {
  const failed = reads.find((read) => read.problem !== null);
  if (failed === undefined || failed.problem === null) return html``;
  return html`<p class="quiet">Some figures could not be read.</p>${failure(visit, failed.problem, failed.requestId)}`;
}

function queues(visit: Visit, { items, next_cursor: next }: Page<Queue>, reads: readonly Read<Stats>[]): Html {
  const figures = reads.length === 0 ? [] : figureColumns(visit);
  const holding = new Set(items.map(({ dlq_name }) => dlq_name));
  return table<Counted>({
    caption: 'Queues',
    // A page of many is in the order of names.
    ...(next === null && !visit.query.has('cursor') ? { sorted: visit } : {}),
    rows: items.map((queue, i) => ({
      ...queue,
      stats: reads[i]?.data ?? null,
      holdsDead: holding.has(queue.name),
    })),
    empty: teach('No queues yet. Create one and publish a message:', firstCalls(visit)),
    columns: [
      {
        title: 'Name',
        sortBy: ({ name }) => name,
        cell: ({ name }) => html`<a id="queue-${name}" href="${visit.path(queuePath(name))}">${short(name, 80)}</a>`,
      },
      ...(reads.length === 0 ? [] : [stateColumn]),
      { title: 'Type', sortBy: ({ type }) => type, cell: ({ type }) => (type === 'fifo' ? 'FIFO' : 'Standard') },
      ...figures,
    ],
  });
}

const stateColumn: Column<Counted> = {
  title: 'Status',
  cell: ({ stats, holdsDead }) => (stats === null ? 'unknown' : stateOf(stats, holdsDead)),
};

function figureColumns(visit: Visit): Column<Counted>[] {
  const figure = (title: string, of: (stats: Stats) => number, text: (stats: Stats) => string): Column<Counted> => ({
    title,
    kind: 'number',
    sortBy: ({ stats }) => (stats === null ? null : of(stats)),
    cell: ({ stats }) => (stats === null ? '' : text(stats)),
  });
  const countFigure = (title: string, of: (stats: Stats) => number) => figure(title, of, (stats) => count(of(stats)));
  const dead: Column<Counted> = {
    title: 'Dead letters',
    kind: 'number',
    sortBy: ({ stats }) => stats?.dlq_count ?? null,
    cell: ({ name, stats }) =>
      stats === null ? '' : stats.dlq_count === 0 ? '0' : deadLink(visit, name, count(stats.dlq_count)),
  };
  return [
    countFigure('Available', ({ available_count }) => available_count),
    countFigure('In flight', ({ in_flight_count }) => in_flight_count),
    countFigure('Delayed', ({ delayed_count }) => delayed_count),
    dead,
    figure('Oldest message', ({ oldest_message_age_seconds }) => oldest_message_age_seconds, ageOf),
  ];
}

function deadLink(visit: Visit, name: string, text: string): Html | string {
  return visit.may(dlqList) ? html`<a href="${visit.path(`${queuePath(name)}/dlq`)}">${text}</a>` : text;
}

function firstCalls(visit: Visit) {
  return visit.samples([
    [create, { name: 'jobs' }],
    [publish, { queue: 'jobs', payload: { task: 'resize', image: 17 } }],
  ]);
}
