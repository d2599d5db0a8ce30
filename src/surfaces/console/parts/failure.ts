// Failures in a page: what went wrong, where it is mended, and the id to ask about it. A panel that fails takes nothing else with it.
import { type Html, html } from '../../../lib/html.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { Read, Visit } from '../visit.ts';

/** What a call answered, or the failure in its place. */
export function shown<Data>(visit: Visit, read: Read<Data>, content: (data: Data) => Html): Html {
  return read.problem === null ? content(read.data) : failure(visit, read.problem, read.requestId);
}

/** A part of the page under a heading. */
export function panel<Data>(visit: Visit, title: string, read: Read<Data>, content: (data: Data) => Html): Html {
  return html`<section class="panel"><h2>${title}</h2>${shown(visit, read, content)}</section>`;
}

export function failure(visit: Visit, problem: Problem, requestId: string): Html {
  const { code, message, retryAfterMs } = problem;
  const where = mendedAt(visit, problem);
  const again =
    retryAfterMs === undefined ? '' : html` Try again in ${Math.max(1, Math.ceil(retryAfterMs / 1_000))} s.`;
  return html`<div class="failure" role="alert"><p>${message}${again}${where === null ? '' : html` <a href="${where.href}">${where.text}</a>`}</p>
<p class="small"><code>${code}</code> <a href="${visit.elsewhere(`/docs/errors/${code}`)}">what it means</a> · request <code>${requestId}</code></p></div>`;
}

/** The place that mends what was refused; null: there is none. */
function mendedAt(visit: Visit, { code }: Problem): { readonly href: string; readonly text: string } | null {
  const back = encodeURIComponent(visit.elsewhere(visit.url));
  const places: Readonly<Record<string, { readonly href: string; readonly text: string }>> = {
    INSUFFICIENT_CREDIT: { href: visit.path('/wallet'), text: 'Top up the wallet' },
    BUDGET_EXCEEDED: { href: visit.path('/wallet'), text: 'Look at the budget' },
    KEY_SPEND_CAP_EXCEEDED: { href: visit.path('/keys'), text: 'Look at the keys' },
    INSUFFICIENT_SCOPE: { href: visit.elsewhere('/auth?again=1'), text: 'Sign in as somebody who may' },
    REAUTHENTICATION_REQUIRED: { href: visit.elsewhere(`/auth?again=1&return_to=${back}`), text: 'Sign in again' },
    EMAIL_BINDING_REQUIRED: { href: visit.path('/account'), text: 'Bind an address' },
  };
  return places[code] ?? null;
}
