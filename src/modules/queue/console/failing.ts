// Queues with dead letters.
import { failingLine, failuresIn, limitOf, nothingFails } from '../../../kit/console/failing.ts';
import { countOf, short } from '../../../kit/console/text.ts';
import type { Failures, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { dlqList } from '../capabilities/dlq/list.ts';
import { list } from '../capabilities/list.ts';
import { stats } from '../capabilities/stats.ts';
import { queuePath } from './queue.ts';

/** Their dead letters are a call for each. */
const QUEUES_MAX = 20;

export async function failingQueues(visit: Visit): Promise<Failures> {
  if (!visit.may(list) || !visit.may(stats)) return nothingFails;
  const read = await visit.call(list, { limit: QUEUES_MAX });
  const watched = (read.data?.items ?? []).filter(({ dlq_name }) => dlq_name !== null);
  const found = await Promise.all(watched.map(({ name }) => deadLetters(visit, name)));
  return failuresIn(visit, read, (page) => ({
    rows: found.flatMap(({ rows }) => rows),
    count: found.reduce((sum, { count }) => sum + count, 0),
    limits: limitOf(page, `first ${QUEUES_MAX} queues`),
  }));
}

async function deadLetters(visit: Visit, queue: string): Promise<Failures> {
  return failuresIn(visit, await visit.call(stats, { queue }), ({ dlq_count: dead }) => ({
    rows: dead === 0 ? [] : [failingLine('Dead letters', html`${deadLink(visit, queue)} ${countOf(dead, 'message')}`)],
    count: Math.sign(dead),
    limits: [],
  }));
}

function deadLink(visit: Visit, name: string): Html {
  if (!visit.may(dlqList)) return short(name);
  return html`<a href="${visit.path(`${queuePath(name)}/dlq`)}">${short(name)}</a>`;
}
