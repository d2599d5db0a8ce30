// The plan of the account: its limits with what is used of them, the subscription that pays for it, and the way to another one.

import { contentOrFailure } from '../../../../kit/console/failure.ts';
import { actForm } from '../../../../kit/console/form.ts';
import { type Act, actOf, type View } from '../../../../kit/console/page.ts';
import { badge, facts, table } from '../../../../kit/console/table.ts';
import { count, money, time } from '../../../../kit/console/text.ts';
import type { Callable, DataOf, Read, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { subscriptionCancel } from '../../capabilities/subscription/cancel.ts';
import type { subscriptionGet } from '../../capabilities/subscription/get.ts';
import { subscriptionResume } from '../../capabilities/subscription/resume.ts';
import type { tier } from '../../capabilities/tier/tier.ts';
import { tierUpgrade } from '../../capabilities/tier/upgrade.ts';
import { addressFirst, checkoutPage, returnUrl } from '../checkout.ts';

/** It is derived from what all modules bring. */
export const accountTier: Callable<ReturnType<typeof tier>['output']> = { id: 'account.tier' };
type Tier = DataOf<typeof accountTier>;

export type Subscription = DataOf<typeof subscriptionGet>;

export const planActs: Readonly<Record<string, Act>> = {
  upgrade: actOf({
    capability: tierUpgrade,
    input: (form, visit) => ({ target: form.get('target'), return_url: returnUrl(visit, '/account') }),
    done: 'Plan saved.',
    answerView: planView,
  }),
  cancel: {
    capability: subscriptionCancel,
    input: () => ({ at_period_end: true }),
    done: 'The subscription ends after the paid month. You can resume it until then.',
  },
  resume: { capability: subscriptionResume, input: () => ({}), done: 'Subscription resumed.' },
};

function planView({ target, status, checkout_url: url }: DataOf<typeof tierUpgrade>, visit: Visit): View {
  if (status === 'requires_payment')
    return checkoutPage(visit, {
      title: `Subscribe to ${target}`,
      url,
      back: '/account',
      sentence: 'Nothing has been charged yet. The new limits apply once the first month is paid.',
    });
  const sentence =
    status === 'active'
      ? 'Your account already has this plan.'
      : 'This plan has no price here. Ask the operator of this service.';
  return {
    title: 'Plan',
    content: html`<h1>Plan ${target}</h1><p>${sentence}</p><p><a href="${visit.path('/account')}">Back</a></p>`,
  };
}

/** @param canPay whether the account has the address that paying asks for */
export function plan(visit: Visit, tier: Tier, subscription: Read<Subscription>, canPay: boolean): Html {
  const usage: Readonly<Record<string, number>> = tier.usage;
  const names = Object.entries(tier.limits).map(([name, of]) => ({ name, of, used: usage[name] }));
  return html`<div class="panels"><div>${facts([['Tier', badge(tier.tier)]])}
${contentOrFailure(visit, subscription, (data) => subscriptionFacts(visit, data))}
${visit.may(tierUpgrade) ? upgrades(visit, tier, canPay) : ''}</div>
<div>${table({
    caption: 'Limits',
    rows: names,
    empty: html``,
    columns: [
      { title: 'Resource', cell: ({ name }) => name.replaceAll('_', ' ') },
      { title: 'Used', kind: 'number', cell: ({ used }) => (used === undefined ? '' : count(used)) },
      { title: 'Limit', kind: 'number', cell: ({ of }) => count(of) },
    ],
  })}</div></div>`;
}

function subscriptionFacts(visit: Visit, of: Subscription): Html {
  if (of.status === 'none') return html`<p class="quiet">No subscription. This tier is free.</p>`;
  const { last_invoice: invoice, cancel_at_period_end: ends, pay_url: url } = of;
  const mayChange = visit.may(subscriptionCancel) && of.status !== 'cancelled' && of.status !== 'pending';
  return html`${facts([
    [
      'Subscription',
      html`${of.label ?? ''} ${badge(of.status, of.status === 'active' ? 'good' : 'warning')}${of.test_mode ? ' test money' : ''}`,
    ],
    ['Price', of.price_usd === null ? null : html`${money(of.price_usd)} a month`],
    [ends ? 'Ends' : 'Paid until', of.current_period_end === null ? null : time(visit, of.current_period_end)],
    [
      'Last invoice',
      invoice === null ? null : html`${money(invoice.amount_usd)} ${invoice.status}, ${time(visit, invoice.at)}`,
    ],
    ['Payment due', url === null ? null : html`<a href="${url}" rel="noreferrer">Open the payment page</a>`],
  ])}
${mayChange ? (ends ? actForm(visit, 'resume', html`<button>Resume</button>`) : actForm(visit, 'cancel', html`<button>Cancel at the end of the month</button>`)) : ''}`;
}

function upgrades(visit: Visit, { upgrade_options: options }: Tier, canPay: boolean): Html {
  const tiers = options.filter(({ target, tier }) => target === tier);
  if (tiers.length > 0 && !canPay) return addressFirst(visit);
  return html`${tiers.map(({ target, price_usd: price, status }) =>
    actForm(
      visit,
      'upgrade',
      html`<button>${status === 'contact_sales' ? 'Request' : 'Subscribe to'} ${target}</button>${price === null ? '' : html` ${money(price)} a month`}`,
      { target },
    ),
  )}`;
}
