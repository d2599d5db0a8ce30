// What is failing now: error groups of the last day, dead letters, webhooks and schedules that do not get through, and the share of calls that
// failed. What the visitor may not see is left out; what was not looked at, because there is too much of it, is said.
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { failure } from '../parts/failure.ts';
import { withPeriod } from '../parts/period.ts';
import { ago, count, countOf, shareText, short } from '../parts/text.ts';
import { queuePath } from '../queues/queue.ts';
import type { Read, Visit } from '../visit.ts';
import { type Attempt, answerOf } from '../webhooks/deliveries.ts';
import { isBroken, standingText, type Webhook, webhookPath } from '../webhooks/webhook.ts';

interface List<Item> {
  readonly items: readonly Item[];
  readonly next_cursor?: string | null;
}

interface Queue {
  readonly name: string;
  readonly dlq_name: string | null;
}

interface Stats {
  readonly dlq_count: number;
}

interface Deliveries extends List<{ readonly attempts: readonly Attempt[] }> {}

interface Calls {
  readonly request_count: number;
  readonly error_count: number;
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

/** What is looked at beyond lists, the dead letters of a queue and the deliveries of a webhook, is a call for each. */
const QUEUES_MAX = 20;
const WEBHOOKS_MAX = 10;
const DELIVERIES = 5;
const LIST_MAX = 100;
/** Lines of each kind. */
const EACH_MAX = 5;

/** What of one kind fails. `limits`: what was not looked at. */
interface Found {
  readonly rows: readonly Html[];
  readonly limits: readonly string[];
}

const none: Found = { rows: [], limits: [] };

/** `usage`: of the period of the page. */
export async function failing(visit: Visit, usage: Promise<Read<Calls>>): Promise<Html> {
  const found = await Promise.all([errorGroups(visit), deadLetters(visit), webhooks(visit), schedules(visit)]);
  const [rows, limits] = [found.flatMap((each) => each.rows), found.flatMap((each) => each.limits)];
  const list = rows.length === 0 ? html`<p class="quiet">Nothing.</p>` : html`<ul class="plain failing">${rows}</ul>`;
  const looked = limits.length === 0 ? '' : html`<p class="small quiet">Of the ${limits.join(', the ')}.</p>`;
  return html`<section class="panel"><h2>Failing now</h2>${list}${looked}${errorRate(visit, await usage)}</section>`;
}

/** A failure of the call stands where the page shows the same figures. */
function errorRate(visit: Visit, { data: of }: Read<Calls>): Html {
  if (of === null || of.request_count === 0) return html``;
  const told = html`${count(of.error_count)} of ${countOf(of.request_count, 'call')} failed, ${shareText(of.error_count, of.request_count)}`;
  const query = withPeriod(visit, { figure: 'failed' });
  return html`<p class="small">In the time below <a href="${visit.path(`/usage?${query}`)}">${told}</a>.</p>`;
}

async function errorGroups(visit: Visit): Promise<Found> {
  if (!visit.may('errors.groups')) return none;
  const read = await visit.call<List<Group>>('errors.groups', {
    status: 'unresolved',
    sort: 'last_seen_desc',
    limit: EACH_MAX + 1,
  });
  return lines(visit, read, ({ items }) => {
    const rows = items
      .filter(({ last_seen_at }) => visit.nowMs - Date.parse(last_seen_at) < DAY_MS)
      .map(({ error_group_id: id, title, last_seen_at, trend_24h: { current } }) =>
        line(
          'Error',
          html`<a href="${visit.path(`/errors/${id}`)}">${short(title, 120)}</a> ${countOf(current, 'event')} in 24 hours, last ${ago(visit, last_seen_at)}`,
        ),
      );
    return { rows: cut(rows, () => html`<a href="${visit.path('/errors')}">more errors</a>`), limits: [] };
  });
}

async function deadLetters(visit: Visit): Promise<Found> {
  if (!visit.may('queue.list') || !visit.may('queue.stats')) return none;
  const read = await visit.call<List<Queue>>('queue.list', { limit: QUEUES_MAX });
  const watched = (read.data?.items ?? []).filter(({ dlq_name }) => dlq_name !== null);
  const stats = await Promise.all(watched.map(({ name }) => visit.call<Stats>('queue.stats', { queue: name })));
  const found = watched.map(({ name }, i) =>
    lines(visit, stats[i] as Read<Stats>, ({ dlq_count: dead }) => ({
      rows: dead === 0 ? [] : [line('Dead letters', html`${deadLink(visit, name)} ${countOf(dead, 'message')}`)],
      limits: [],
    })),
  );
  const limits = limitOf(read, `first ${QUEUES_MAX} queues`);
  return lines(visit, read, () => ({ rows: found.flatMap(({ rows }) => rows), limits }));
}

function deadLink(visit: Visit, name: string): Html {
  if (!visit.may('queue.dlq.list')) return short(name);
  return html`<a href="${visit.path(`${queuePath(name)}/dlq`)}">${short(name)}</a>`;
}

/** Those that are off because they failed, and those that are on and whose last attempt failed. */
async function webhooks(visit: Visit): Promise<Found> {
  if (!visit.may('account.webhooks.list')) return none;
  const read = await visit.call<List<Webhook>>('account.webhooks.list', { limit: LIST_MAX });
  const all = read.data?.items ?? [];
  const on = all.filter(({ status }) => status === 'enabled');
  const failed = await failedAttempts(visit, on.slice(0, WEBHOOKS_MAX));
  const rows = all.flatMap((webhook) => {
    const { id, url } = webhook;
    const told = isBroken(webhook) ? standingText(webhook) : failed.get(id);
    if (told === undefined) return [];
    return [line('Webhook', html`<a href="${visit.path(webhookPath(id))}">${short(url, 80)}</a> ${told}`)];
  });
  const limits = [
    ...limitOf(read, `newest ${LIST_MAX} webhooks`),
    ...(on.length > WEBHOOKS_MAX ? [`deliveries of the newest ${WEBHOOKS_MAX} webhooks`] : []),
  ];
  return lines(visit, read, () => ({
    rows: cut(rows, (n) => html`<a href="${visit.path('/webhooks')}">${n} more webhooks</a>`),
    limits,
  }));
}

/** By webhook: what became of its last attempt, where that failed. */
async function failedAttempts(visit: Visit, on: readonly Webhook[]): Promise<ReadonlyMap<string, Html>> {
  const input = { limit: DELIVERIES };
  const reads = await Promise.all(
    on.map(({ id }) => visit.call<Deliveries>('account.webhooks.deliveries', { id, ...input })),
  );
  const told = on.flatMap(({ id }, i): [string, Html][] => {
    const { data, problem, requestId } = reads[i] as Read<Deliveries>;
    if (problem !== null) return [[id, failure(visit, problem, requestId)]];
    const attempts = data.items.flatMap((delivery) => delivery.attempts);
    const last = attempts.toSorted((one, other) => one.at.localeCompare(other.at)).at(-1);
    if (last === undefined || last.error_code === null) return [];
    return [[id, html`does not get through: ${answerOf(last)}, ${ago(visit, last.at)}`]];
  });
  return new Map(told);
}

async function schedules(visit: Visit): Promise<Found> {
  if (!visit.may('cron.list')) return none;
  const read = await visit.call<List<Schedule>>('cron.list', { limit: LIST_MAX });
  return lines(visit, read, ({ items }) => {
    const rows = items
      .filter(({ last_run }) => last_run?.status === 'failed')
      .map(({ id, name, last_run }) =>
        line(
          'Schedule',
          html`<a href="${visit.path(`/schedules/${id}`)}">${short(name ?? id, 80)}</a> failed ${ago(visit, last_run?.started_at ?? null)}`,
        ),
      );
    return {
      rows: cut(rows, (n) => html`<a href="${visit.path('/schedules')}">${n} more schedules</a>`),
      limits: limitOf(read, `newest ${LIST_MAX} schedules`),
    };
  });
}

/** The first few, and how many there are beyond. */
function cut(rows: readonly Html[], beyond: (count: number) => Html): readonly Html[] {
  const rest = rows.length - EACH_MAX;
  return rest > 0 ? [...rows.slice(0, EACH_MAX), html`<li>and ${beyond(rest)}</li>`] : rows;
}

function limitOf({ data }: Read<List<unknown>>, text: string): readonly string[] {
  return typeof data?.next_cursor === 'string' ? [text] : [];
}

function lines<Data>(visit: Visit, read: Read<Data>, of: (data: Data) => Found): Found {
  if (read.problem === null) return of(read.data);
  return { rows: [html`<li>${failure(visit, read.problem, read.requestId)}</li>`], limits: [] };
}

function line(kind: string, content: Html): Html {
  return html`<li><span class="badge critical">${kind}</span> ${content}</li>`;
}
