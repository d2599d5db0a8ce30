// The pages around the page: the form for the key, and what is said when there is nothing to show.
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../../manifest/page.ts';
import type { RawAnswer } from '../../manifest/raw-route.ts';
import type { Problem } from '../../problems/problem.ts';
import { framed } from './frame.ts';

export interface SignIn {
  /** Why the form is there again; null at first. */
  readonly failure: Problem | null;
  /** Address of the page with the other ways to sign in. */
  readonly otherWay: string;
  readonly headers?: RawAnswer['headers'];
}

/** The form for the key. */
export function signInPage(page: Page, { failure, otherWay, headers = {} }: SignIn): RawAnswer {
  const content = html`<h1>Open this ${page.subject}</h1>
<p>Enter an API key that may call ${page.capability}. It is sent to this service only, and this browser stays signed in for 12 hours at most.</p>
${failure === null ? '' : html`<p class="failure" role="alert" id="failure">${sentence(page, failure)}</p>`}
<form method="post">
<label for="key">API key</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" autocapitalize="off"${failure === null ? '' : html` aria-invalid="true" aria-describedby="failure"`}>
<button class="main">Open</button>
</form>
<p class="quiet">Or <a href="${otherWay}">sign in without a key</a>.</p>`;
  return framed({
    status: failure?.httpStatus ?? 200,
    title: 'Sign in',
    content,
    isNarrow: true,
    headers: { ...retryAfter(failure), ...headers },
  });
}

/** One answer for what is another account's and what never was. */
export function notFoundPage({ subject }: Page, signOut: Html, headers: RawAnswer['headers']): RawAnswer {
  return message(
    404,
    `No such ${subject}`,
    html`<p>The account that you are signed in to has no ${subject} with this id. For another account, sign out first.</p>`,
    { signOut, headers },
  );
}

/** For a form that another site sent in the visitor's name. */
export function foreignFormPage(): RawAnswer {
  const text = html`<p>The form was not sent by a page of this service. Open the page and send it from there.</p>`;
  return message(403, 'This form is not taken', text);
}

/** A failure that no other key would mend, or that the surface found. */
export function failurePage(page: Page, failure: Problem): RawAnswer {
  return message(
    failure.httpStatus,
    'This page cannot be shown',
    html`<p class="failure" role="alert">${sentence(page, failure)}</p>`,
    { headers: retryAfter(failure) },
  );
}

/** A sentence in place of a page. */
export function message(
  status: number,
  title: string,
  text: Html,
  more: { readonly signOut?: Html; readonly headers?: RawAnswer['headers'] } = {},
): RawAnswer {
  return framed({ status, title, content: html`<h1>${title}</h1>\n${text}`, isNarrow: true, ...more });
}

function sentence({ subject, capability }: Page, { code, message: text, detail }: Problem): string {
  if (code === 'INVALID_API_KEY') return 'This key is not valid: it is unknown, revoked or expired.';
  if (code === 'UNAUTHORIZED') return 'Enter a key.';
  if (code === 'INSUFFICIENT_SCOPE')
    return `This key may not open this ${subject}: it needs the scope ${detail ?? capability} or ${capability}.`;
  return text;
}

/** Retry-After, where the failure says one. */
export function retryAfter(failure: Problem | null): RawAnswer['headers'] {
  if (failure?.retryAfterMs === undefined) return {};
  return { 'retry-after': String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))) };
}
