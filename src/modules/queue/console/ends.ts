// Queue acts that cannot be undone: purge and deletion. Their pages count what is deleted and require the queue's name.

import { type Danger, dangerLink } from '../../../kit/console/danger-zone.ts';
import { countOf, short } from '../../../kit/console/text.ts';
import { typedPage } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { purge } from '../capabilities/purge.ts';
import { stats as queueStats } from '../capabilities/stats.ts';
import { subscriptions } from '../capabilities/subscriptions.ts';
import { messagesOf, queuePath, type Standing, type Stats } from './queue.ts';

/** A queue has no more push subscriptions. */
const SUBSCRIPTIONS = 100;

export const queuePurgePage = typedPage({
  name: 'queue_purge',
  path: '/queues/{name}/purge',
  capability: purge,
  field: 'queue',
  act: 'purge',
  what: 'purge the queue',
  button: 'Purge',
  title: 'Purge a queue',
  async about(visit) {
    const { name: queue = '' } = visit.params;
    const stats = await visit.need(queueStats, { queue });
    return {
      back: { label: queue, path: `${queuePath(queue)}/settings` },
      heading: html`Purge ${short(queue, 80)}`,
      text: `This deletes ${messagesIn(stats)}. It cannot be undone. Consumers cannot acknowledge them any more.${stats.dlq_count === 0 ? '' : ` ${staying(stats)} in the dead-letter queue.`}`,
    };
  },
  done: 'Queue purged.',
  next: (_, { params: { name = '' } }) => queuePath(name),
});

/** Null: the visitor may not purge it. */
export function purgeDanger(visit: Visit, { queue, stats }: Standing): Danger | null {
  if (!visit.may(purge)) return null;
  const messages = stats?.data == null ? 'All messages' : `All ${countOf(messagesOf(stats.data), 'message')}`;
  return {
    title: 'Purge this queue',
    text: `${messages} are deleted. The queue stays.`,
    act: dangerLink(visit.path(`${queuePath(queue.name)}/purge`), 'Purge…'),
  };
}

/** What goes with a queue. */
export async function deletionText(visit: Visit, standing: Standing): Promise<string> {
  const { name: queue } = standing.queue;
  const stats = standing.stats?.data ?? (await visit.need(queueStats, { queue }));
  const pushed = await visit.need(subscriptions, { queue, limit: SUBSCRIPTIONS });
  return `This deletes the queue, ${messagesIn(stats)} and ${countOf(pushed.items.length, 'push subscription')}. It cannot be undone.${stats.dlq_count === 0 ? '' : ` ${staying(stats)} in the dead-letter queue and can no longer be redriven.`}`;
}

function staying({ dlq_count: dead }: Stats): string {
  return `${countOf(dead, 'dead letter')} of this queue stay${dead === 1 ? 's' : ''}`;
}

function messagesIn(stats: Stats): string {
  return `${countOf(messagesOf(stats), 'message')} (${countOf(stats.available_count, 'available', 'available')}, ${countOf(stats.in_flight_count, 'in flight', 'in flight')}, ${countOf(stats.delayed_count, 'delayed', 'delayed')})`;
}
