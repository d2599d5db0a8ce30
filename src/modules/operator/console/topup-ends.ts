// What the operator cannot take back of a top-up: to reject it, and to pay it back. Their pages say of how much, and ask for its id.

import { field, numberOf } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import type { Page } from '../../../kit/console/table.ts';
import { money, short, time } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { problem } from '../../../problems/problem.ts';
import { topupRefund } from '../capabilities/topup-refund.ts';
import { topupReject } from '../capabilities/topup-review.ts';
import { topupsList } from '../capabilities/topups-list.ts';
import { type Topup, topupState } from './topups.ts';

/** Pages of an account's top-ups among which one is looked for: no capability shows a single one. */
const PAGES_MAX = 10;
const LIMIT = 100;

export const rejectPage: ConsolePage = {
  name: 'operator_reject',
  path: '/operator/accounts/{id}/reject/{topup_id}',
  needs: topupReject,
  show: showReject,
  acts: {
    reject: {
      capability: topupReject,
      input(form, { params: { topup_id = '' } }) {
        requireTyped(form, topup_id, 'reject it');
        return { topup_id };
      },
      done: 'Top-up rejected. Nothing is credited.',
      next: () => '/operator/topups',
    },
  },
};

export const refundPage: ConsolePage = {
  name: 'operator_refund',
  path: '/operator/accounts/{id}/refund/{topup_id}',
  needs: topupRefund,
  show: showRefund,
  acts: {
    refund: {
      capability: topupRefund,
      input(form, { params: { topup_id = '' } }) {
        requireTyped(form, topup_id, 'pay it back');
        return { topup_id, amount_usd: numberOf(form, 'amount_usd') ?? null };
      },
      done: 'Top-up refunded.',
      next: (_, { params }) => `/operator/accounts/${params.id}`,
    },
  },
};

async function find(visit: Visit): Promise<Topup> {
  const { id: account_id, topup_id } = visit.params;
  let cursor: string | null | undefined;
  for (let page = 0; page < PAGES_MAX && cursor !== null; page += 1) {
    const list: Page<Topup> = await visit.need(topupsList, { account_id, cursor, limit: LIMIT });
    const found = list.items.find((topup) => topup.topup_id === topup_id);
    if (found !== undefined) return found;
    cursor = list.next_cursor;
  }
  throw problem('NOT_FOUND');
}

async function showReject(visit: Visit): Promise<View> {
  const topup = await find(visit);
  const { account_id: account, topup_id: id, amount_usd: amount, charge_amount: charged, currency, provider } = topup;
  const content = html`<p><a href="${visit.path('/operator/topups')}">Top-ups</a></p>
<h1>Reject a top-up</h1>
<p>${short(account, 64)} was charged ${charged} ${currency} through ${provider} ${time(visit, topup.created_at)}. None of its ${money(amount)} of credit is given, now or later, and the account is told so. What was paid is to be paid back at ${provider}: that does not happen by itself. It is ${topupState(topup)}.</p>
${typedForm(visit, 'reject', { wanted: id, button: 'Reject top-up' })}`;
  return { title: 'Reject a top-up', content };
}

async function showRefund(visit: Visit): Promise<View> {
  const topup = await find(visit);
  const { account_id: account, topup_id: id, amount_usd: amount, refunded_usd: back, provider } = topup;
  const content = html`<p><a href="${visit.path(`/operator/accounts/${account}`)}">${short(account, 64)}</a></p>
<h1>Refund a top-up</h1>
<p>${money(amount)} were paid through ${provider} ${time(visit, topup.created_at)}; ${money(back)} of it went back before. What goes back is taken out of the wallet, and cannot be called back. It is ${topupState(topup)}.</p>
${typedForm(visit, 'refund', {
  wanted: id,
  button: 'Refund',
  before: field(visit, 'refund', {
    name: 'amount_usd',
    label: 'Amount, USD',
    hint: 'Empty: the whole remaining amount.',
    attributes: html`inputmode="decimal"`,
  }),
})}`;
  return { title: 'Refund a top-up', content };
}
