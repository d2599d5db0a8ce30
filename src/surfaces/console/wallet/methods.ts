// Cards that are kept for auto-recharge. They are left at the provider's page; here they are chosen. remove.ts ends one.
import { type Html, html } from '../../../lib/html.ts';
import type { Act } from '../page.ts';
import { checkoutPage, returnUrl } from '../parts/checkout.ts';
import { actForm } from '../parts/form.ts';
import { badge, table } from '../parts/table.ts';
import type { Visit } from '../visit.ts';

export interface Method {
  readonly payment_method_id: string;
  readonly type: string;
  readonly brand: string | null;
  readonly last4: string | null;
  readonly exp_month: number | null;
  readonly exp_year: number | null;
  readonly is_default: boolean;
  readonly test_mode: boolean;
}

const chosen = (form: URLSearchParams) => ({ payment_method_id: form.get('payment_method_id') ?? '' });

export const methodActs: Readonly<Record<string, Act>> = {
  attach: {
    capability: 'account.payment_method.attach',
    input: (_, visit) => ({ return_url: returnUrl(visit, '/wallet') }),
    done: 'The page was made.',
    shown: (data, visit) =>
      checkoutPage(visit, {
        title: 'Leave a card',
        sentence: 'Nothing is charged there: the card is kept for auto-recharge.',
        url: (data as { readonly checkout_url: string | null }).checkout_url,
        back: '/wallet',
      }),
  },
  set_default: { capability: 'account.payment_method.set_default', input: chosen, done: 'The card is the usual one.' },
};

export function nameOf({ brand, type, last4 }: Method): string {
  return `${brand ?? type}${last4 === null ? '' : ` …${last4}`}`;
}

/** `04/2031`; null: it has no end. */
export function expiryOf({ exp_month: month, exp_year: year }: Method): string | null {
  return month === null || year === null ? null : `${String(month).padStart(2, '0')}/${year}`;
}

export function methods(visit: Visit, items: readonly Method[], canPay: boolean): Html {
  const mayChange = visit.may('account.payment_method.attach');
  const list = table({
    caption: 'Payment methods',
    rows: items,
    empty: html`<p>No card is kept. Auto-recharge needs one; a top-up does not.</p>`,
    columns: [
      {
        title: 'Card',
        cell: (method) =>
          html`${nameOf(method)} ${method.is_default ? badge('usual') : ''}${method.test_mode ? ' test money' : ''}`,
      },
      {
        title: 'Expires',
        cell: (method) => expiryOf(method) ?? '',
      },
      { title: 'Change', cell: (method) => (mayChange ? changes(visit, method) : '') },
    ],
  });
  return html`${list}${mayChange && canPay ? actForm(visit, 'attach', html`<button>Leave a card</button>`) : ''}`;
}

function changes(visit: Visit, method: Method): Html {
  const hidden = { payment_method_id: method.payment_method_id };
  return html`${method.is_default ? '' : actForm(visit, 'set_default', html`<button>Make it the usual one<span class="unseen">: ${nameOf(method)}</span></button>`, hidden)} <a class="danger" href="${visit.path(`/wallet/cards/${encodeURIComponent(method.payment_method_id)}/remove`)}">Remove…<span class="unseen"> ${nameOf(method)}</span></a>`;
}
