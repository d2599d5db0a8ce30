// The list of calls that wait for a person, and of those that were decided or expired.
import { contentOrFailure } from '../../../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import { more, table } from '../../../../kit/console/table.ts';
import { ago, short } from '../../../../kit/console/text.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { approvalsList } from '../../capabilities/approvals/list.ts';
import { approvalsRuleSet } from '../../capabilities/approvals/rule-set.ts';
import { approvalsRules } from '../../capabilities/approvals/rules.ts';
import {
  APPROVALS,
  type Approval,
  approvalPath,
  approvalTabs,
  DECIDED,
  RULES,
  rulePath,
  stateOf,
  waitingCalls,
} from './approval.ts';
import { type Names, readNames } from './names.ts';
import { firstRule, newRule } from './rule.ts';

const ROWS = 50;
/** A decision by another person tells no tick. */
const AGAIN_SECONDS = 10;

export const approvalsPage: ConsolePage = {
  name: 'approvals',
  path: APPROVALS,
  // Every key sees the approvals of its own calls; the page is for who may read the account.
  needs: approvalsRules,
  nav: { label: 'Approvals', key: 'A', group: 'start' },
  isLive: true,
  show: (visit) => (visit.query.get('view') === DECIDED ? showDecided(visit) : showWaiting(visit)),
};

async function showWaiting(visit: Visit): Promise<View> {
  const [read, names] = await Promise.all([waitingCalls(visit), readNames(visit), visit.waiting()]);
  const empty = read.data?.length === 0 ? await nothingWaits(visit) : html``;
  const content = html`${head(visit)}
${approvalTabs(visit, 'waiting')}
${read.data?.length ? html`<p>A person decides before these calls run. Open one to see what it would do.</p>` : ''}
<section class="panel">${contentOrFailure(visit, read, (rows) => approvalTable(visit, { caption: 'Calls that wait', rows, names, empty }))}</section>`;
  return { title: 'Approvals', content, againSeconds: AGAIN_SECONDS };
}

async function showDecided(visit: Visit): Promise<View> {
  const cursor = visit.query.get('cursor') ?? undefined;
  const [read, names] = await Promise.all([visit.call(approvalsList, { cursor, limit: ROWS }), readNames(visit)]);
  const content = html`${head(visit)}
${approvalTabs(visit, 'decided')}
<section class="panel">${contentOrFailure(visit, read, (page) => {
    const rows = page.items.filter(({ status }) => status !== 'pending');
    const empty = html`<p>Nobody has decided a call in the last 90 days.</p>`;
    return html`${approvalTable(visit, { caption: 'Decided and expired calls', rows, names, empty })}${more(visit, page)}`;
  })}</section>`;
  return { title: 'Decided approvals', content };
}

/** The button leads to the page of rules, whose form it is. */
function head(visit: Visit): Html {
  const link = visit.may(approvalsRuleSet)
    ? html`<a class="main" href="${visit.path(`${RULES}?new=1`)}">${newRule.heading}</a>`
    : '';
  return html`<div class="head"><h1>Approvals</h1><div class="actions">${link}</div></div>`;
}

interface Listed {
  readonly caption: string;
  readonly rows: readonly Approval[];
  readonly names: Names;
  readonly empty: Html;
}

function approvalTable(visit: Visit, { caption, rows, names, empty }: Listed): Html {
  return table<Approval>({
    caption,
    rows,
    empty,
    columns: [
      {
        title: 'Call',
        cell: ({ approval_id: id, capability }) => html`<a href="${visit.path(approvalPath(id))}">${capability}</a>`,
      },
      { title: 'State', cell: stateOf },
      { title: 'Key', cell: ({ key_id: id }) => short(names.keyName(id), 60) },
      { title: 'Costs at most', usd: ({ cost_usd_max: usd }) => usd },
      { title: 'Rule', cell: ({ rule }) => html`<a href="${visit.path(rulePath(rule))}">${short(rule, 64)}</a>` },
      { title: 'Asked', cell: ({ created_at: at }) => ago(visit, at) },
      {
        title: 'Expires',
        cell: ({ status, expires_at: at }) => (status === 'pending' || status === 'approved' ? ago(visit, at) : ''),
      },
      { title: 'Decided by', cell: ({ decided_by: by }) => (by === null ? '' : short(names.personName(by), 60)) },
    ],
  });
}

/** Without rules nothing ever waits. */
async function nothingWaits(visit: Visit): Promise<Html> {
  const { data } = await visit.call(approvalsRules, { limit: 1 });
  if (data !== null && data.items.length > 0) return html`<p>No call waits for approval.</p>`;
  return firstRule(visit);
}
