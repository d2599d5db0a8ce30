// The sandbox's substitute for a payment provider's page: six test cards and no number field, so nobody types a real card number.

import type { RawAnswer } from '../../../kit/raw-route.ts';
import { type Html, html } from '../../../lib/html.ts';
import { amountText } from '../../../payments/money.ts';
import { testCards } from '../../../payments/sandbox/cards.ts';
import type { PaymentRow } from '../../../payments/sandbox/store.ts';
import { framePage } from '../frame.ts';

export interface Shown {
  readonly payment: PaymentRow;
  /** Host of the service that is paid. */
  readonly payee: string;
  readonly nowMs: number;
  /** What is wrong with the form that was sent; null: nothing. */
  readonly fault: string | null;
}

/** The page as the payment stands. */
export function sandboxPage({ payment, payee, nowMs, fault }: Shown): RawAnswer {
  const isOpen = payment.status === 'open' || payment.status === 'authenticating';
  const isOver = isOpen && payment.expires_at <= nowMs;
  const title = isOver ? 'This link has expired' : titleOf(payment);
  const step = isOver ? over() : isOpen ? form(payment, fault) : outcomeSection(payment, nowMs);
  return framePage({
    status: fault === null ? 200 : 400,
    title,
    content: html`<h1>${title}</h1>
<dl class="facts">
<dt>Paid to</dt><dd>${payee}</dd>
${payment.purpose === 'setup' ? '' : html`<dt>Amount</dt><dd>${amountText(payment.amount_minor, payment.currency)}</dd>`}
<dt>For</dt><dd>${payment.description}</dd>
</dl>
<p class="notice">Test money: this is the sandbox. No card is charged, and you enter no card number.</p>
${step}`,
    isNarrow: true,
  });
}

function titleOf({ purpose, status, amount_minor, currency }: PaymentRow): string {
  const amount = amountText(amount_minor, currency);
  if (status === 'authenticating') return 'Confirm that it is you';
  if (status !== 'open') return purpose === 'setup' ? 'Card saved' : 'Thank you';
  if (purpose === 'setup') return 'Save a test card';
  return purpose === 'subscription' ? `Subscribe for ${amount} a month` : `Pay ${amount}`;
}

const failures: Readonly<Record<string, string>> = {
  card_declined: 'The card was declined. Nothing was paid. Choose another card.',
  authentication_failed: 'The payment was not confirmed. Nothing was paid. Choose a card again.',
};

function form({ status, purpose, failure_code, amount_minor, currency }: PaymentRow, fault: string | null): Html {
  if (status === 'authenticating')
    return html`<p>The bank of this test card asks you to confirm the payment.</p>
<form method="post">
<button class="main" name="action" value="confirm">Confirm</button>
<button name="action" value="refuse">This is not me</button>
</form>`;
  const failure = fault ?? (failure_code === null ? null : (failures[failure_code] ?? 'Nothing was paid.'));
  return html`${failure === null ? '' : html`<p class="failure" role="alert" id="failure">${failure}</p>`}
<form method="post">
<fieldset${failure === null ? '' : html` aria-describedby="failure"`}>
<legend>Test card</legend>
${testCards.map(
  (
    { id, label, last4 },
    i,
  ) => html`<label class="choice" for="card-${id}"><input type="radio" id="card-${id}" name="card" value="${id}" required${i === 0 ? html` checked` : ''}>${label} <span class="quiet">&nbsp;•••• ${last4}</span></label>
`,
)}</fieldset>
<button class="main wide">${purpose === 'setup' ? 'Save card' : `Pay ${amountText(amount_minor, currency)}`}</button>
</form>`;
}

function outcomeSection(payment: PaymentRow, nowMs: number): Html {
  const { status, pays_at, return_url } = payment;
  const waits = status === 'processing' && pays_at !== null && pays_at > nowMs;
  const words = waits
    ? 'The bank takes half a minute. You can close this page.'
    : status === 'review'
      ? 'The payment is being reviewed. The credit arrives once the review is done.'
      : status === 'failed'
        ? 'The payment failed. Nothing was paid.'
        : 'Done.';
  return html`<p role="status">${words}</p>
${return_url === null ? '' : html`<p><a class="main" href="${return_url}">Continue</a></p>`}`;
}

function over(): Html {
  return html`<p>Nothing was charged. Request a new link.</p>`;
}
