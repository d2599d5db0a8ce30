// Auto-recharge: its settings, its charges, and a simulation over the month before.

import { failure } from '../../../../kit/console/failure.ts';
import { actForm, choice, field, numberOf, textOf } from '../../../../kit/console/form.ts';
import type { Act } from '../../../../kit/console/page.ts';
import { badge, facts } from '../../../../kit/console/table.ts';
import { ago, countOf, money, plainNumber } from '../../../../kit/console/text.ts';
import type { DataOf, Read, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { iso, startOfMonth } from '../../../../lib/time.ts';
import { autorechargeConfigure } from '../../capabilities/autorecharge/configure.ts';
import type { autorechargeGet } from '../../capabilities/autorecharge/get.ts';
import { type Method, nameOf } from './methods.ts';
import { type Charges, chargesOf, type Plan } from './simulate.ts';

export type Recharge = DataOf<typeof autorechargeGet>;

export interface Spend {
  readonly items: readonly { readonly at: string; readonly spend_usd: number }[];
}

const USUAL = { trigger: 5, amount: 20, perDay: 3, perMonth: 30 };

export const rechargeAct: Act = {
  capability: autorechargeConfigure,
  input: (form) => ({
    trigger_balance: numberOf(form, 'trigger_balance'),
    recharge_amount: numberOf(form, 'recharge_amount'),
    payment_method_id: textOf(form, 'payment_method_id') ?? null,
    max_per_day: numberOf(form, 'max_per_day'),
    max_per_month: numberOf(form, 'max_per_month'),
    enabled: form.get('enabled') === 'on',
  }),
  done: 'Auto-recharge saved.',
};

/** The calendar month before this one, by day. */
export function lastMonth({ nowMs }: Visit) {
  const toMs = startOfMonth(nowMs);
  return { from: iso(startOfMonth(toMs - 1)), to: iso(toMs), granularity: 'day' };
}

export function recharge(
  visit: Visit,
  now: Recharge,
  spent: Read<Spend>,
  cards: readonly Method[],
  canPay: boolean,
): Html {
  const last = now.last_attempt;
  const told = facts([
    ['Status', now.enabled ? badge('on', 'good') : badge('off')],
    ['Turned off', now.disabled_reason],
    ['Charged this month', html`${money(now.charged_this_month_usd)} in ${countOf(now.charged_this_month, 'charge')}`],
    [
      'Charge limit',
      html`${money(now.charge_limit_usd)} a month <a href="${visit.elsewhere('/wallet/charge-limit')}">Change</a>`,
    ],
    [
      'Last charge',
      last === null
        ? null
        : html`${money(last.amount_usd)} ${last.status}${last.failure_code === null ? '' : `: ${last.failure_code}`}, ${ago(visit, last.at)}`,
    ],
    ['Next attempt', now.next_attempt_at === null ? null : ago(visit, now.next_attempt_at)],
  ]);
  const form = canPay && visit.may(rechargeAct.capability) ? actForm(visit, 'recharge', fields(visit, now, cards)) : '';
  return html`<div class="panels"><div>${told}${planTrial(visit, now, spent)}</div><div>${form}</div></div>`;
}

function fields(visit: Visit, now: Recharge, cards: readonly Method[]): Html {
  const attributes = html`inputmode="decimal"`;
  const number = (name: string, label: string, value: number) =>
    field(visit, 'recharge', { name, label, value: plainNumber(value), isRequired: true, attributes });
  return html`<div class="pair">${number('trigger_balance', 'When the balance falls below, USD', now.trigger_balance ?? USUAL.trigger)}
${number('recharge_amount', 'Charge, USD', now.recharge_amount ?? USUAL.amount)}
${number('max_per_day', 'Charges per day, at most', now.max_per_day ?? USUAL.perDay)}
${number('max_per_month', 'Charges per month, at most', now.max_per_month ?? USUAL.perMonth)}</div>
${choice(visit, 'recharge', {
  name: 'payment_method_id',
  label: 'Card',
  value: now.payment_method_id ?? '',
  options: [['', 'Default card'], ...cards.map((card) => [card.payment_method_id, nameOf(card)] as const)],
})}
${choice(visit, 'recharge', {
  name: 'enabled',
  label: 'Auto-recharge',
  value: now.enabled ? 'on' : 'off',
  options: [
    ['on', 'On'],
    ['off', 'Off'],
  ],
})}
<button>Save auto-recharge</button>`;
}

/** What other figures would have done is tried by the address: nothing is kept. */
function planTrial(visit: Visit, now: Recharge, spent: Read<Spend>): Html {
  if (spent.problem !== null) return failure(visit, spent.problem, spent.requestId);
  const numberInQuery = (name: string) => {
    const text = visit.query.get(name)?.trim() ?? '';
    return /^\d{1,7}(\.\d{1,9})?$/.test(text) ? Number(text) : null;
  };
  const plan: Plan = {
    trigger: numberInQuery('trigger') ?? now.trigger_balance ?? USUAL.trigger,
    amount: Math.max(5, numberInQuery('amount') ?? now.recharge_amount ?? USUAL.amount),
    perDay: now.max_per_day ?? USUAL.perDay,
    perMonth: now.max_per_month ?? USUAL.perMonth,
    limit: now.charge_limit_usd,
  };
  const days = spent.data.items.map(({ spend_usd }) => spend_usd);
  const sum = days.reduce((total, day) => total + day, 0);
  return html`<h3>Last month</h3>
<p>${sum === 0 ? 'Nothing was spent last month. Auto-recharge would not have charged anything.' : sentence(plan, chargesOf(plan, days), sum)}</p>
<form method="get" class="row" aria-label="Try other figures"><label>Below <input name="trigger" value="${plainNumber(plan.trigger)}" size="6" inputmode="decimal"></label> <label>charge <input name="amount" value="${plainNumber(plan.amount)}" size="6" inputmode="decimal"></label> <button>Try</button></form>`;
}

function sentence({ trigger, amount }: Plan, { times, usd, shortDays }: Charges, sum: number): Html {
  return html`You spent ${money(sum)}. Charging ${money(amount)} whenever the balance fell below ${money(trigger)} would have made <strong>${countOf(times, 'charge')}, ${money(usd)}</strong>${shortDays === 0 ? '' : html`, and the caps would have left the wallet empty on ${countOf(shortDays, 'day')}`}. <span class="quiet">Played over what each day cost, beginning just after a charge.</span>`;
}
