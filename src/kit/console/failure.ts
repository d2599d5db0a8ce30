// Failures in a page: the message, a link to the remedy, and the request id. A panel that fails leaves the rest of the page intact.
import { type Html, html } from '../../lib/html.ts';
import type { Problem } from '../../problems/problem.ts';
import type { Read, Visit } from './visit.ts';

/** What a call answered, or the failure in its place. */
export function contentOrFailure<Data>(visit: Visit, read: Read<Data>, content: (data: Data) => Html): Html {
  return read.problem === null ? content(read.data) : failure(visit, read.problem, read.requestId);
}

/** A part of the page under a heading. */
export function panel<Data>(visit: Visit, title: string, read: Read<Data>, content: (data: Data) => Html): Html {
  return html`<section class="panel"><h2>${title}</h2>${contentOrFailure(visit, read, content)}</section>`;
}

/** No alert: its request id is another one whenever a live page is fetched again, and would be announced each time. */
export function failure(visit: Visit, problem: Problem, requestId: string): Html {
  const { code, message, retryAfterMs, errors, entry } = problem;
  const where = remedyFor(visit, problem);
  // What is wrong with a field stands beside it.
  const advice = where === null && errors === undefined && problem.param === undefined ? ` ${entry.advice}` : '';
  const again =
    retryAfterMs === undefined ? '' : html` Try again in ${Math.max(1, Math.ceil(retryAfterMs / 1_000))} s.`;
  return html`<div class="failure"><p>${message}${advice}${again}${where === null ? '' : html` <a href="${where.href}">${where.text}</a>`}</p>
<p class="small"><code>${code}</code> <a href="${visit.elsewhere(`/docs/errors/${code}`)}">what it means</a> · request <code>${requestId}</code></p></div>`;
}

interface Remedy {
  readonly href: string;
  readonly text: string;
}

/** What did not cover the call: the balance, a budget, or the cap of a key. */
function roomFor(visit: Visit, detail: string | undefined): Remedy {
  if (detail === 'key_cap') return { href: visit.path('/keys'), text: 'Raise the cap of the key' };
  const isBudget = detail?.startsWith('budget') === true;
  const text = isBudget ? 'Raise the budget' : detail === 'frozen' ? 'Look at the wallet' : 'Top up the wallet';
  return { href: visit.path('/wallet'), text };
}

/** What mends it, and where; null: there is none. */
function remedyFor(visit: Visit, { code, detail, approval }: Problem): Remedy | null {
  if (approval !== undefined)
    return { href: visit.path(`/approvals/${approval.approval_id}`), text: 'See what waits, then send it again' };
  const back = encodeURIComponent(visit.here);
  const signIn = visit.elsewhere(`/auth?again=1&return_to=${back}`);
  const remedies: Readonly<Record<string, Remedy>> = {
    INSUFFICIENT_CREDIT: roomFor(visit, detail),
    PAYMENT_METHOD_REQUIRED: { href: visit.path('/wallet'), text: 'Add a card' },
    PAYMENT_DECLINED: { href: visit.path('/wallet'), text: 'Look at the cards and the charge limit' },
    INSUFFICIENT_SCOPE: { href: signIn, text: 'Sign in as somebody who may' },
    REAUTHENTICATION_REQUIRED: { href: signIn, text: 'Sign in again' },
    EMAIL_BINDING_REQUIRED: { href: visit.path('/account'), text: 'Add an email address' },
    KYC_REQUIRED: { href: visit.path('/account'), text: 'See how far the verification is' },
    TIER_REQUIRED: { href: visit.path('/account'), text: 'Look at the plan' },
    ACCOUNT_SUSPENDED: { href: visit.elsewhere('/auth/account'), text: 'Look at your account' },
  };
  return remedies[code] ?? null;
}
