// Checkout outside the service: the page that links to the payment provider, and the URL to which the provider returns the payer.

import type { View } from '../../../kit/console/page.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { isLoopback } from '../../../lib/loopback.ts';

/** A page of the console as an address that a provider may send a payer to; undefined where it may not (plain http). */
export function returnUrl({ baseUrl }: Visit, below: string): string | undefined {
  const url = new URL(`${baseUrl}/console${below}`);
  return url.protocol === 'https:' || isLoopback(url.hostname) ? url.href : undefined;
}

/** A form may not lead to another site here: a link does. */
export function checkoutPage(
  visit: Visit,
  {
    title,
    sentence,
    url,
    back,
  }: Readonly<Record<'title' | 'sentence' | 'back', string>> & { readonly url: string | null },
): View {
  const content = html`<h1>${title}</h1>
<p>${sentence}</p>
${url === null ? html`<p class="failure">There is no payment page. Ask the operator of this service.</p>` : html`<p><a class="main" href="${url}" rel="noreferrer">Continue to the payment page</a></p>`}
<p><a href="${visit.path(back)}">Back</a></p>`;
  return { title, content };
}

/** In place of what an account without a verified address would only be refused. */
export function addressFirst(visit: Visit): Html {
  const vouches = visit.may({ id: 'operator.accounts.update' })
    ? html`, or vouch for one with <code>qm accounts update --account ${visit.principal.accountId} --email ADDRESS</code>`
    : '';
  return html`<p class="notice">To pay, the account needs a verified email address. <a href="${visit.path('/account')}">Add an email address</a>${vouches}.</p>`;
}
