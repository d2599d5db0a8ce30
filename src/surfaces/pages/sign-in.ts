// The pages around the page: the form for the key, and what is said when there is nothing to show.
import { type Html, html } from '../../lib/html.ts';
import type { Page } from '../../manifest/page.ts';
import type { RawAnswer } from '../../manifest/raw-route.ts';
import type { Problem } from '../../problems/problem.ts';
import { framed } from './frame.ts';

export interface SignIn {
  /** Why the form is there again; null at first. */
  readonly failure: Problem | null;
  /** Whether the visitor may have come by a link of another site: browsers then keep a session to themselves, until the next step. */
  readonly fromElsewhere?: boolean;
  readonly headers?: RawAnswer['headers'];
}

/** The form for the key. */
export function signInPage(page: Page, { failure, fromElsewhere = false, headers = {} }: SignIn): RawAnswer {
  const content = html`<h1>Open this ${page.subject}</h1>
<p>Enter an API key that may call ${page.capability}. It is sent to this service only, and this browser stays signed in for 12 hours at most.</p>
${failure === null ? '' : html`<p class="failure" role="alert" id="failure">${sentence(page, failure)}</p>`}
<form method="post">
<label for="key">API key</label>
<input id="key" name="key" type="password" required autofocus autocomplete="current-password" spellcheck="false" autocapitalize="off"${failure === null ? '' : html` aria-invalid="true" aria-describedby="failure"`}>
<button class="main">Open</button>
</form>
${fromElsewhere ? html`<p class="quiet">Signed in already? <a href="">Open this page again</a>: browsers do not show a session to pages that are opened from another site.</p>` : ''}`;
  return framed({
    status: failure?.httpStatus ?? 200,
    title: 'Sign in',
    content,
    isSignedIn: false,
    isNarrow: true,
    headers: { ...retryAfter(failure), ...headers },
  });
}

/** One answer for what is another account's and what never was. */
export function notFoundPage({ subject }: Page): RawAnswer {
  return message(
    404,
    `No such ${subject}`,
    html`<p>The account of this key has no ${subject} with this id. With the key of another account, sign out first.</p>`,
    true,
  );
}

/** For a form that another site sent in the visitor's name. */
export function foreignFormPage(isSignedIn: boolean): RawAnswer {
  const text = html`<p>The form was not sent by a page of this service. Open the page and send it from there.</p>`;
  return message(403, 'This form is not taken', text, isSignedIn);
}

/** A failure that no other key would mend, or that the surface found. */
export function failurePage(page: Page, failure: Problem, isSignedIn: boolean): RawAnswer {
  return message(
    failure.httpStatus,
    'This page cannot be shown',
    html`<p class="failure" role="alert">${sentence(page, failure)}</p>`,
    isSignedIn,
    retryAfter(failure),
  );
}

function message(
  status: number,
  title: string,
  text: Html,
  isSignedIn: boolean,
  headers?: RawAnswer['headers'],
): RawAnswer {
  return framed({ status, title, content: html`<h1>${title}</h1>\n${text}`, isSignedIn, isNarrow: true, headers });
}

function sentence({ subject, capability }: Page, { code, message: text, detail }: Problem): string {
  if (code === 'INVALID_API_KEY') return 'This key is not valid: it is unknown, revoked or expired.';
  if (code === 'UNAUTHORIZED') return 'Enter a key.';
  if (code === 'INSUFFICIENT_SCOPE')
    return `This key may not open this ${subject}: it needs the scope ${detail ?? capability} or ${capability}.`;
  return text;
}

function retryAfter(failure: Problem | null): RawAnswer['headers'] {
  if (failure?.retryAfterMs === undefined) return {};
  return { 'retry-after': String(Math.max(1, Math.ceil(failure.retryAfterMs / 1_000))) };
}
