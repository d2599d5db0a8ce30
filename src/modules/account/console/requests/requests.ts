// The request log, and the audit log, which is the same list of writes of the account: filters in the address, newest first.
import { panel } from '../../../../kit/console/failure.ts';
import { actButton } from '../../../../kit/console/form.ts';
import { titleWithNew } from '../../../../kit/console/new.ts';
import type { Act, ConsolePage, View } from '../../../../kit/console/page.ts';
import { keyFilter } from '../../../../kit/console/pick.ts';
import { badge, type Column, more, table, tabs, withQuery } from '../../../../kit/console/table.ts';
import { ago, count, countOf, durationText, short, time } from '../../../../kit/console/text.ts';
import type { Callable, ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { HOUR_MS, iso } from '../../../../lib/time.ts';
import { requestsList } from '../../capabilities/requests/list.ts';
import { requestsSettings, requestsSettingsGet } from '../../capabilities/requests/settings.ts';
import { webhooksList } from '../../capabilities/webhooks/list.ts';
import { receiveList } from '../../capabilities/webhooks/receive/list.ts';
import { type CallerNames, callerName, readCallers } from '../usage/caller.ts';
import { actText, type Names } from './act-words.ts';

export type Logged = ItemOf<typeof requestsList>;

const ROWS = 50;
/** The newest of each kind that acts are told by. */
const NAMED_MAX = 100;
const accountsList: Callable = { id: 'operator.accounts.list' };
const outcomes = ['failed', 'slow', 'all'] as const;
const texts = [
  ['capability', 'Capability', 'queue.publish'],
  ['code', 'Error code', 'VALIDATION_FAILED'],
  ['status', 'Status', '404'],
  ['trace_id', 'Trace', ''],
] as const;

const record: Act = {
  capability: requestsSettings,
  input: (form, { nowMs }) => ({
    record_all_until: form.get('hours') === '0' ? null : iso(nowMs + HOUR_MS * Number(form.get('hours'))),
  }),
  done: 'Saved.',
};

export const requestsPage: ConsolePage = {
  name: 'requests',
  path: '/requests',
  needs: requestsList,
  nav: { label: 'Requests', key: 'r', group: 'observe' },
  isLive: true,
  show: (visit) => show(visit, false),
  acts: { record },
};

export const auditPage: ConsolePage = {
  name: 'audit',
  path: '/audit',
  needs: requestsList,
  nav: { label: 'Audit log', key: 'l', group: 'settings' },
  isLive: true,
  show: (visit) => show(visit, true),
};

async function show(visit: Visit, isAudit: boolean): Promise<View> {
  const title = isAudit ? 'Audit log' : 'Requests';
  const query = Object.fromEntries(texts.map(([name]) => [name, visit.query.get(name)?.trim() || undefined]));
  const keyId = visit.query.get('key_id')?.trim() || undefined;
  const outcome = outcomes.find((each) => each === visit.query.get('outcome')) ?? (isAudit ? 'all' : 'failed');
  const [list, { keys, names }] = await Promise.all([
    visit.call(requestsList, {
      ...query,
      key_id: keyId,
      status: query.status === undefined ? undefined : Number(query.status),
      outcome,
      cursor: visit.query.get('cursor') ?? undefined,
      limit: ROWS,
      audit: isAudit ? true : undefined,
    }),
    readCallers(visit),
  ]);
  const intro = isAudit
    ? 'Changes of the account: keys, webhooks, budget, people and payments, for 400 days.'
    : 'Calls of the last 7 days. Of a busy second the log keeps all that fail or take long, and a sample of the rest.';
  const { button, note } = isAudit ? { button: html``, note: html`` } : await recording(visit);
  const acted = await namesOf(visit, list.data?.items ?? [], names);
  const content = html`${titleWithNew(visit, title, null, button)}
<p>${intro}</p>
${note}
${filters(
  visit,
  outcome,
  keyFilter(
    keys.map(({ key_id: id, name }) => [id, name ?? id] as const),
    keyId,
  ),
)}
${panel(visit, isAudit ? 'Changes' : 'Calls', list, (page) => html`${unkeptText(page)}${requestTable(visit, page.items, { names: acted, isAudit, empty: emptyText(visit, isAudit) })}${more(visit, page)}`)}`;
  return { title, content };
}

async function recording(visit: Visit): Promise<{ readonly button: Html; readonly note: Html }> {
  const { data } = await visit.call(requestsSettingsGet);
  if (data === null) return { button: html``, note: html`` };
  const until = data.record_all_until;
  const act = (text: string, hours: number) =>
    visit.may(requestsSettings) ? actButton(visit, 'record', text, { hours: String(hours) }) : html``;
  return until === null
    ? { button: act('Record up to 200 a second for 1 hour', 1), note: html`` }
    : {
        button: act('Stop recording', 0),
        note: html`<p>Up to 200 short calls a second are recorded until ${time(visit, until)}.</p>`,
      };
}

function filters(visit: Visit, here: string, byKey: Html): Html {
  const entries = outcomes.map((outcome) => ({
    text: outcome === 'all' ? 'All' : outcome === 'slow' ? 'Slow' : 'Failed',
    href: withQuery(visit, { outcome, cursor: null }),
    isHere: outcome === here,
  }));
  const fields = texts.map(
    ([name, label, example]) =>
      html`<label>${label} <input type="search" name="${name}" value="${visit.query.get(name) ?? ''}" placeholder="${example}"></label>`,
  );
  return html`${tabs('Outcome', entries)}
<form method="get" class="row"><input type="hidden" name="outcome" value="${here}">${fields} ${byKey} <button>Filter</button></form>`;
}

function unkeptText({
  dropped,
  sampled_out: sampledOut,
}: {
  readonly dropped: number;
  readonly sampled_out: number;
}): Html {
  const lost =
    dropped === 0
      ? ''
      : html`<p class="notice">${countOf(dropped, 'failed or slow call')} not kept: more than the log takes in a second.</p>`;
  const sampled =
    sampledOut === 0
      ? ''
      : html`<p class="quiet">A sample is shown: ${countOf(sampledOut, 'short call')} of busy seconds left out.</p>`;
  return html`${lost}${sampled}`;
}

/** What the shown acts are about: lists are asked only where an act names one of theirs. */
export async function namesOf(visit: Visit, rows: readonly Logged[], names: CallerNames): Promise<Names> {
  const isShown = (module: string) => rows.some(({ capability }) => capability.startsWith(module));
  const [webhooks, receivers, accounts] = await Promise.all([
    isShown('account.webhooks.') && visit.may(webhooksList) ? visit.call(webhooksList, { limit: NAMED_MAX }) : null,
    isShown('account.webhooks.receive.') && visit.may(receiveList)
      ? visit.call(receiveList, { limit: NAMED_MAX })
      : null,
    isShown('operator.') && visit.may(accountsList) ? visit.call(accountsList, { limit: NAMED_MAX }) : null,
  ]);
  const { items = [] } = (accounts?.data ?? {}) as {
    readonly items?: readonly {
      readonly account_id: string;
      readonly name: string | null;
      readonly email: string | null;
    }[];
  };
  return new Map([
    ...names,
    ...(webhooks?.data?.items ?? []).map(({ webhook_id: id, url }) => [id, url] as const),
    ...(receivers?.data?.items ?? []).map(({ receiver_id: id, name }) => [id, name] as const),
    ...items.map(({ account_id: id, name, email }) => [id, name ?? email ?? id] as const),
  ]);
}

/** Why the list is empty, and where there is more. */
function emptyText(visit: Visit, isAudit: boolean): Html {
  const all = visit.path(isAudit ? '/audit' : '/requests');
  const isNarrowed = [...texts.map(([name]) => name), 'key_id'].some((name) => (visit.query.get(name) ?? '') !== '');
  if (isNarrowed) return html`<p>Nothing matches. <a href="${all}">Clear the filters</a></p>`;
  if (isAudit)
    return html`<p>No changes yet. <a href="${visit.path('/keys')}">Create a key</a>, and it is listed here.</p>`;
  if (visit.query.get('outcome') === 'all')
    return html`<p>No calls yet. <a href="${visit.path('')}">Make a first call</a></p>`;
  return html`<p>${visit.query.get('outcome') === 'slow' ? 'No call took a second or longer.' : 'No call failed.'} <a href="${withQuery(visit, { outcome: 'all', cursor: null })}">Show all calls</a></p>`;
}

interface Shown {
  readonly names: Names;
  readonly isAudit: boolean;
  /** Shown where there are no rows. */
  readonly empty: Html;
}

export function requestTable(visit: Visit, rows: readonly Logged[], { names, isAudit, empty }: Shown): Html {
  const columns: Column<Logged>[] = [
    {
      title: isAudit ? 'Change' : 'Call',
      cell(row) {
        const text = isAudit ? (actText(row, names) ?? row.capability) : row.capability;
        return html`<a href="${visit.path(`/requests/${row.request_id}`)}">${short(text, 120)}</a>`;
      },
    },
    { title: 'Status', cell: (row) => statusBadge(row) },
    {
      title: 'What happened',
      cell(row) {
        const text = row.message ?? (isAudit ? '' : (actText(row, names) ?? row.path));
        return text === '' ? '' : short(text, 160);
      },
    },
    { title: 'By', cell: (row) => short(caller(visit, row, names), 40) },
    { title: 'Duration', kind: 'number', cell: ({ latency_ms: ms }) => latencyText(ms) },
    { title: 'When', cell: ({ at }) => ago(visit, at) },
  ];
  return table({
    caption: isAudit ? 'Changes' : 'Calls',
    rows,
    empty,
    columns,
  });
}

export function caller(visit: Visit, { key_id: keyId, person_id: personId }: Logged, names: CallerNames): string {
  return callerName(visit, keyId ?? personId ?? '', names);
}

export function statusBadge({ status, code }: Pick<Logged, 'status' | 'code'>): Html {
  if (status < 400) return badge(String(status), 'good');
  return badge(code === null ? String(status) : `${status} ${code}`, 'critical');
}

export function latencyText(ms: number): string {
  return ms < 1_000 ? `${count(ms)} ms` : durationText(ms / 1_000);
}
