// Confirmation pages of top-up acts that cannot be undone: rejection and refund. Each states the amount and requires the id of the top-up.

import { field, numberOf } from '../../../kit/console/form.ts';
import type { Page } from '../../../kit/console/table.ts';
import { money, short, time } from '../../../kit/console/text.ts';
import { typedPage } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { html } from '../../../lib/html.ts';
import { problem } from '../../../problems/problem.ts';
import { accountsGet } from '../capabilities/accounts-get.ts';
import { topupRefund } from '../capabilities/topup-refund.ts';
import { topupReject } from '../capabilities/topup-review.ts';
import { topupsList } from '../capabilities/topups-list.ts';
import { type Topup, topupState } from './topups.ts';

/** Pages of an account's top-ups among which one is looked for: no capability shows a single one. */
const PAGES_MAX = 10;
const LIMIT = 100;

export const rejectPage = typedPage({
  name: 'operator_reject',
  path: '/operator/accounts/{id}/reject/{topup_id}',
  capability: topupReject,
  act: 'reject',
  what: 'reject it',
  button: 'Reject top-up',
  title: 'Reject a top-up',
  async about(visit) {
    const [topup, name] = await Promise.all([find(visit), accountName(visit)]);
    const { amount_usd: amount, charge_amount: charged, currency, provider } = topup;
    return {
      back: { label: 'Top-ups', path: '/operator/topups' },
      text: html`${short(name, 64)} was charged ${charged} ${currency} through ${provider} ${time(visit, topup.created_at)}. None of its ${money(amount)} of credit is granted, and the account is told so. Pay the amount back at ${provider}: that does not happen by itself. Status: ${topupState(topup)}`,
    };
  },
  done: 'Top-up rejected. Nothing is credited.',
  next: () => '/operator/topups',
});

export const refundPage = typedPage({
  name: 'operator_refund',
  path: '/operator/accounts/{id}/refund/{topup_id}',
  capability: topupRefund,
  act: 'refund',
  what: 'pay it back',
  button: 'Refund',
  title: 'Refund a top-up',
  async about(visit) {
    const [topup, name] = await Promise.all([find(visit), accountName(visit)]);
    const { account_id: account, amount_usd: amount, refunded_usd: back, provider } = topup;
    return {
      back: { label: name, path: `/operator/accounts/${account}` },
      text: html`${money(amount)} was paid through ${provider} ${time(visit, topup.created_at)}; ${money(back)} of it was refunded before. A refund is taken out of the wallet and cannot be undone. Status: ${topupState(topup)}`,
      before: field(visit, 'refund', {
        name: 'amount_usd',
        label: 'Amount, USD',
        hint: 'Empty: the whole remaining amount.',
        attributes: html`inputmode="decimal"`,
      }),
    };
  },
  input: (form, { params }) => ({ topup_id: params.topup_id, amount_usd: numberOf(form, 'amount_usd') ?? null }),
  done: 'Top-up refunded.',
  next: (_, { params }) => `/operator/accounts/${params.id}`,
});

async function accountName(visit: Visit): Promise<string> {
  const { name, email, account_id: id } = await visit.need(accountsGet, { account_id: visit.params.id });
  return name ?? email ?? id;
}

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
