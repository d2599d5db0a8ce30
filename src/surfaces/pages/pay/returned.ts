// The payer's return from the provider. The payment is checked, then the payer goes to the caller's page with its id and status, or reads the
// result here. A visitor without the key of the return URL reads the result too but is never redirected: an open redirect would disguise
// links. If the provider does not answer, the page does not wait: the checks read the payment later.

import { clockNow } from '../../../core/database-clock.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { findSetup } from '../../../payments/methods/setup-store.ts';
import { checkSetup } from '../../../payments/methods/setups.ts';
import { findRef, type PaymentOwner } from '../../../payments/refs.ts';
import { isReturnKey } from '../../../payments/return-address.ts';
import { checkSubscription } from '../../../payments/subscriptions/check.ts';
import { subscriptionRecord } from '../../../payments/subscriptions/record.ts';
import { findSubscription } from '../../../payments/subscriptions/store.ts';
import { checkTopup } from '../../../payments/topups/check.ts';
import { findTopup } from '../../../payments/topups/store.ts';
import { PaymentProviderError } from '../../../vendors/payments/port.ts';
import { framePage } from '../frame.ts';

interface Ended {
  readonly status: string;
  /** The provider's page is open, and sends payers back, until then. */
  readonly expiresAtMs: number;
  readonly returnUrl: string | null;
  /** Name of the id in the address of the caller's page. */
  readonly idName: string;
}

/** Of a top-up, of a subscription, or of a page to leave a payment method. What is decided is not read again. */
async function endOf(core: Services, { accountId, kind, id }: PaymentOwner): Promise<Ended | null> {
  // No attempt of the checks: what those have planned stays.
  const named = { accountId, id, attempt: -1 };
  if (kind === 'topup') {
    const found = await findTopup(core.db, accountId, id);
    const isOpen = found?.status === 'pending' || found?.status === 'review';
    const topup = isOpen ? await checkOrKeep(core, found, () => checkTopup(core, named)) : found;
    return (
      topup && { status: topup.status, expiresAtMs: topup.expires_at, returnUrl: topup.return_url, idName: 'topup_id' }
    );
  }
  if (kind === 'subscription') {
    const found = await findSubscription(core.db, accountId, id);
    const isOpen = found?.status === 'pending' || found?.status === 'past_due';
    const row = isOpen ? await checkOrKeep(core, found, () => checkSubscription(core, accountId, id)) : found;
    return (
      row && {
        status: subscriptionRecord(row).status,
        expiresAtMs: row.expires_at,
        returnUrl: row.return_url,
        idName: 'subscription_id',
      }
    );
  }
  if (kind !== 'setup') return null;
  const found = await findSetup(core.db, accountId, id);
  const setup = found?.status === 'open' ? await checkOrKeep(core, found, () => checkSetup(core, named)) : found;
  if (setup === null) return null;
  const status = setup.status === 'open' ? 'pending' : setup.status;
  return { status, expiresAtMs: setup.expires_at, returnUrl: setup.return_url, idName: 'setup_id' };
}

/** As the provider says it is; as it was found when that does not answer. */
async function checkOrKeep<T>(core: Services, found: T, check: () => Promise<T | null>): Promise<T | null> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof PaymentProviderError)) throw error;
    core.log.warn({ err: error }, 'a payment could not be read when its payer came back');
    return found;
  }
}

/** @param key as the address has it that the provider was given */
export async function answerReturn(core: Services, id: string, key: string): Promise<RawAnswer> {
  const owner = await findRef(core.db, id);
  const ended = owner === null ? null : await endOf(core, owner);
  if (ended === null) return messagePage(404, 'There is no such payment', 'Check the link.');
  const { status, expiresAtMs, returnUrl, idName } = ended;
  if (returnUrl === null || !isReturnKey(core, id, key)) return messagePage(200, ...wordsOf(status));
  const url = new URL(returnUrl);
  url.searchParams.set(idName, id);
  url.searchParams.set('status', status);
  // Nobody makes a lasting redirect to another site of a payment of theirs.
  if ((await clockNow(core.db)) >= expiresAtMs) return messagePage(200, ...wordsOf(status), url);
  return {
    status: 303,
    headers: { location: url.href, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    body: '',
  };
}

function wordsOf(status: string): [string, string] {
  if (status === 'succeeded' || status === 'active')
    return ['Thank you', 'The payment succeeded. You can close this page.'];
  if (status === 'pending' || status === 'review')
    return ['Nearly done', 'The payment is being processed or reviewed. You can close this page.'];
  return ['Nothing was paid', 'The payment failed. Request a new link to try again.'];
}

/** `onward`: the page of the caller, by a link that says where it leads. */
function messagePage(status: number, title: string, text: string, onward?: URL): RawAnswer {
  const link = onward && html`\n<p><a href="${onward.href}" rel="noreferrer">Continue to ${onward.host}</a></p>`;
  const content = html`<h1>${title}</h1>\n<p role="status">${text}</p>${link ?? ''}`;
  return framePage({ status, title, content, isNarrow: true });
}
