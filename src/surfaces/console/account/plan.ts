// The plan of the account: its limits with what is used of them, the subscription that pays for it, and the way to another one.
import { type Html, html } from '../../../lib/html.ts';
import type { Act, View } from '../page.ts';
import { addressFirst, checkoutPage, returnUrl } from '../parts/checkout.ts';
import { shown } from '../parts/failure.ts';
import { actForm } from '../parts/form.ts';
import { badge, facts, table } from '../parts/table.ts';
import { count, money, time } from '../parts/text.ts';
import type { Read, Visit } from '../visit.ts';

export interface Tier {
  readonly tier: string;
  readonly limits: Readonly<Record<string, number>>;
  readonly usage: Readonly<Record<string, number>>;
  readonly upgrade_options: readonly {
    readonly target: string;
    /** That it is then; a label of another name is bought by calls only. */
    readonly tier: string;
    readonly price_usd: number | null;
    readonly status: string;
  }[];
}

export interface Subscription {
  readonly status: string;
  readonly label: string | null;
  readonly price_usd: number | null;
  readonly current_period_end: string | null;
  readonly cancel_at_period_end: boolean;
  readonly last_invoice: { readonly status: string; readonly amount_usd: number; readonly at: string } | null;
  readonly test_mode: boolean;
  readonly pay_url: string | null;
}

export const planActs: Readonly<Record<string, Act>> = {
  upgrade: {
    capability: 'account.tier.upgrade',
    input: (form, visit) => ({ target: form.get('target'), return_url: returnUrl(visit, '/account') }),
    done: 'The plan was chosen.',
    shown: (data, visit) => chosen(data as Parameters<typeof chosen>[0], visit),
  },
  cancel: {
    capability: 'account.subscription.cancel',
    input: () => ({ at_period_end: true }),
    done: 'The subscription ends with the month that is paid. Until then it can be resumed.',
  },
  resume: { capability: 'account.subscription.resume', input: () => ({}), done: 'The subscription goes on.' },
};

function chosen(
  {
    target,
    status,
    checkout_url: url,
  }: Readonly<Record<'target' | 'status', string>> & { checkout_url: string | null },
  visit: Visit,
): View {
  if (status === 'requires_payment')
    return checkoutPage(visit, {
      ...{ title: `Subscribe to ${target}`, url, back: '/account' },
      sentence: 'Nothing has been charged yet. The limits are those of the plan as soon as the first month is paid.',
    });
  const sentence =
    status === 'active' ? 'The account has it already.' : 'It has no price here: ask who runs this service.';
  return {
    title: 'Plan',
    content: html`<h1>Plan ${target}</h1><p>${sentence}</p><p><a href="${visit.path('/account')}">Back</a></p>`,
  };
}

/** @param canPay whether the account has the address that paying asks for */
export function plan(visit: Visit, tier: Tier, subscription: Read<Subscription>, canPay: boolean): Html {
  const names = Object.keys(tier.limits).map((name) => ({
    name,
    of: tier.limits[name] as number,
    used: tier.usage[name],
  }));
  return html`<div class="panels"><div>${facts([['Tier', badge(tier.tier, 'good')]])}
${shown(visit, subscription, (data) => subscribed(visit, data))}
${visit.may('account.tier.upgrade') ? upgrades(visit, tier, canPay) : ''}</div>
<div>${table({
    caption: 'Limits',
    rows: names,
    empty: html``,
    columns: [
      { title: 'Limit', cell: ({ name }) => name.replaceAll('_', ' ') },
      { title: 'Used', kind: 'number', cell: ({ used }) => (used === undefined ? '' : count(used)) },
      { title: 'Of', kind: 'number', cell: ({ of }) => count(of) },
    ],
  })}</div></div>`;
}

function subscribed(visit: Visit, of: Subscription): Html {
  if (of.status === 'none') return html`<p class="quiet">No subscription: the tier costs nothing.</p>`;
  const { last_invoice: invoice, cancel_at_period_end: ends, pay_url: url } = of;
  const mayChange = visit.may('account.subscription.cancel') && of.status !== 'cancelled' && of.status !== 'pending';
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
    ['To be paid', url === null ? null : html`<a href="${url}" rel="noreferrer">on the payment page</a>`],
  ])}
${mayChange ? (ends ? actForm(visit, 'resume', html`<button>Resume it</button>`) : actForm(visit, 'cancel', html`<button>Cancel it at the end of the month</button>`)) : ''}`;
}

function upgrades(visit: Visit, { upgrade_options: options }: Tier, canPay: boolean): Html {
  const tiers = options.filter(({ target, tier }) => target === tier);
  if (tiers.length > 0 && !canPay) return addressFirst(visit);
  return html`${tiers.map(({ target, price_usd: price, status }) =>
    actForm(
      visit,
      'upgrade',
      html`<button>${status === 'contact_sales' ? 'Ask for' : 'Subscribe to'} ${target}</button>${price === null ? '' : html` ${money(price)} a month`}`,
      { target },
    ),
  )}`;
}
