// Top-ups that wait for the operator's word, and the page of a refund, which cannot be taken back.
import { type Html, html } from '../../../lib/html.ts';
import { invalidField, problem } from '../../../problems/problem.ts';
import type { ConsolePage, View } from '../page.ts';
import { panel } from '../parts/failure.ts';
import { actForm, field, numberOf } from '../parts/form.ts';
import { badge, more, type Page, table } from '../parts/table.ts';
import { money, short, time } from '../parts/text.ts';
import type { Visit } from '../visit.ts';
import { operatorTabs } from './operator.ts';

export interface Topup {
  readonly account_id: string;
  readonly topup_id: string;
  readonly status: string;
  readonly amount_usd: number;
  readonly currency: string;
  readonly charge_amount: number;
  readonly failure_code: string | null;
  readonly review_reason: string | null;
  readonly refunded_usd: number;
  readonly test_mode: boolean;
  readonly provider: string;
  readonly created_at: string;
}

const ROWS = 25;
/** Pages of an account's top-ups among which one is looked for: no capability shows a single one. */
const PAGES_MAX = 10;

const chosen = (form: URLSearchParams) => ({ topup_id: form.get('topup_id') ?? '' });

export const operatorTopupsPage: ConsolePage = {
  name: 'operator_topups',
  path: '/operator/topups',
  needs: 'operator.topups.list',
  show,
  acts: {
    approve: {
      capability: 'operator.topup.approve',
      input: chosen,
      done: 'It was approved: its credit is in the wallet.',
    },
    reject: { capability: 'operator.topup.reject', input: chosen, done: 'It was rejected: nothing is credited.' },
  },
};

export const refundPage: ConsolePage = {
  name: 'operator_refund',
  path: '/operator/accounts/{id}/refund/{topup_id}',
  needs: 'operator.topup.refund',
  show: showRefund,
  acts: {
    refund: {
      capability: 'operator.topup.refund',
      input(form, { params: { topup_id = '' } }) {
        if (form.get('typed')?.trim() !== topup_id)
          throw invalidField('typed', 'equal', `Type ${topup_id} to pay it back.`);
        return { topup_id, amount_usd: numberOf(form, 'amount_usd') ?? null };
      },
      done: 'It is paid back.',
      next: (_, { params }) => `/operator/accounts/${params.id}`,
    },
  },
};

export function topupState({ status, review_reason: why, failure_code: failed, test_mode: isTest }: Topup): Html {
  const kind = status === 'succeeded' ? 'good' : status === 'failed' ? 'critical' : 'warning';
  return html`${badge(status, kind)} ${short(why ?? failed ?? '', 60)}${isTest ? ' test money' : ''}`;
}

async function show(visit: Visit): Promise<View> {
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call<Page<Topup>>('operator.topups.list', { cursor, limit: ROWS });
  const content = html`<h1>Top-ups</h1>
${operatorTabs(visit, '/topups')}
${panel(visit, 'Under review', list, (page) => html`${reviews(visit, page)}${more(visit, page)}`)}
<p class="quiet">All top-ups of an account, and refunds, stand on the page of the account.</p>`;
  return { title: 'Top-ups', content };
}

function reviews(visit: Visit, { items }: Page<Topup>): Html {
  const decide = ({ topup_id: id }: Topup) => {
    const of = html`<span class="unseen"> ${id}</span>`;
    return visit.may('operator.topup.approve')
      ? html`<div class="actions">${actForm(visit, 'approve', html`<button>Approve${of}</button>`, { topup_id: id })}${actForm(visit, 'reject', html`<button class="danger">Reject${of}</button>`, { topup_id: id })}</div>`
      : '';
  };
  return table({
    caption: 'Top-ups under review',
    rows: items,
    empty: html`<p>Nothing is to be decided.</p>`,
    columns: [
      { title: 'Top-up', cell: ({ topup_id }) => html`<code>${topup_id}</code>` },
      {
        title: 'Account',
        cell: ({ account_id: id }) => html`<a href="${visit.path(`/operator/accounts/${id}`)}">${short(id, 64)}</a>`,
      },
      { title: 'Begun', cell: ({ created_at }) => time(visit, created_at) },
      { title: 'Why', cell: topupState },
      { title: 'Charged', kind: 'number', cell: ({ charge_amount, currency }) => `${charge_amount} ${currency}` },
      { title: 'Credit', kind: 'number', cell: ({ amount_usd }) => money(amount_usd) },
      { title: 'Decide', cell: decide },
    ],
  });
}

async function find(visit: Visit): Promise<Topup> {
  const { id: account_id, topup_id } = visit.params;
  let cursor: string | null | undefined;
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const list: Page<Topup> = await visit.need('operator.topups.list', { account_id, cursor, limit: 100 });
    const found = list.items.find((topup) => topup.topup_id === topup_id);
    if (found !== undefined) return found;
    cursor = list.next_cursor;
  }
  throw problem('NOT_FOUND');
}

async function showRefund(visit: Visit): Promise<View> {
  const topup = await find(visit);
  const { account_id: account, topup_id: id, amount_usd: amount, refunded_usd: back, provider } = topup;
  const content = html`<p><a href="${visit.path(`/operator/accounts/${account}`)}">${short(account, 64)}</a></p>
<h1>Pay a top-up back</h1>
<p>${money(amount)} were paid through ${provider} ${time(visit, topup.created_at)}; ${money(back)} of it went back before. What goes back is taken out of the wallet, and cannot be called back. It is ${topupState(topup)}.</p>
${actForm(
  visit,
  'refund',
  html`${field(visit, 'refund', { name: 'amount_usd', label: 'Amount, USD', hint: 'Empty: all that is left of it.', attributes: html`inputmode="decimal"` })}
${field(visit, 'refund', { name: 'typed', label: `Type ${id}`, isRequired: true, attributes: html`autocomplete="off" spellcheck="false"` })}<button class="danger">Pay back</button>`,
)}`;
  return { title: 'Pay a top-up back', content };
}
