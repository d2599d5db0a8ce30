// Top-ups that wait for the operator's word. What cannot be taken back, to reject and to refund, stands in topup-ends.ts.

import { panel } from '../../../kit/console/failure.ts';
import { actForm } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { badge, more, type Page, table } from '../../../kit/console/table.ts';
import { short, time } from '../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { topupApprove } from '../capabilities/topup-review.ts';
import { topupsList } from '../capabilities/topups-list.ts';
import { accountLink, accountNames, operatorTabs } from './operator.ts';

export type Topup = ItemOf<typeof topupsList>;

const ROWS = 25;

export const operatorTopupsPage: ConsolePage = {
  name: 'operator_topups',
  path: '/operator/topups',
  needs: topupsList,
  show,
  acts: {
    approve: {
      capability: topupApprove,
      input: (form) => ({ topup_id: form.get('topup_id') ?? '' }),
      done: 'Top-up approved. Its credit is in the wallet.',
    },
  },
};

export function topupState({ status, review_reason: why, failure_code: failed, test_mode: isTest }: Topup): Html {
  const kind = status === 'succeeded' ? 'good' : status === 'failed' ? 'critical' : 'warning';
  return html`${badge(status, kind)} ${short(why ?? failed ?? '', 60)}${isTest ? ' test money' : ''}`;
}

async function show(visit: Visit): Promise<View> {
  const cursor = visit.query.get('cursor') ?? undefined;
  const [list, names] = await Promise.all([visit.call(topupsList, { cursor, limit: ROWS }), accountNames(visit)]);
  const content = html`<h1>Top-ups</h1>
${operatorTabs(visit, '/topups')}
${panel(visit, 'Under review', list, (page) => html`${reviews(visit, page, names)}${more(visit, page)}`)}
<p class="quiet">The page of an account shows all its top-ups, and refunds them.</p>`;
  return { title: 'Top-ups', content };
}

function reviews(visit: Visit, { items }: Page<Topup>, names: ReadonlyMap<string, string>): Html {
  const decide = ({ account_id: account, topup_id: id }: Topup) => {
    const of = html`<span class="unseen"> ${id}</span>`;
    return visit.may(topupApprove)
      ? html`<div class="actions">${actForm(visit, 'approve', html`<button>Approve${of}</button>`, { topup_id: id })}<a class="danger" href="${visit.path(`/operator/accounts/${account}/reject/${id}`)}">Reject…${of}</a></div>`
      : '';
  };
  return table({
    caption: 'Top-ups under review',
    rows: items,
    empty: html`<p>No top-ups to review.</p>`,
    columns: [
      { title: 'Top-up', cell: ({ topup_id }) => html`<code>${topup_id}</code>` },
      {
        title: 'Account',
        cell: ({ account_id: id }) => accountLink(visit, { id, name: names.get(id) }),
      },
      { title: 'Started', cell: ({ created_at }) => time(visit, created_at) },
      { title: 'Reason', cell: topupState },
      { title: 'Charged', kind: 'number', cell: ({ charge_amount, currency }) => `${charge_amount} ${currency}` },
      { title: 'Credit', usd: ({ amount_usd }) => amount_usd },
      { title: 'Decision', cell: decide },
    ],
  });
}
