// What cannot be undone of a queue: all its messages, or the queue with them. The pages say what goes in numbers, and ask for its name.

import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { countOf, short } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { remove } from '../capabilities/delete.ts';
import { purge } from '../capabilities/purge.ts';
import { stats as queueStats } from '../capabilities/stats.ts';
import { subscriptions } from '../capabilities/subscriptions.ts';
import { messagesOf, queuePath, type Stats } from './queue.ts';

/** A queue has no more push subscriptions. */
const SUBSCRIPTIONS = 100;

export const queuePurgePage: ConsolePage = {
  name: 'queue_purge',
  path: '/queues/{name}/purge',
  needs: purge,
  show: showPurge,
  acts: {
    purge: {
      capability: purge,
      input: typedName('purge the queue'),
      done: 'Queue purged.',
      next: (_, { params: { name = '' } }) => queuePath(name),
    },
  },
};

export const queueDeletePage: ConsolePage = {
  name: 'queue_delete',
  path: '/queues/{name}/delete',
  needs: remove,
  show: showDelete,
  acts: {
    delete: {
      capability: remove,
      input: typedName('delete the queue'),
      done: 'Queue deleted.',
      next: () => '/queues',
    },
  },
};

function typedName(what: string): Act['input'] {
  return (form, { params: { name = '' } }) => {
    requireTyped(form, name, what);
    return { queue: name };
  };
}

async function showPurge(visit: Visit): Promise<View> {
  const { name: queue = '' } = visit.params;
  const stats = await visit.need(queueStats, { queue });
  const content = html`${back(visit, queue)}
<h1>Purge ${short(queue, 80)}</h1>
<p>This deletes ${messagesIn(stats)}. It cannot be undone. Consumers cannot acknowledge them any more.${stats.dlq_count === 0 ? '' : ` ${countOf(stats.dlq_count, 'dead letter')} of this queue stay in the dead-letter queue.`}</p>
${typedForm(visit, 'purge', { wanted: queue, button: 'Purge' })}`;
  return { title: 'Purge a queue', content };
}

async function showDelete(visit: Visit): Promise<View> {
  const { name: queue = '' } = visit.params;
  const [stats, pushed] = await Promise.all([
    visit.need(queueStats, { queue }),
    visit.need(subscriptions, { queue, limit: SUBSCRIPTIONS }),
  ]);
  const content = html`${back(visit, queue)}
<h1>Delete ${short(queue, 80)}</h1>
<p>This deletes the queue, ${messagesIn(stats)} and ${countOf(pushed.items.length, 'push subscription')}. It cannot be undone.${stats.dlq_count === 0 ? '' : ` ${countOf(stats.dlq_count, 'dead letter')} of this queue stay in the dead-letter queue and can no longer be redriven.`}</p>
${typedForm(visit, 'delete', { wanted: queue, button: 'Delete' })}`;
  return { title: 'Delete a queue', content };
}

function messagesIn(stats: Stats): string {
  return `${countOf(messagesOf(stats), 'message')} (${countOf(stats.available_count, 'available', 'available')}, ${countOf(stats.in_flight_count, 'in flight', 'in flight')}, ${countOf(stats.delayed_count, 'delayed', 'delayed')})`;
}

function back(visit: Visit, queue: string): Html {
  return html`<p><a href="${visit.path(`${queuePath(queue)}/settings`)}">${short(queue, 80)}</a></p>`;
}
