// Wallet page: balance and how long it lasts, top-ups, auto-recharge, budgets and ledger. The page is
// live, so a payment that arrives appears by itself.

import { panel } from '../../../../kit/console/failure.ts';
import { actForm, checkbox, choice, field, numberOf, textOf } from '../../../../kit/console/form.ts';
import { actOf, type ConsolePage, type View } from '../../../../kit/console/page.ts';
import { periodOf } from '../../../../kit/console/period.ts';
import { badge, facts, figures, type Page, table } from '../../../../kit/console/table.ts';
import { ago, money, plainNumber, time } from '../../../../kit/console/text.ts';
import type { DataOf, ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { autorechargeGet } from '../../capabilities/autorecharge/get.ts';
import { balance as accountBalance } from '../../capabilities/balance.ts';
import { budgetGet } from '../../capabilities/budget-get.ts';
import { budgetSet } from '../../capabilities/budget-set.ts';
import { ledgerList } from '../../capabilities/ledger-list.ts';
import { paymentMethodList } from '../../capabilities/payment-method/list.ts';
import { get } from '../../capabilities/profile/get.ts';
import { topupList } from '../../capabilities/topup/list.ts';
import { topup } from '../../capabilities/topup/topup.ts';
import { usageTimeseries } from '../../capabilities/usage-timeseries.ts';
import { addressFirst, checkoutPage, returnUrl } from '../checkout.ts';
import { readCallers } from '../usage/caller.ts';
import { ledger, ledgerCsv, ledgerFilter, ROWS } from './ledger.ts';
import { methodActs, methods } from './methods.ts';
import { lastMonth, recharge, rechargeAct } from './recharge.ts';

type Balance = DataOf<typeof accountBalance>;

type Budget = DataOf<typeof budgetGet>;

type Topup = ItemOf<typeof topupList>;

const TOPUPS = 5;

export const walletPage: ConsolePage = {
  name: 'wallet',
  path: '/wallet',
  needs: accountBalance,
  nav: { label: 'Wallet', key: 'w', group: 'start' },
  isLive: true,
  show,
  csv: ledgerCsv,
  acts: {
    topup: actOf({
      capability: topup,
      input: (form, visit) => ({
        amount_usd: numberOf(form, 'amount_usd'),
        save_payment_method: form.has('save_payment_method'),
        return_url: returnUrl(visit, '/wallet'),
      }),
      done: 'Top-up started.',
      answerView: (data, visit) =>
        checkoutPage(visit, {
          title: 'Pay the top-up',
          sentence: 'Nothing has been charged yet. The credit arrives when the payment is confirmed.',
          url: data.checkout_url,
          back: '/wallet',
        }),
    }),
    budget: {
      capability: budgetSet,
      input: (form) => ({
        period: textOf(form, 'period'),
        hard_cap_usd: numberOf(form, 'hard_cap_usd') ?? null,
        alert_threshold_usd: numberOf(form, 'alert_threshold_usd') ?? null,
      }),
      done: 'Budget saved.',
    },
    recharge: rechargeAct,
    ...methodActs,
  },
};

async function show(visit: Visit): Promise<View> {
  const [account, balance, budget, topups, cards, auto, spent, entries, { names }] = await Promise.all([
    visit.call(get),
    visit.call(accountBalance),
    visit.call(budgetGet),
    visit.call(topupList, { limit: TOPUPS }),
    visit.call(paymentMethodList),
    visit.call(autorechargeGet),
    visit.call(usageTimeseries, lastMonth(visit)),
    visit.call(ledgerList, { ...ledgerFilter(visit), limit: ROWS }),
    readCallers(visit),
  ]);
  const canPay = account.data?.email_bound !== false;
  const content = html`<h1>Wallet</h1>
${panel(visit, 'Balance', balance, (data) => balanceFigures(visit, data))}
<div class="panels"><div><section class="panel"><h2>Top up</h2>${topupForm(visit, canPay)}</section>
${panel(visit, 'Last top-ups', topups, (page) => topupTable(visit, page))}
${panel(visit, 'Payment methods', cards, ({ items }) => methods(visit, items, canPay))}</div>
${panel(visit, 'Budget', budget, (data) => budgetForm(visit, data))}</div>
${panel(visit, 'Auto-recharge', auto, (data) => recharge(visit, data, spent, cards.data?.items ?? [], canPay))}
${panel(visit, 'Ledger', entries, (page) => ledger(visit, page, periodOf(visit, '30d'), names))}`;
  return { title: 'Wallet', content };
}

function balanceFigures(visit: Visit, balance: Balance): Html {
  const { debt_usd: debt, test_usd: test, frozen_reason: frozen } = balance;
  return html`${figures([
    ['Available', html`<span aria-live="polite">${money(balance.balance_usd)}</span>`],
    ['Paid', money(balance.paid_usd), 'never expires'],
    ['Promotional', money(balance.promo_usd), balance.expiring.length === 0 ? 'nothing expires' : 'expires, see below'],
    ...(test > 0 ? [['Test money', money(test), 'included in both'] as const] : []),
    ['Held', money(balance.held_usd), 'for work in progress'],
    ...(debt > 0 ? [['Debt', money(debt), 'paid first from new credit'] as const] : []),
  ])}
${frozen === null ? '' : html`<p class="failure" role="alert">The wallet is frozen: ${frozen}. Paid calls are refused until it is released.</p>`}
${balance.low_balance ? html`<p class="notice">The balance is low.</p>` : ''}
${
  balance.expiring.length === 0
    ? ''
    : table({
        caption: 'Credit that expires',
        rows: balance.expiring,
        empty: html``,
        columns: [
          {
            title: 'Expires',
            cell: ({ expires_at: at }) => html`${time(visit, at)} <span class="quiet">${ago(visit, at)}</span>`,
          },
          { title: 'Remaining', usd: ({ amount_usd }) => amount_usd },
        ],
      })
}`;
}

function topupForm(visit: Visit, canPay: boolean): Html {
  if (!visit.may(topup)) return html`<p class="quiet">You cannot make payments here.</p>`;
  if (!canPay) return addressFirst(visit);
  return actForm(
    visit,
    'topup',
    html`${field(visit, 'topup', { name: 'amount_usd', label: 'Amount, USD', value: '10', hint: 'You pay on the payment provider’s page.', attributes: html`inputmode="decimal"` })}
${checkbox(visit, 'topup', { name: 'save_payment_method', label: 'Save the card for auto-recharge' })}
<button class="main">Top up</button>`,
  );
}

const kinds: Readonly<Record<string, Parameters<typeof badge>[1]>> = {
  succeeded: 'good',
  pending: 'warning',
  review: 'warning',
  failed: 'critical',
};

function topupTable(visit: Visit, { items }: Page<Topup>): Html {
  return table({
    caption: 'Last top-ups',
    rows: items,
    empty: html`<p>No top-ups yet.</p>`,
    columns: [
      { title: 'Started', cell: ({ created_at }) => time(visit, created_at) },
      {
        title: 'Status',
        cell: ({ status, test_mode: isTest, refunded_usd: back }) =>
          html`${badge(status, kinds[status])}${isTest ? ' test money' : ''}${back > 0 ? html` ${money(back)} refunded` : ''}`,
      },
      {
        title: 'Payment',
        cell: ({ status, checkout_url: url }) =>
          status === 'pending' && url !== null ? html`<a href="${url}" rel="noreferrer">Pay</a>` : '',
      },
      { title: 'Amount', usd: ({ amount_usd }) => amount_usd },
    ],
  });
}

function budgetForm(visit: Visit, budget: Budget): Html {
  const { hard_cap_usd: cap, alert_threshold_usd: alert, period } = budget;
  const isUsedUp = cap !== null && budget.used_usd >= cap;
  const now = html`${facts([
    ['Used', money(budget.used_usd)],
    ['Left', budget.remaining_usd === null ? 'No cap' : money(budget.remaining_usd)],
    ['Resets', time(visit, budget.window_end)],
  ])}${isUsedUp ? html`<p class="notice">The budget is used up. Paid calls are refused until it resets or you raise the cap.</p>` : ''}`;
  if (!visit.may(budgetSet)) return now;
  const form = html`${choice(visit, 'budget', {
    name: 'period',
    label: 'Period',
    value: period ?? 'monthly',
    options: [
      ['daily', 'Day (UTC)'],
      ['monthly', 'Month (UTC)'],
    ],
  })}
${field(visit, 'budget', { name: 'hard_cap_usd', label: 'Cap, USD', value: cap === null ? '' : plainNumber(cap), hint: 'Calls beyond it are refused. Empty: no cap.', attributes: html`inputmode="decimal"` })}
${field(visit, 'budget', { name: 'alert_threshold_usd', label: 'Alert at, USD', value: alert === null ? '' : plainNumber(alert), attributes: html`inputmode="decimal"` })}
<button>Save budget</button>`;
  return html`${now}${actForm(visit, 'budget', form)}`;
}
