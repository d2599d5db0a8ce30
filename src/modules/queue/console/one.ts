// The pages of a queue: what all of them show of it, its figures above all, and what is lost with it.

import { contentOrFailure } from '../../../kit/console/failure.ts';
import { resourcePages } from '../../../kit/console/resource-pages.ts';
import { figures } from '../../../kit/console/table.ts';
import { ago, count, short } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { remove } from '../capabilities/delete.ts';
import { dlqList } from '../capabilities/dlq/list.ts';
import { get as queueGet } from '../capabilities/get.ts';
import { list } from '../capabilities/list.ts';
import { stats as queueStats } from '../capabilities/stats.ts';
import { dlqPage } from './dlq.ts';
import { deletionText, purgeDanger } from './ends.ts';
import { peekPage } from './peek.ts';
import { publishPage } from './publish.ts';
import { pushPage } from './push.ts';
import { againSeconds, ageOf, type Queue, queuePath, type Standing, type Stats, stateOf } from './queue.ts';
import { settings } from './settings.ts';

/** Queues among which those are looked for that have this one as their dead-letter queue. */
const SOURCES = 100;

export const queuePages = resourcePages<Standing>({
  name: 'queue',
  noun: 'queue',
  path: '/queues/{name}',
  list: { title: 'Queues', path: '/queues' },
  needs: queueGet,
  read: readStanding,
  nameOf: ({ queue }) => queue.name,
  badge: (_, { stats, sources }) => (stats?.data == null ? undefined : stateOf(stats.data, sources.length > 0)),
  about: (visit, { queue, stats, sources }) =>
    html`${aboutText(visit, queue, sources)}
${stats === null ? '' : contentOrFailure(visit, stats, (data) => counts(visit, queue, data))}`,
  againSeconds: ({ stats }) => againSeconds([stats?.data ?? null]),
  pages: [peekPage, dlqPage, publishPage, pushPage, settings],
  dangers: (visit, standing) => [purgeDanger(visit, standing)],
  deletion: {
    capability: remove,
    field: 'queue',
    title: 'Delete a queue',
    heading: ({ queue }) => `Delete ${queue.name}`,
    warning: () => 'The queue and its messages are deleted.',
    effect: deletionText,
  },
});

async function readStanding(visit: Visit): Promise<Standing> {
  const queue = await visit.need(queueGet, { queue: visit.params.name });
  const [stats, all] = await Promise.all([
    visit.may(queueStats) ? visit.call(queueStats, { queue: queue.name }) : null,
    visit.may(list) ? visit.call(list, { limit: SOURCES }) : null,
  ]);
  const sources = (all?.data?.items ?? []).filter(({ dlq_name }) => dlq_name === queue.name);
  return { queue, stats, sources };
}

/** What it is, in a line. */
function aboutText(visit: Visit, { type, dlq_name: dlq, created_at }: Queue, sources: readonly Queue[]): Html {
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
