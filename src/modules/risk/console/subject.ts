// One key: how often it was seen, what with, and its latest decisions.
import { copiedId } from '../../../kit/console/copied.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { figures, table } from '../../../kit/console/table.ts';
import { ago, count } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { subject } from '../capabilities/decisions.ts';
import { decisionColumns } from './decisions.ts';
import { type Decision, keyLinks, RISK, SUBJECT } from './tabs.ts';

type Subject = DataOf<typeof subject>;
const fields = ['user_id', 'device_id', 'ip', 'email'];
const windows = { '1m': '1 minute', '1h': '1 hour', '24h': '24 hours', '7d': '7 days', '30d': '30 days' };
const names = { user: 'User', device: 'Device', ip: 'Network address', email: 'Mailbox' };

export const subjectPage: ConsolePage = { name: 'risk_subject', path: SUBJECT, needs: subject, isLive: true, show };

async function show(visit: Visit): Promise<View> {
  const by = fields.find((each) => each === visit.query.get('by'));
  const key = visit.query.get('key') ?? undefined;
  const one = await visit.need(subject, by === undefined ? { key } : { [by]: visit.query.get('value')?.trim() });
  const name = names[one.kind as keyof typeof names];
  const counts = one.counts as Readonly<Record<string, number>>;
  const content = html`<p><a href="${visit.path(RISK)}">Risk</a></p>
<div class="head named"><h1>${name}</h1><p>${copiedId(one.key)}</p></div>
<p class="quiet">${one.last_seen_at === null ? 'Not seen in 30 days.' : html`Last seen ${ago(visit, one.last_seen_at)}. Stored as a keyed hash.`}</p>
${figures(Object.entries(windows).map(([window, text]) => [`Calls in ${text}`, count(counts[`count_${window}`] ?? 0)]))}
<section class="panel"><h2>Linked</h2>${linked(visit, one)}</section>
<section class="panel"><h2>Timeline</h2>${table<Decision>({
    caption: 'Its latest decisions',
    rows: one.decisions as readonly Decision[],
    empty: html`<p>No decisions in 30 days.</p>`,
    columns: decisionColumns(visit),
  })}</section>`;
  return { title: name, content };
}

function linked(visit: Visit, { linked: of }: Subject): Html {
  const rows = Object.entries(of as Readonly<Record<string, { count: number; keys: string[] }>>);
  return table({
    caption: 'Seen in one call with it, in 30 days',
    rows,
    empty: html``,
    columns: [
      { title: 'What', cell: ([many]) => many },
      { title: 'Number', kind: 'number', cell: ([, { count: number }]) => count(number) },
      { title: 'Keys', cell: ([, { keys }]) => keyLinks(visit, keys.slice(0, 10)) },
    ],
  });
}
