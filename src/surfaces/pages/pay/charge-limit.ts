// The page of the monthly limit on charges without the payer. A person who owns the account changes it, after a sign-in of the last
// minutes; no key can.

import { tokenField } from '../../../kit/console/form.ts';
import type { RawAnswer, RawRequest } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { dollars, nanosOfUsd } from '../../../lib/money.ts';
import { limitCharges, rechargeRecord } from '../../../payments/recharge/configure.ts';
import { isRecent } from '../../../people/sessions/sessions.ts';
import { framePage } from '../frame.ts';
import { foreignFormPage, message } from '../message.ts';
import { readForm } from '../own-form.ts';
import {
  isFormOf,
  pathTo,
  redirect,
  signInAgain,
  signInFirst,
  signOutForm,
  type Visitor,
  visitorOf,
} from '../visitor.ts';

export const chargeLimitPath = '/wallet/charge-limit';
const USD_MAX = 100_000;
const CENT_NANOS = 10_000_000n;

/** GET shows it; POST changes it, and leads back. */
export async function chargeLimit(request: RawRequest, core: Services): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  if (visitor === null) return signInFirst(core, request);
  const { session } = visitor;
  if (session.kind !== 'person' || session.role !== 'owner') return notYours(core, visitor);
  if (request.method !== 'POST') return page(core, visitor);
  const form = readForm(request.headers, request.body);
  if (!isFormOf(core, request, form, visitor)) return foreignFormPage();
  if (!isRecent(session)) return signInAgain(core, request);
  const typed = form.get('limit_usd') ?? '';
  const nanos = amountOf(typed);
  if (nanos === null)
    return page(core, visitor, { typed, text: `Enter an amount from 0 to ${USD_MAX} USD, in whole cents.` });
  await core.db.transaction((tx) => limitCharges(tx, session.accountId, nanos));
  return redirect(pathTo(core, chargeLimitPath));
}

function amountOf(text: string): bigint | null {
  const usd = /^\d{1,6}(\.\d{1,2})?$/.test(text.trim()) ? Number(text) : Number.NaN;
  const nanos = usd <= USD_MAX ? nanosOfUsd(usd) : null;
  return nanos !== null && nanos % CENT_NANOS === 0n ? nanos : null;
}

interface Fault {
  readonly typed: string;
  readonly text: string;
}

async function page(core: Services, visitor: Visitor, fault: Fault | null = null): Promise<RawAnswer> {
  const { charge_limit_usd, charged_this_month_usd } = await rechargeRecord(core.db, visitor.session.accountId);
  const tied = fault === null ? html`` : html` aria-invalid="true" aria-describedby="limit_usd-fault"`;
  const content = html`<h1>Charge limit</h1>
<p>Auto-recharge and renewals charge at most this much in a calendar month (UTC). Charged this month: ${dollars(charged_this_month_usd)}.</p>
${fault === null ? '' : html`<p class="failure" role="alert" id="limit_usd-fault">${fault.text}</p>`}
<form method="post">${tokenField(visitor)}
<label for="limit_usd">Limit per month, USD</label>
<input id="limit_usd" name="limit_usd" inputmode="decimal" required value="${fault?.typed ?? charge_limit_usd}"${tied}>
<button class="main">Save</button>
</form>`;
  const signOut = signOutForm(core, visitor);
  return framePage({
    status: fault === null ? 200 : 400,
    title: 'Charge limit',
    content,
    signOut,
    isNarrow: true,
  });
}

function notYours(core: Services, visitor: Visitor): RawAnswer {
  const signIn = `${pathTo(core, '/auth')}?again=1&return_to=${encodeURIComponent(pathTo(core, chargeLimitPath))}`;
  const text = html`<p>Only an owner of the account can change the charge limit. <a href="${signIn}">Sign in as an owner</a></p>
<p><a href="${pathTo(core, '/console/wallet')}">Back to the wallet</a></p>`;
  return message(403, 'You cannot change this', text, { signOut: signOutForm(core, visitor) });
}
