// Saved cards for auto-recharge. A card is added on the provider's page; the default is chosen here. remove.ts has the removal.

import { actForm } from '../../../../kit/console/form.ts';
import { type Act, actOf } from '../../../../kit/console/page.ts';
import { badge, table } from '../../../../kit/console/table.ts';
import type { ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { paymentMethodAttach } from '../../capabilities/payment-method/attach.ts';
import type { paymentMethodList } from '../../capabilities/payment-method/list.ts';
import { paymentMethodSetDefault } from '../../capabilities/payment-method/set-default.ts';
import { checkoutPage, returnUrl } from '../checkout.ts';

export type Method = ItemOf<typeof paymentMethodList>;

const methodInput = (form: URLSearchParams) => ({ payment_method_id: form.get('payment_method_id') ?? '' });

export const methodActs: Readonly<Record<string, Act>> = {
  attach: actOf({
    capability: paymentMethodAttach,
    input: (_, visit) => ({ return_url: returnUrl(visit, '/wallet') }),
    done: 'Ready.',
    answerView: (data, visit) =>
      checkoutPage(visit, {
        title: 'Add a card',
        sentence: 'Nothing is charged. The card is saved for auto-recharge.',
        url: data.checkout_url,
        back: '/wallet',
      }),
  }),
  set_default: { capability: paymentMethodSetDefault, input: methodInput, done: 'Default card saved.' },
};

export function nameOf({ brand, type, last4 }: Method): string {
  return `${brand ?? type}${last4 === null ? '' : ` …${last4}`}`;
}

/** `04/2031`; null: it has no end. */
export function expiryOf({ exp_month: month, exp_year: year }: Method): string | null {
  return month === null || year === null ? null : `${String(month).padStart(2, '0')}/${year}`;
}

export function methods(visit: Visit, items: readonly Method[], canPay: boolean): Html {
  const mayChange = visit.may(paymentMethodAttach);
  const list = table({
    caption: 'Payment methods',
    rows: items,
    empty: html`<p>No saved card. Auto-recharge needs one; a top-up does not.</p>`,
    columns: [
      {
        title: 'Card',
        cell: (method) =>
          html`${nameOf(method)} ${method.is_default ? badge('default') : ''}${method.test_mode ? ' test money' : ''}`,
      },
      {
        title: 'Expires',
        cell: (method) => expiryOf(method) ?? '',
      },
      { title: 'Change', cell: (method) => (mayChange ? changes(visit, method) : '') },
    ],
  });
  return html`${list}${mayChange && canPay ? actForm(visit, 'attach', html`<button>Add a card</button>`) : ''}`;
}

function changes(visit: Visit, method: Method): Html {
  const hidden = { payment_method_id: method.payment_method_id };
  return html`${method.is_default ? '' : actForm(visit, 'set_default', html`<button>Make default<span class="unseen">: ${nameOf(method)}</span></button>`, hidden)} <a class="danger" href="${visit.path(`/wallet/cards/${encodeURIComponent(method.payment_method_id)}/remove`)}">Remove…<span class="unseen"> ${nameOf(method)}</span></a>`;
}
