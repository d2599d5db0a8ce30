// The latest decisions, and a form that scores one.
import { panel } from '../../../kit/console/failure.ts';
import { choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { filterTabs } from '../../../kit/console/list-page.ts';
import { asksForNew, type NewForm, newAction, newView, titleWithNew } from '../../../kit/console/new.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { type Column, more, table, teach } from '../../../kit/console/table.ts';
import { ago } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { decisions, subject } from '../capabilities/decisions.ts';
import { score } from '../capabilities/score.ts';
import { actionBadge, type Decision, keyLinks, RISK, reasonsText, riskTabs, SUBJECT } from './tabs.ts';

const ROWS = 25;
const filter = { name: 'action', label: 'Actions', values: ['review', 'block'] as const };
const events = ['login', 'signup', 'payment', 'message', 'custom'];
const newScore: NewForm = {
  ...{ act: 'score', heading: 'Score a call', capability: score, form: scoreForm },
  intro: 'It counts as a call of your own does, and costs $0.0005.',
};

export const decisionsPage: ConsolePage = {
  name: 'risk',
  path: RISK,
  needs: decisions,
  nav: { label: 'Risk', key: 'R', group: 'observe', holds: decisions },
  isLive: true,
  show,
  actions: [newAction(RISK, newScore)],
  acts: {
    score: actOf({
      capability: score,
      input: (form) => ({
        ...{ event: textOf(form, 'event'), ip: textOf(form, 'ip'), email: textOf(form, 'email') },
        ...{ user_id: textOf(form, 'user_id'), device_id: textOf(form, 'device_id') },
        amount_usd: numberOf(form, 'amount_usd'),
      }),
      done: 'Scored.',
      next: () => RISK,
    }),
  },
};

async function show(visit: Visit): Promise<View> {
  if (asksForNew(visit, newScore)) return newView(visit, newScore);
  const action = filter.values.find((each) => each === visit.query.get('action'));
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(decisions, { action, cursor, limit: ROWS });
  const content = html`${titleWithNew(visit, 'Risk', newScore)}
${riskTabs(visit, RISK)}
${visit.may(subject) ? lookUp(visit) : ''}
${panel(
  visit,
  'Decisions',
  list,
  (page) =>
    html`${filterTabs(visit, filter, action)}${table<Decision>({
      caption: 'Decisions',
      rows: page.items,
      empty: teach(
        'No decisions yet. To score a login:',
        visit.samples([[score, { event: 'login', ip: '203.0.113.7', user_id: 'u-17' }]]),
      ),
      columns: decisionColumns(visit),
    })}${more(visit, page)}`,
)}`;
  return { title: 'Risk', content };
}

export function decisionColumns(visit: Visit): Column<Decision>[] {
  return [
    { title: 'Action', cell: actionBadge },
    { title: 'Score', kind: 'number', cell: ({ score: of }) => String(of) },
    { title: 'Event', cell: ({ event }) => event },
    { title: 'Rules', cell: reasonsText },
    { title: 'Keys', cell: ({ keys }) => keyLinks(visit, keys) },
    { title: 'Scored', cell: ({ created_at }) => ago(visit, created_at) },
  ];
}

function lookUp(visit: Visit): Html {
  return html`<form method="get" action="${visit.path(SUBJECT)}" class="row" aria-label="Look up a key"><label>Look up <select name="by"><option value="user_id">User</option><option value="device_id">Device</option><option value="ip">Address</option><option value="email">Mailbox</option></select></label> <input type="search" name="value" aria-label="Its value" required spellcheck="false"> <button>Open</button></form>`;
}

function scoreForm(visit: Visit, act: string): Html {
  const plain = html`autocomplete="off" spellcheck="false" autocapitalize="off"`;
  return html`<div class="pair">${choice(visit, act, { name: 'event', label: 'Event', value: 'login', options: events.map((each) => [each, each]) })}
${field(visit, act, { name: 'amount_usd', label: 'Amount (USD)', attributes: html`inputmode="decimal"` })}</div>
<div class="pair">${field(visit, act, { name: 'user_id', label: 'User ID', attributes: plain })}
${field(visit, act, { name: 'device_id', label: 'Device ID', attributes: plain })}</div>
<div class="pair">${field(visit, act, { name: 'ip', label: 'Network address', hint: 'At least one of the four.', attributes: plain })}
${field(visit, act, { name: 'email', label: 'E-mail address', attributes: plain })}</div>
<button class="main">Score</button>`;
}
