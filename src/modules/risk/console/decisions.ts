// The latest decisions, and one key: how often it was seen, what with, and its own.
import { copiedId } from '../../../kit/console/copied.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, type Column, figures, pageTabs, table, teach } from '../../../kit/console/table.ts';
import { ago, count, short } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { decisions, subject } from '../capabilities/decisions.ts';
import { listEntries } from '../capabilities/lists.ts';
import { rulesGet } from '../capabilities/rules.ts';
import { score } from '../capabilities/score.ts';

type Decision = ItemOf<typeof decisions>;

export const RISK = '/risk';
export const RULES = '/risk/rules';
export const LISTS = '/risk/lists';
const SUBJECT = '/risk/subject';
const windows = { '1m': '1 minute', '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' };
const kinds = { user_id: 'User', device_id: 'Device', ip: 'Network address', email: 'Mailbox' };

export const decisionsPage = listPage({
  name: 'risk',
  path: RISK,
  title: 'Risk',
  caption: 'Decisions',
  list: decisions,
  columns: decisionColumns,
  nav: { label: 'Risk', key: 'R', group: 'observe' },
  above: (visit) => html`${riskTabs(visit, RISK)}${visit.may(subject) ? lookUp(visit) : ''}`,
  filter: { name: 'action', label: 'Actions', values: ['review', 'block'] },
  empty: (visit) =>
    teach('No decisions yet. To score a login:', visit.samples([[score, { event: 'login', user_id: 'u-17' }]])),
});

export const subjectPage: ConsolePage = { name: 'risk_subject', path: SUBJECT, needs: subject, isLive: true, show };

export function riskTabs(visit: Visit, here: string): Html {
  const tab = (text: string, path: string) => ({ text, href: visit.path(path), isHere: path === here });
  return pageTabs('Pages of risk', [
    tab('Decisions', RISK),
    ...(visit.may(rulesGet) ? [tab('Rules', RULES)] : []),
    ...(visit.may(listEntries) ? [tab('Lists', LISTS)] : []),
  ]);
}

export function actionBadge(action: string): Html {
  return badge(action, action === 'block' ? 'critical' : action === 'review' ? 'warning' : 'good');
}

function decisionColumns(visit: Visit): Column<Decision>[] {
  return [
    { title: 'Action', cell: ({ action }) => actionBadge(action) },
    { title: 'Score', kind: 'number', cell: ({ score: of }) => String(of) },
    { title: 'Event', cell: ({ event }) => event },
    { title: 'Rules', cell: reasonsText },
    { title: 'Who', cell: ({ keys }) => keyLinks(visit, keys) },
    { title: 'Scored', cell: ({ created_at }) => ago(visit, created_at) },
  ];
}

function reasonsText({ reasons }: Decision): Html {
  if (reasons.length === 0) return html`<span class="quiet">no rule matched</span>`;
  return short(reasons.map(reasonText).join(', '), 160);
}

function reasonText({ rule, points }: Decision['reasons'][number]): string {
  const [, list] = /^list:(.*)$/.exec(rule) ?? [];
  return list === undefined ? `${rule} ${points > 0 ? '+' : ''}${points}` : `on the ${list} list`;
}

/** Each leads to its own page. What was sent is kept as a hash alone: of one call, each is called by its kind. */
function keyLinks(visit: Visit, keys: readonly string[], textOf = kindText): Html {
  const link = (key: string) => html`<a href="${visit.path(SUBJECT)}?key=${key}" title="${key}">${textOf(key)}</a>`;
  const each = visit.may(subject) ? link : textOf;
  return html`${keys.map((key, i) => html`${i === 0 ? '' : ' · '}${each(key)}`)}`;
}

/** `user_…` is a user. */
function kindText(key: string): Html {
  const [, text = key] = Object.entries(kinds).find(([field]) => field.startsWith(key.split('_', 1)[0] ?? '')) ?? [];
  return html`${text}`;
}

function lookUp(visit: Visit): Html {
  const options = Object.entries(kinds).map(([field, text]) => html`<option value="${field}">${text}</option>`);
  return html`<form method="get" action="${visit.path(SUBJECT)}" class="row" aria-label="Look up a key"><label>Look up <select name="by">${options}</select></label>
<input type="search" name="value" aria-label="Its value" required spellcheck="false"> <button>Open</button></form>`;
}

async function show(visit: Visit): Promise<View> {
  const by = Object.keys(kinds).find((field) => field === visit.query.get('by'));
  const asked =
    by === undefined ? { key: visit.query.get('key') ?? undefined } : { [by]: visit.query.get('value')?.trim() };
  const { key, kind, last_seen_at: seenAt, counts, linked, decisions: latest } = await visit.need(subject, asked);
  const [, title = kind] = Object.entries(kinds).find(([field]) => field.startsWith(kind)) ?? [];
  const calls = Object.entries(windows).map(
    ([window, text]) => [`Calls in ${text}`, count(counts[`count_${window}`] ?? 0)] as const,
  );
  const seen = table({
    caption: 'Seen in one call with it, in 30 days',
    rows: Object.entries(linked),
    empty: html``,
    columns: [
      { title: 'What', cell: ([many]) => many },
      { title: 'Number', kind: 'number', cell: ([, { count: n }]) => count(n) },
      { title: 'Keys', cell: ([, { keys }]) => keyLinks(visit, keys.slice(0, 10), (key) => html`<code>${key}</code>`) },
    ],
  });
  const empty = html`<p>No decisions in 30 days.</p>`;
  const content = html`<p><a href="${visit.path(RISK)}">Risk</a></p>
<div class="head named"><h1>${title}</h1><p>${copiedId(key)}</p></div>
<p class="quiet">${seenAt === null ? 'Not seen in 30 days.' : html`Last seen ${ago(visit, seenAt)}. Stored as a keyed hash.`}</p>
${figures(calls)}
<section class="panel"><h2>Linked</h2>${seen}</section>
<section class="panel"><h2>Timeline</h2>${table({ caption: 'Its latest decisions', rows: latest, empty, columns: decisionColumns(visit) })}</section>`;
  return { title, content };
}
