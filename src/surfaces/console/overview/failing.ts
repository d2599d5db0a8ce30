// What is failing now: error groups of the last day, dead letters, webhooks and schedules that do not get through. Nothing that fails shows
// nothing but one line, and what the visitor may not see is left out.
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { failure } from '../parts/failure.ts';
import { ago, countOf, short } from '../parts/text.ts';
import { queuePath } from '../queues/queue.ts';
import type { Read, Visit } from '../visit.ts';

interface List<Item> {
  readonly items: readonly Item[];
}

interface Queue {
  readonly name: string;
  readonly dlq_name: string | null;
}

interface Stats {
  readonly dlq_count: number;
}

interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly disabled_reason: string | null;
}

interface Schedule {
  readonly id: string;
  readonly name: string | null;
  readonly last_run: { readonly status: string; readonly started_at: string } | null;
}

interface Group {
  readonly error_group_id: string;
  readonly title: string;
  readonly last_seen_at: string;
  readonly trend_24h: { readonly current: number };
}

/** Queues whose dead letters are counted: each is a call. */
const QUEUES_MAX = 20;
const EACH_MAX = 5;

export async function failing(visit: Visit): Promise<Html> {
  const found = await Promise.all([errorGroups(visit), deadLetters(visit), webhooks(visit), schedules(visit)]);
  const rows = found.flat();
  return html`<section class="panel"><h2>Failing now</h2>${rows.length === 0 ? html`<p class="quiet">Nothing.</p>` : html`<ul class="plain failing">${rows}</ul>`}</section>`;
}

async function errorGroups(visit: Visit): Promise<Html[]> {
  if (!visit.may('errors.groups')) return [];
  const read = await visit.call<List<Group>>('errors.groups', {
    status: 'unresolved',
    sort: 'last_seen_desc',
    limit: EACH_MAX,
  });
  return lines(visit, read, ({ items }) =>
    items
      .filter(({ last_seen_at }) => visit.nowMs - Date.parse(last_seen_at) < DAY_MS)
      .map(({ error_group_id: id, title, last_seen_at, trend_24h: { current } }) =>
        line(
          'Error',
          html`<a href="${visit.path(`/errors/${id}`)}">${short(title, 120)}</a> ${countOf(current, 'event')} in 24 hours, last ${ago(visit, last_seen_at)}`,
        ),
      ),
  );
}

async function deadLetters(visit: Visit): Promise<Html[]> {
  if (!visit.may('queue.list') || !visit.may('queue.stats')) return [];
  const read = await visit.call<List<Queue>>('queue.list', { limit: QUEUES_MAX });
  if (read.problem !== null) return lines(visit, read, () => []);
  const watched = read.data.items.filter(({ dlq_name }) => dlq_name !== null);
  const stats = await Promise.all(watched.map(({ name }) => visit.call<Stats>('queue.stats', { queue: name })));
  return watched.flatMap(({ name }, i) =>
    lines(visit, stats[i] as Read<Stats>, ({ dlq_count: dead }) =>
      dead === 0 ? [] : [line('Dead letters', html`${deadLink(visit, name)} ${countOf(dead, 'message')}`)],
    ),
  );
}

function deadLink(visit: Visit, name: string): Html {
  if (!visit.may('queue.dlq.list')) return short(name);
  return html`<a href="${visit.path(`${queuePath(name)}/dlq`)}">${short(name)}</a>`;
}

async function webhooks(visit: Visit): Promise<Html[]> {
  if (!visit.may('account.webhooks.list')) return [];
  const read = await visit.call<List<Webhook>>('account.webhooks.list', { limit: 100 });
  return lines(visit, read, ({ items }) =>
    items
      .filter(({ disabled_reason }) => disabled_reason !== null)
      .slice(0, EACH_MAX)
      .map(({ id, url, disabled_reason: why }) =>
        line('Webhook', html`<a href="${visit.path(`/webhooks/${id}`)}">${short(url, 80)}</a> is off: ${why ?? ''}`),
      ),
  );
}

async function schedules(visit: Visit): Promise<Html[]> {
  if (!visit.may('cron.list')) return [];
  const read = await visit.call<List<Schedule>>('cron.list', { limit: 100 });
  return lines(visit, read, ({ items }) =>
    items
      .filter(({ last_run }) => last_run?.status === 'failed')
      .slice(0, EACH_MAX)
      .map(({ id, name, last_run }) =>
        line(
          'Schedule',
          html`<a href="${visit.path(`/schedules/${id}`)}">${short(name ?? id, 80)}</a> failed ${ago(visit, last_run?.started_at ?? null)}`,
        ),
      ),
  );
}

function lines<Data>(visit: Visit, read: Read<Data>, of: (data: Data) => Html[]): Html[] {
  return read.problem === null ? of(read.data) : [html`<li>${failure(visit, read.problem, read.requestId)}</li>`];
}

function line(kind: string, content: Html): Html {
  return html`<li><span class="badge critical">${kind}</span> ${content}</li>`;
}
